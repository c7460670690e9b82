package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// readyLimit allows for a machine that is busy with other things; Start takes about three seconds.
	readyLimit = 90 * time.Second
	// stopGrace is how long a component may take to end. Everything that must survive is in etcd as soon as it
	// is acknowledged. With a temporary directory nothing survives, and there is no grace.
	stopGrace = 2 * time.Second
	// portAttempts is how often Start tries other ports after another process took one.
	portAttempts = 5
)

// Options say what to run, and where.
type Options struct {
	// Dir keeps the data, certificates and logs. Empty means a new temporary directory, which Stop removes. A
	// given one is kept: a later Start finds the same objects and the same certificate authorities, on other
	// ports.
	Dir string
	// ToolsDir holds the binaries. Empty means bin/tools of this source tree; missing or outdated tools are
	// then built first (minutes).
	ToolsDir string
	// Log gets a line for each step; nil is silent.
	Log io.Writer
	// KWOK runs simulated nodes and the pods bound to them. See AddNodes and RunSecondsAnnotation.
	KWOK bool
	// ControllerManager runs the controllers of Kubernetes: garbage collection, jobs, service accounts,
	// disruption budgets and so on. Without it the ServiceAccount admission plugin is also off, because
	// nothing would create the default account.
	ControllerManager bool
	// AccountPerController gives each controller its own service account in kube-system with the rights of that
	// controller only, as kubeadm does. Otherwise all of them act as system:kube-controller-manager, which may
	// do everything. It is slower to start: each of forty controllers first fetches its token.
	AccountPerController bool
	// Durable has etcd write to the disk before it answers, as in a real cluster. Then benchmarks measure the disk,
	// too. Nothing else needs it: what is written survives the end of any process.
	Durable bool
	// APIServerFlags are additional flags of kube-apiserver, for tests of features behind feature gates.
	APIServerFlags []string
}

// Cluster is a running control plane. Its methods may be called from many goroutines.
type Cluster struct {
	options   Options
	dir       string
	temporary bool
	lock      *os.File // held while the directory is in use
	tools     string
	pki       *pki
	began     time.Time
	logMutex  sync.Mutex

	// Set by Start, constant afterwards.
	ports ports
	admin *rest.Config

	life context.Context // ends when Stop begins, so that a running Restart gives up
	end  context.CancelFunc

	mutex     sync.Mutex // Kill, Restart and Stop exclude each other
	processes map[string]*process
	stopped   bool
}

// Start runs a control plane and returns when it serves. Once it has returned, only Stop ends the cluster; the
// context is only for the start. If Start fails or is cancelled, nothing is left, except the logs of a
// failure.
func Start(ctx context.Context, options Options) (_ *Cluster, err error) {
	c := &Cluster{options: options, began: time.Now(), processes: map[string]*process{}}
	c.life, c.end = context.WithCancel(context.Background())
	if c.tools, err = findTools(ctx, options, c.progress); err != nil {
		return nil, err
	}
	c.began = time.Now() // the clock in the log measures the start, not the build
	if err := c.openDir(); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		err = c.startAll(ctx)
		if err == nil {
			c.progress("ready: %s", c.serverURL())
			return c, nil
		}
		if !portTaken(err) || attempt == portAttempts {
			break
		}
		c.progress("a port was taken by somebody else, trying others: %v", err)
		c.endProcesses()
	}
	return nil, errors.Join(fmt.Errorf("start a local cluster: %w", err), c.stop(ctx.Err() == nil))
}

// Stop ends everything that Start began and removes a temporary directory. Calling it again does nothing.
func (c *Cluster) Stop() error { return c.stop(false) }

func (c *Cluster) stop(keepLogs bool) error {
	c.end()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	c.endProcesses()
	err := c.lock.Close()
	if c.temporary {
		err = errors.Join(err, removeDir(c.dir, keepLogs))
	}
	c.progress("stopped")
	return err
}

// removeDir deletes the directory; with keepLogs, everything but its logs.
func removeDir(dir string, keepLogs bool) error {
	if !keepLogs {
		return os.RemoveAll(dir)
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if entry.Name() != "logs" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// endProcesses ends clients before servers, so that no client logs a flood of refused connections.
func (c *Cluster) endProcesses() {
	take := func(names ...string) (taken []*process) {
		for _, name := range names {
			if p := c.processes[name]; p != nil {
				taken = append(taken, p)
				delete(c.processes, name)
			}
		}
		return taken
	}
	grace := stopGrace
	if c.temporary {
		grace = 0
	}
	endAll(grace, take(KWOK, ControllerManager, APIServer)...)
	endAll(grace, take(Etcd)...)
}

// openDir creates the directory and locks it: two clusters on the same data would destroy it.
func (c *Cluster) openDir() (err error) {
	c.dir = c.options.Dir
	if c.dir == "" {
		c.temporary = true
		c.dir, err = os.MkdirTemp("", "fairway-localcluster-")
	} else {
		c.dir, err = filepath.Abs(c.dir)
	}
	if err != nil {
		return err
	}
	for _, dir := range []string{c.dir, filepath.Join(c.dir, "logs"), filepath.Join(c.dir, "pids")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if c.lock, err = os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(c.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = c.lock.Close()
		return fmt.Errorf("directory %s is in use by another local cluster: %w", c.dir, err)
	}
	return nil
}

// startAll starts every component on fresh ports and waits until all serve.
func (c *Cluster) startAll(ctx context.Context) error {
	found, err := freePorts(5)
	if err != nil {
		return err
	}
	c.ports = ports{etcd: found[0], etcdPeer: found[1], apiServer: found[2], controllerManager: found[3], kwok: found[4]}
	if err := c.writeFiles(); err != nil {
		return err
	}
	// One after another is faster than all at once: a client that does not find its server tries again only
	// after whole seconds.
	for _, server := range []string{Etcd, APIServer} {
		if err := c.startTogether(ctx, server); err != nil {
			return err
		}
	}
	var clients []string
	if c.options.ControllerManager {
		clients = append(clients, ControllerManager)
	}
	if c.options.KWOK {
		clients = append(clients, KWOK)
	}
	return c.startTogether(ctx, clients...)
}

// startTogether starts components at the same time and waits until all of them serve.
func (c *Cluster) startTogether(ctx context.Context, names ...string) error {
	for _, name := range names {
		p, err := c.launch(c.component(name))
		if err != nil {
			return err
		}
		c.processes[name] = p
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make(chan error)
	for _, name := range names {
		go func() { results <- c.processes[name].await(ctx, readyLimit, c.component(name).ready) }()
	}
	var first error
	for range names {
		// If etcd ends, kube-apiserver fails later: the first failure is the cause, and the others need no
		// wait.
		if err := <-results; err != nil && first == nil {
			first = err
			cancel(errors.New("another component failed"))
		}
	}
	return first
}

// writeFiles creates all files that the components read.
func (c *Cluster) writeFiles() (err error) {
	if c.pki, err = loadOrCreatePKI(filepath.Join(c.dir, "pki")); err != nil {
		return err
	}
	var rights []string
	if !c.options.AccountPerController { // otherwise it may do what RBAC allows this name: little but to fetch tokens
		rights = []string{groupMasters}
	}
	return errors.Join(
		c.writeKubeconfig(c.kubeconfigOf(ControllerManager), "system:kube-controller-manager", rights...),
		c.writeKubeconfig(c.kubeconfigOf(KWOK), "localcluster-"+KWOK, groupMasters),
		c.writeAdmin(), c.writeStages())
}

// Kill ends a component as kill -9 does, and returns when it is gone. The component stays down until Restart.
func (c *Cluster) Kill(component string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.kill(component); err != nil {
		return err
	}
	c.progress("%s: killed", component)
	return nil
}

// Restart starts a component again, with the same ports and data, and returns when it serves. If it still
// runs, it is killed first.
func (c *Cluster) Restart(component string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.kill(component); err != nil {
		return err
	}
	return c.startAgain(component)
}

func (c *Cluster) kill(component string) error {
	p, err := c.running(component)
	if err != nil {
		return err
	}
	p.kill()
	return nil
}

func (c *Cluster) startAgain(component string) error {
	if err := c.startTogether(c.life, component); err != nil {
		return err
	}
	c.progress("%s: serves again", component)
	return nil
}

// running finds the process of a component, which may have ended.
func (c *Cluster) running(component string) (*process, error) {
	if c.stopped {
		return nil, errors.New("the local cluster is stopped")
	}
	p := c.processes[component]
	if p == nil {
		var names []string
		for name := range c.processes {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("no component %q in this local cluster, it has %s", component, strings.Join(names, ", "))
	}
	return p, nil
}

// progress writes a line to the log, with the seconds since the start began.
func (c *Cluster) progress(format string, args ...any) {
	c.logMutex.Lock()
	defer c.logMutex.Unlock()
	if c.options.Log == nil {
		return
	}
	// A log that cannot be written to is no reason to fail.
	_, _ = fmt.Fprintf(c.options.Log, "localcluster %5.1fs "+format+"\n", append([]any{time.Since(c.began).Seconds()}, args...)...)
}
