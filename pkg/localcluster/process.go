package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// launcher starts every child of one cluster from one operating system thread, which lives as long as the launcher.
//
// The kernel kills our children when their parent dies, but its notion of the parent is the thread that forked, not the process.
// Were children started from whatever thread runs the caller, they would be killed whenever the Go runtime retires that thread.
type launcher struct{ jobs chan func() }

func newLauncher() *launcher {
	l := &launcher{jobs: make(chan func())}
	go func() {
		// Never unlocked: the thread ends with this goroutine, so even a child that Stop had forgotten would end with it.
		runtime.LockOSThread()
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

func (l *launcher) start(cmd *exec.Cmd) error {
	started := make(chan error)
	l.jobs <- func() { started <- cmd.Start() }
	return <-started
}

func (l *launcher) close() { close(l.jobs) }

// process is one run of one component.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	logFrom int64         // where this run begins in its log, which earlier runs share
	exited  chan struct{} // closed when the process is gone and reaped
	wanted  atomic.Bool   // we end it, so its end is no news
}

// launch starts a component. Its output goes to a log file, its pid to a file beside it.
func (c *Cluster) launch(spec component) (*process, error) {
	p := &process{name: spec.name, exited: make(chan struct{}), logPath: filepath.Join(c.dir, "logs", spec.name+".log")}
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	if info, err := log.Stat(); err == nil {
		p.logFrom = info.Size()
	}
	p.cmd = exec.Command(filepath.Join(c.tools, spec.name), spec.args...)
	p.cmd.Dir = c.dir
	// A clean environment, so that no proxy, no KUBECONFIG and no ETCD_ or KWOK_ variable of the caller changes what runs.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TZ=UTC"}, spec.env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = childAttributes()
	if err := c.launcher.start(p.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
	}
	pidFile := filepath.Join(c.dir, "pids", spec.name)
	err = os.WriteFile(pidFile, []byte(strconv.Itoa(p.cmd.Process.Pid)), 0o600)
	go func() {
		_ = p.cmd.Wait() // its state tells all
		_ = os.Remove(pidFile)
		close(p.exited)
		if !p.wanted.Load() {
			c.progress("%s ended by itself: %s\n%s", p.name, p.cmd.ProcessState, p.tail())
		}
	}()
	if err != nil {
		p.kill()
		return nil, err
	}
	c.progress("%s: started, pid %d", spec.name, p.cmd.Process.Pid)
	return p, nil
}

// terminate asks the process to end and does not wait.
func (p *process) terminate() {
	p.wanted.Store(true)
	_ = p.cmd.Process.Signal(terminateSignal) // an error says that it is gone
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	p.wanted.Store(true)
	_ = p.cmd.Process.Kill() // an error says that it is gone
	<-p.exited
}

// endAll asks the processes to end, and kills those that are still there after the grace period.
func endAll(grace time.Duration, processes ...*process) {
	for _, p := range processes {
		p.terminate()
	}
	late := time.After(grace)
	for _, p := range processes {
		select {
		case <-p.exited:
		case <-late:
			late = time.After(0) // for the rest too
			p.kill()
		}
	}
}

const tailLines = 15

// tail is the end of what this run has logged, indented.
func (p *process) tail() string {
	log, err := os.Open(p.logPath)
	if err != nil {
		return "    (no log: " + err.Error() + ")"
	}
	defer log.Close()
	from := p.logFrom
	if info, err := log.Stat(); err == nil {
		from = max(from, info.Size()-16<<10)
	}
	data := make([]byte, 16<<10)
	n, _ := log.ReadAt(data, from) // a short read is what we expect
	lines := strings.Split(string(bytes.TrimSpace(data[:n])), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "    " + strings.Join(lines, "\n    ")
}

// componentError says which component failed, how, what it last said, and where to read the rest.
type componentError struct {
	name, tail, logPath string
	err                 error
}

func (e *componentError) Error() string {
	return fmt.Sprintf("%s: %v; its log %s ends:\n%s", e.name, e.err, e.logPath, e.tail)
}

func (e *componentError) Unwrap() error { return e.err }

func (p *process) failed(err error) error {
	return &componentError{name: p.name, tail: p.tail(), logPath: p.logPath, err: err}
}

var errExited = errors.New("it exited")

// portTaken tells whether a component ended because somebody else was quicker to listen on its port.
func portTaken(err error) bool {
	var failed *componentError
	return errors.As(err, &failed) && errors.Is(err, errExited) && strings.Contains(failed.tail, "address already in use")
}

const probeEvery = 20 * time.Millisecond

// await repeats a probe of the process until it succeeds. It gives up when the process ends, the context ends or time is up.
func (p *process) await(ctx context.Context, limit time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready after %s", limit))
	defer cancel()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return p.failed(fmt.Errorf("%w (%s)", errExited, p.cmd.ProcessState))
		case <-ctx.Done():
			return p.failed(fmt.Errorf("%w; the last check said: %w", context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}
