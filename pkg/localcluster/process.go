package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// process is one run of one component.
type process struct {
	*Child
	wanted atomic.Bool // we end it, so its end is no error
}

// launch starts a component. Its output goes to a log file, its pid to a file beside it.
func (c *Cluster) launch(spec component) (*process, error) {
	child, err := StartChild(ChildSpec{
		Name: spec.name, Program: filepath.Join(c.tools, spec.name), Args: spec.args, Dir: c.dir, Env: spec.env,
		LogPath: filepath.Join(c.dir, "logs", spec.name+".log"),
	})
	if err != nil {
		return nil, err
	}
	p := &process{Child: child}
	pidFile := filepath.Join(c.dir, "pids", spec.name)
	err = os.WriteFile(pidFile, []byte(strconv.Itoa(p.PID())), 0o600)
	go func() {
		<-p.Exited()
		if !p.wanted.Load() {
			c.progress("%s ended by itself: %s\n%s", p.Name, p.State(), p.Tail())
		}
	}()
	if err != nil {
		p.kill()
		return nil, err
	}
	c.progress("%s: started, pid %d", spec.name, p.PID())
	return p, nil
}

// terminate asks the process to end and does not wait.
func (p *process) terminate() {
	p.wanted.Store(true)
	p.Signal(terminateSignal)
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	p.wanted.Store(true)
	p.Kill()
}

// endAll asks the processes to end, and kills those that still run after the grace period.
func endAll(grace time.Duration, processes ...*process) {
	for _, p := range processes {
		p.terminate()
	}
	late := time.After(grace)
	for _, p := range processes {
		select {
		case <-p.Exited():
		case <-late:
			late = time.After(0) // for the others too
			p.kill()
		}
	}
}

// componentError says which component failed and how, its last output, and where to read the rest.
type componentError struct {
	name, tail, logPath string
	err                 error
}

func (e *componentError) Error() string {
	return fmt.Sprintf("%s: %v; its log %s ends:\n%s", e.name, e.err, e.logPath, e.tail)
}

func (e *componentError) Unwrap() error { return e.err }

func (p *process) failed(err error) error {
	return &componentError{name: p.Name, tail: p.Tail(), logPath: p.LogPath, err: err}
}

var errExited = errors.New("it exited")

// portTaken reports whether a component ended because another process took its port first.
func portTaken(err error) bool {
	var failed *componentError
	return errors.As(err, &failed) && errors.Is(err, errExited) && strings.Contains(failed.tail, "address already in use")
}

const probeEvery = 20 * time.Millisecond

// await repeats a probe of the process until it succeeds. It gives up when the process ends, the context ends
// or the time is up.
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
		case <-p.Exited():
			return p.failed(fmt.Errorf("%w (%s)", errExited, p.State()))
		case <-ctx.Done():
			return p.failed(fmt.Errorf("%w; the last check said: %w", context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}
