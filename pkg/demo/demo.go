package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// Options say how to run the demo.
type Options struct {
	// Root is the source tree, which has the manifests and, in bin/tools, the control plane's programs. Empty means the one above the
	// working directory or above the executable; tools that are missing there are then built.
	Root string
	// Once ends the demo when the shares have arrived. Else it goes on until the context ends.
	Once bool
	// Deadline is how long after the burst the shares may take to arrive, and before it the cluster to fill. Whoever watches is only told.
	Deadline time.Duration
	// Out is a terminal, which gets a table that changes in place, or anything else, which gets lines.
	Out *os.File
}

// Run runs the demo and returns when everything it started has ended. A context that ends is an error only with Once.
func Run(ctx context.Context, options Options) (err error) {
	d := &demo{options: options, screen: &lockedScreen{screen: openScreen(options.Out, os.Getenv)}, began: time.Now()}
	defer func() {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			if err = nil; options.Once {
				err = errors.New("interrupted before the shares arrived")
			}
		}
	}()
	if d.root, err = sourceTree(options.Root); err != nil {
		return err
	}
	program, err := schedulerProgram(d.root)
	if err != nil {
		return err
	}
	stop, err := d.startCluster(ctx)
	if err != nil {
		return err
	}
	defer func() {
		d.say("stopping the control plane")
		if failed := stop(); failed != nil {
			d.say("stopping failed: %v", failed)
			err = errors.Join(err, failed)
			return
		}
		d.say("stopped; nothing is left running")
	}()
	if err := d.furnish(ctx); err != nil {
		return err
	}
	if err := d.startScheduler(program); err != nil {
		return err
	}
	defer d.scheduler.Stop(stopGrace)
	if err = d.play(ctx); err != nil && ctx.Err() == nil {
		err = d.scheduler.Explain(err)
	}
	return err
}

// stopGrace is how long the scheduler may take to end before it is killed.
const stopGrace = 5 * time.Second

// demo is one run.
type demo struct {
	options   Options
	root      string
	screen    screen
	began     time.Time
	cluster   *localcluster.Cluster
	config    *rest.Config
	pods      kubernetes.Interface
	objects   dynamic.Interface
	scheduler *localcluster.Child
}

// say writes a line that stays, with the seconds since the demo began.
func (d *demo) say(format string, args ...any) {
	d.screen.say(fmt.Sprintf("%6.1fs  "+format, append([]any{time.Since(d.began).Seconds()}, args...)...))
}

// sayer passes a log on to the screen. Its writer writes whole lines.
type sayer struct{ demo *demo }

func (s sayer) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		s.demo.screen.say("         " + strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}

// startCluster starts the control plane with its nodes, and returns what ends it.
func (d *demo) startCluster(ctx context.Context) (stop func() error, err error) {
	tools := ""
	if d.options.Root != "" {
		tools = filepath.Join(d.root, "bin", "tools")
	}
	d.say("starting a control plane")
	// The controllers are for those who play with the cluster: examples have Jobs.
	d.cluster, err = localcluster.Start(ctx, localcluster.Options{ToolsDir: tools, Log: sayer{d}, KWOK: true, ControllerManager: true})
	if err != nil {
		return nil, err
	}
	d.config = d.cluster.RESTConfig()
	d.config.WarningHandler = rest.NoWarnings{} // it would write into the table
	// So would the log of client-go, at the latest when the control plane ends.
	log, err := os.Create(filepath.Join(d.dir(), "logs", "fairway-demo.log"))
	if err != nil {
		return nil, errors.Join(err, d.cluster.Stop())
	}
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(log, nil)))
	return func() error { return errors.Join(d.cluster.Stop(), log.Close()) }, nil
}

// dir is the cluster's directory.
func (d *demo) dir() string { return filepath.Dir(d.cluster.Kubeconfig()) }

// furnish installs what the scheduler finds when it starts: CRDs, queues, nodes.
func (d *demo) furnish(ctx context.Context) (err error) {
	if d.pods, err = kubernetes.NewForConfig(d.config); err != nil {
		return err
	}
	if d.objects, err = dynamic.NewForConfig(d.config); err != nil {
		return err
	}
	d.say("installing the CRDs and the queues")
	if err := install(ctx, d.objects, d.root); err != nil {
		return err
	}
	d.say("adding %d nodes of %d cores and %d GiB", nodeCount, nodeCores, nodeGiB)
	return d.cluster.AddNodes(ctx, "node", nodeCount, corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(nodeCores, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(nodeGiB<<30, resource.BinarySI),
	})
}

func (d *demo) startScheduler(program string) (err error) {
	logs := filepath.Join(d.dir(), "logs")
	logPath := filepath.Join(logs, schedulerName+".log")
	d.say("starting %s; all logs are in", schedulerName)
	d.say("  %s", logs)
	d.scheduler, err = localcluster.StartChild(localcluster.ChildSpec{
		Name: schedulerName, Program: program, Dir: d.dir(), LogPath: logPath,
		Args: []string{
			"--kubeconfig=" + d.cluster.Kubeconfig(),
			"--leader-elect=false", // it is the only one
			"--secure-port=0",      // nobody asks for its metrics here
		},
	})
	return err
}

// play tells the story until it is done, the context ends, or something breaks.
func (d *demo) play(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	observer, err := observe(ctx, d.pods, d.objects)
	if err != nil {
		return err
	}
	p := player{
		demo: d, observer: observer, workload: newWorkload(d.pods),
		story: story{once: d.options.Once, limit: d.options.Deadline},
	}
	defer p.leave()
	d.say("submitting pods of %d cores and %d GiB: %d fill the cluster", podCores, podGiB, allPods)
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	for {
		if done, err := p.step(ctx); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.scheduler.Exited():
			return fmt.Errorf("%s ended by itself: %s", schedulerName, d.scheduler.State())
		case <-tick.C:
		}
	}
}

// player carries out what the story decides.
type player struct {
	demo     *demo
	observer *observer
	workload *workload
	story    story
	cleared  time.Time
	trouble  string // what was last said to go wrong
	view     view   // what was last shown
}

// leave keeps the last table on the screen, without the hints at what will be gone.
func (p *player) leave() {
	p.view.hints = nil
	if len(p.view.queues) > 0 {
		p.demo.screen.show(time.Now(), p.view)
	}
	p.demo.screen.freeze()
}

func (p *player) step(ctx context.Context) (done bool, err error) {
	now := time.Now()
	world, err := p.observer.world(now)
	if err := p.bear(err); err != nil {
		return false, err
	}
	decision := p.story.step(now, world)
	for _, line := range decision.say {
		p.demo.say("%s", line)
	}
	p.view = view{title: p.story.headline(), elapsed: now.Sub(p.demo.began), queues: world.queues, hints: p.hints()}
	p.demo.screen.show(now, p.view)
	if decision.done || decision.err != nil {
		return decision.done, decision.err
	}
	for _, submission := range decision.submit {
		names, err := p.workload.submit(ctx, submission)
		p.observer.created(now, submission.queue, names)
		if err := p.bear(err); err != nil {
			return false, err
		}
	}
	if now.Sub(p.cleared) >= clearEvery {
		p.cleared = now
		return false, p.bear(p.workload.clear(ctx))
	}
	return false, nil
}

// bear decides what an error means: the end of a run that has to prove something, a line (not the same twice in a row) where somebody
// plays with the cluster and may have caused it.
func (p *player) bear(err error) error {
	if err == nil || p.demo.options.Once {
		return err
	}
	if said := err.Error(); said != p.trouble {
		p.trouble = said
		p.demo.say("%s", said)
	}
	return nil
}

// hints tell somebody what to try, from the burst on: before it the story needs to be left alone.
func (p *player) hints() []string {
	if p.demo.options.Once || p.story.stage < contested {
		return nil
	}
	return hints(p.demo.cluster.Kubeconfig(), kubectlCommand(p.demo.root))
}

func hints(kubeconfig, kubectl string) []string {
	return []string{
		"In another terminal (Ctrl-C here ends everything):",
		"  export KUBECONFIG=" + kubeconfig,
		"  " + kubectl + " get queues",
		"  " + kubectl + " edit queue " + busy + "   # with weight: 3 the shares move",
	}
}

// kubectlCommand is how to call kubectl from where the demo was called.
func kubectlCommand(root string) string {
	path := filepath.Join(root, "bin", "tools", "kubectl")
	if here, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(here, path); err == nil && !strings.HasPrefix(relative, "..") {
			return relative
		}
	}
	return path
}
