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

// ChildSpec says how to run a program as a Child.
type ChildSpec struct {
	Name    string // for messages
	Program string // path
	Args    []string
	Dir     string // working directory and home
	LogPath string // gets the output of the program; created if missing, else appended to
	// Env is its whole environment except PATH, HOME and TZ: no proxy, no KUBECONFIG and no GOGC of ours
	// changes what runs.
	Env []string
}

// Child is a process that ends when this process ends, however it ends.
type Child struct {
	ChildSpec
	Started time.Time

	cmd     *exec.Cmd
	logFrom int64         // where the output of this run begins in the log, which earlier runs may share
	exited  chan struct{} // closed when it is gone and reaped
	ended   time.Time     // valid once exited is closed
}

// StartChild starts a program and does not wait for it to be ready.
func StartChild(spec ChildSpec) (*Child, error) {
	log, err := os.OpenFile(spec.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own descriptor
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
		// The kernel kills the child when its parent dies, and treats the thread that started it as the
		// parent. The Go runtime may end a thread at any time. This one waits for the child, so it ends after
		// it, or with us.
		runtime.LockOSThread()
		c.Started = time.Now()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // its state tells the result
			c.ended = time.Now()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	return c, nil
}

// PID is the id of the process, also after its end.
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

// State is how the process ended. It is valid once Gone is true, as is Ended.
func (c *Child) State() *os.ProcessState { return c.cmd.ProcessState }

// Ended is when the process was reaped.
func (c *Child) Ended() time.Time { return c.ended }

// Signal sends a signal. It ignores the error, which would only say that the process is gone.
func (c *Child) Signal(s os.Signal) { _ = c.cmd.Process.Signal(s) }

// Kill ends the process at once and waits until it is gone.
func (c *Child) Kill() {
	c.Signal(os.Kill)
	<-c.exited
}

// Stop asks the process to end, and kills it if it does not end within the grace period.
func (c *Child) Stop(grace time.Duration) {
	c.Signal(terminateSignal)
	select {
	case <-c.exited:
	case <-time.After(grace):
		c.Kill()
	}
}

// Log returns the output of this run so far.
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

// Tail returns the end of the output of this run, indented.
func (c *Child) Tail() string {
	data, err := c.Log()
	if err != nil {
		return "    (no log: " + err.Error() + ")"
	}
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n    ")
}

// Explain adds to an error whether the process runs and its last output. It copies the whole log to a file
// that outlives its directory.
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
