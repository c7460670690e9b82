package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// child is one run of the program.
type child struct {
	cmd     *exec.Cmd
	logPath string
	exited  chan struct{} // closed when it is gone and reaped
	ended   time.Time     // valid from then on
}

func startChild(dir, logPath string, args ...string) (*child, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	c := &child{cmd: exec.Command(program, args...), logPath: logPath, exited: make(chan struct{})}
	c.cmd.Dir = dir
	// A clean environment, so that no proxy and no KUBECONFIG of the caller changes what runs.
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC"}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The kernel kills the child when the thread that started it ends. This one waits for the child, so it ends last, or with us.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // its state tells all
			c.ended = time.Now()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", schedulerName, err)
	}
	return c, nil
}

// signal sends a signal; an error would say that the child is gone.
func (c *child) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) }

func (c *child) gone() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

func (c *child) log() string {
	data, err := os.ReadFile(c.logPath)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	return string(data)
}

const tailLines = 25

// tail is the end of what it logged, indented.
func (c *child) tail() string {
	lines := strings.Split(string(bytes.TrimSpace([]byte(c.log()))), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n    ")
}
