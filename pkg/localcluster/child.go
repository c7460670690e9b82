package localcluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// ChildSpec is how to run a program as a Child.
type ChildSpec struct {
	Name    string // for messages
	Program string // path
	Args    []string
	Dir     string // working directory and home
	LogPath string // takes what the program says; created if missing, else appended to
	// Env is all of its environment but PATH, HOME and TZ: no proxy, no KUBECONFIG and no GOGC of ours changes what runs.
	Env []string
}

// Child is a process that ends when we do, however we end.
type Child struct {
	ChildSpec
	Started time.Time

	cmd     *exec.Cmd
	logFrom int64         // where this run begins in its log, which earlier ones may share
	exited  chan struct{} // closed when it is gone and reaped
	ended   time.Time     // valid from then on
}

// StartChild starts a program and does not wait for it to do anything.
func StartChild(spec ChildSpec) (*Child, error) {
	log, err := os.OpenFile(spec.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	c := &Child{ChildSpec: spec, exited: make(chan struct{}), cmd: exec.Command(spec.Program, spec.Args...)}
	if info, err := log.Stat(); err == nil {
		c.logFrom = info.Size()
	}
	c.cmd.Dir = spec.Dir
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + spec.Dir, "TZ=UTC"}, spec.Env...)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The kernel kills the child when its parent dies, and takes for that the thread that started it, which the Go runtime may retire
		// any time. This one waits for the child, so it ends last, or with us.
		runtime.LockOSThread()
		c.Started = time.Now()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // its state tells all
			c.ended = time.Now()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	return c, nil
}

// PID is the process's, also after its end.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Exited is closed when the process is gone and reaped.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Gone reports whether the process is gone and reaped.
func (c *Child) Gone() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// State is how the process ended, and Ended when; both are for those who saw it Gone.
func (c *Child) State() *os.ProcessState { return c.cmd.ProcessState }

// Ended is when the process was reaped.
func (c *Child) Ended() time.Time { return c.ended }

// Signal sends a signal. An error would say that the process is gone.
func (c *Child) Signal(s os.Signal) { _ = c.cmd.Process.Signal(s) }

// Kill ends the process at once and waits until it is gone.
func (c *Child) Kill() {
	c.Signal(os.Kill)
	<-c.exited
}

// Stop asks the process to end, and kills it when it does not within the grace period.
func (c *Child) Stop(grace time.Duration) {
	c.Signal(terminateSignal)
	select {
	case <-c.exited:
	case <-time.After(grace):
		c.Kill()
	}
}

// Log is what this run has said so far.
func (c *Child) Log() ([]byte, error) {
	log, err := os.Open(c.LogPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if _, err := log.Seek(c.logFrom, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(log)
}

const tailLines = 25

// Tail is the end of what this run has said, indented.
func (c *Child) Tail() string {
	data, err := c.Log()
	if err != nil {
		return "    (no log: " + err.Error() + ")"
	}
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n    ")
}

// Explain adds to an error whether the process runs and what it said last, and keeps its whole log where it outlives its directory.
func (c *Child) Explain(err error) error {
	state := "it runs"
	if c.Gone() {
		state = c.State().String()
	}
	return fmt.Errorf("%w\n%s (%s) said last:\n%s\n%s", err, c.Name, state, c.Tail(), c.keepLog())
}

func (c *Child) keepLog() string {
	data, err := c.Log()
	if err != nil {
		return "its log is lost: " + err.Error()
	}
	to, err := os.CreateTemp("", c.Name+"-*.log")
	if err != nil {
		return "its log is lost: " + err.Error()
	}
	_, err = to.Write(data)
	if err = errors.Join(err, to.Close()); err != nil {
		return "its log is lost: " + err.Error()
	}
	return "its whole log: " + to.Name()
}
