package demo

import (
	"bytes"
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
	// Root is the source tree, which has the manifests and, in bin/tools, the control plane's programs. Empty
	// means the one above the working directory or above the executable; missing tools are then built.
	Root string
	// DriverStorm shows what a storm of drivers does to a queue, with and without the gate of policy
	// StateAware.
	DriverStorm bool
	// Preemption shows how long the shares take with and without preemption.
	Preemption bool
	// Teams shows what the users of two teams may do, and where their pods go. Without any of the three, the
	// demo shows shares.
	Teams bool
	// Once ends the demo when it has shown everything. Otherwise it runs until the context ends.
	Once bool
	// Deadline is how long the cluster may take to fill, and then the shares to arrive; for the storm, how
	// long it may take in all; for teams, how long each scene may take. Without Once, a missed deadline is only reported.
	Deadline time.Duration
	// Out is a terminal, which gets a table that is redrawn in place, or anything else, which gets lines.
	Out *os.File
}

// Run runs the demo and returns when everything it started has ended. The end of the context is an error only
// with Once.
func Run(ctx context.Context, options Options) (err error) {
	d := &demo{options: options, screen: &lockedScreen{screen: openScreen(options.Out, os.Getenv)}, began: time.Now()}
	if d.show, err = options.show(); err != nil {
		return err
	}
	defer func() {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			if err = nil; options.Once {
				err = errors.New("interrupted before " + d.show.aim)
			}
		}
	}()
	if d.root, err = sourceTree(options.Root); err != nil {
		return err
	}
	scheduler, err := program(d.root, schedulerName)
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
	if err := d.prepare(ctx); err != nil {
		return err
	}
	if err := d.startScheduler(scheduler); err != nil {
		return err
	}
	defer d.scheduler.Stop(stopGrace)
	if err = d.play(ctx); err == nil && options.Once {
		log, failed := d.scheduler.Log()
		err = errors.Join(failed, refused(log))
	}
	if err != nil && ctx.Err() == nil {
		err = d.scheduler.Explain(err)
	}
	return err
}

// show is the demo that the options ask for.
func (o Options) show() (show, error) {
	chosen := []show{}
	for _, c := range []struct {
		asked bool
		show  show
	}{{o.DriverStorm, driverStorm}, {o.Preemption, preemption}, {o.Teams, teams}} {
		if c.asked {
			chosen = append(chosen, c.show)
		}
	}
	switch len(chosen) {
	case 0:
		return shares, nil
	case 1:
		return chosen[0], nil
	}
	return show{}, errors.New("one demo at a time: the storm of drivers, preemption, or teams")
}

// stopGrace is how long the scheduler may take to end before it is killed.
const stopGrace = 5 * time.Second

// show is one of the demos.
type show struct {
	objects           []byte // queues and what else there is from the beginning, as YAML
	nodes, cores, gib int64
	aim               string // what a run with Once waits for: "the shares arrived"
	// checkAccess has the scheduler check access.
	checkAccess bool
	// install, unless it is nil, installs more, before there are nodes and the scheduler.
	install func(context.Context, *demo) error
	// open starts the show, on a cluster where the scheduler runs. What it starts ends with the context.
	open func(context.Context, *demo) (player, error)
}

// player shows what happens.
type player interface {
	step(context.Context) (done bool, err error)
	// leave keeps the last table on the screen and stops what the player started, also after an error.
	leave()
}

// demo is one run.
type demo struct {
	options   Options
	show      show
	root      string
	screen    screen
	began     time.Time
	cluster   *localcluster.Cluster
	config    *rest.Config
	pods      kubernetes.Interface
	objects   dynamic.Interface
	scheduler *localcluster.Child
	trouble   string // the last error that was said
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

// startCluster starts the control plane with its nodes, and returns a function that stops it.
func (d *demo) startCluster(ctx context.Context) (stop func() error, err error) {
	tools := ""
	if d.options.Root != "" {
		tools = filepath.Join(d.root, "bin", "tools")
	}
	d.say("starting a control plane")
	// The controllers are for viewers: examples have Jobs.
	d.cluster, err = localcluster.Start(ctx, localcluster.Options{ToolsDir: tools, Log: sayer{d}, KWOK: true, ControllerManager: true})
	if err != nil {
		return nil, err
	}
	d.config = d.cluster.RESTConfig()
	d.config.WarningHandler = rest.NoWarnings{} // warnings would be written into the table
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

// prepare creates what the scheduler needs when it starts: CRDs, its rights, queues, nodes.
func (d *demo) prepare(ctx context.Context) (err error) {
	if d.pods, err = kubernetes.NewForConfig(d.config); err != nil {
		return err
	}
	if d.objects, err = dynamic.NewForConfig(d.config); err != nil {
		return err
	}
	d.say("installing the CRDs, the scheduler's rights and the queues")
	if err := install(ctx, d.objects, d.root, d.show.objects); err != nil {
		return err
	}
	if err := grant(ctx, d.objects, d.pods.AuthorizationV1().SubjectAccessReviews(), d.root); err != nil {
		return err
	}
	s := &d.show
	if s.install != nil {
		if err := s.install(ctx, d); err != nil {
			return err
		}
	}
	d.say("adding %d nodes of %d cores and %d GiB", s.nodes, s.cores, s.gib)
	return d.cluster.AddNodes(ctx, "node", int(s.nodes), corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(s.cores, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(s.gib<<30, resource.BinarySI),
	})
}

// startScheduler runs the scheduler as its account, which may do what manifests/rbac says.
func (d *demo) startScheduler(program string) error {
	kubeconfig, err := d.cluster.KubeconfigFor(schedulerAccount, "system:serviceaccounts", "system:serviceaccounts:"+schedulerNamespace)
	if err != nil {
		return err
	}
	args := []string{"--secure-port=0"} // nothing scrapes its metrics here
	if d.show.checkAccess {
		path, err := d.writeConfiguration(kubeconfig)
		if err != nil {
			return err
		}
		args = append(args, "--config="+path)
	} else {
		args = append(args, "--kubeconfig="+kubeconfig, "--leader-elect=false") // there is no other scheduler
	}
	logs := filepath.Join(d.dir(), "logs")
	d.say("starting %s; all logs are in", schedulerName)
	d.say("  %s", logs)
	d.scheduler, err = localcluster.StartChild(localcluster.ChildSpec{
		Name: schedulerName, Program: program, Dir: d.dir(), LogPath: filepath.Join(logs, schedulerName+".log"), Args: args,
	})
	return err
}

// refused is an error if the scheduler's log says that it was not allowed something.
func refused(log []byte) error {
	if bytes.Contains(log, []byte(" is forbidden: User ")) {
		return errors.New("the scheduler was refused what manifests/rbac should allow")
	}
	return nil
}

// play runs until the player is done, the context ends, or something breaks.
func (d *demo) play(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := d.show.open(ctx, d)
	if err != nil {
		return err
	}
	defer p.leave()
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

// handleError decides what an error means: with Once it ends the run. Otherwise it is a line (not the same one twice
// in a row), because a viewer may have caused it.
func (d *demo) handleError(err error) error {
	if err == nil || d.options.Once {
		return err
	}
	if said := err.Error(); said != d.trouble {
		d.trouble = said
		d.say("%s", said)
	}
	return nil
}

// keepLastView leaves the last table on the screen, without hints about things that are gone.
func (d *demo) keepLastView(last view) {
	last.hints = nil
	if last.body != nil {
		d.screen.show(time.Now(), last)
	}
	d.screen.freeze()
}

// inBrowser is the command that shows the demo in a browser.
const inBrowser = " console --open"

func hints(kubeconfig string, commands ...string) []string {
	lines := []string{
		"In another terminal (Ctrl-C here ends everything):",
		"  export KUBECONFIG=" + kubeconfig,
	}
	for _, command := range commands {
		lines = append(lines, "  "+command)
	}
	return lines
}

// tool returns how to call a program of the source tree from the directory in which the demo was called.
func tool(root string, path ...string) string {
	full := filepath.Join(append([]string{root}, path...)...)
	if here, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(here, full); err == nil && !strings.HasPrefix(relative, "..") {
			return relative
		}
	}
	return full
}
