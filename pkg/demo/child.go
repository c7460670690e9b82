package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// stopGrace is how long the scheduler may take to end before it is killed.
const stopGrace = 5 * time.Second

// child is a process that ends when we do, however we end.
type child struct {
	name, logPath string
	cmd           *exec.Cmd
	exited        chan struct{} // closed when it is gone and reaped
}

// startChild starts a program in a directory, with its output in a log file.
func startChild(program string, args []string, dir, logPath string) (*child, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	c := &child{name: filepath.Base(program), logPath: logPath, cmd: exec.Command(program, args...), exited: make(chan struct{})}
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
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	return c, nil
}

// stop asks the child to end, and kills it when it does not.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(terminateSignal) // an error says that it is gone
	select {
	case <-c.exited:
	case <-time.After(stopGrace):
		_ = c.cmd.Process.Kill()
		<-c.exited
	}
}

const tailLines = 25

// tail is the end of the child's log, indented.
func (c *child) tail() string {
	data, err := os.ReadFile(c.logPath)
	if err != nil {
		return "    (no log: " + err.Error() + ")"
	}
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n    ")
}

// explain adds to an error what the child logged last, and keeps its whole log where it outlives the cluster's directory.
func (c *child) explain(err error) error {
	return errors.Join(err, fmt.Errorf("%s logged last:\n%s\n%s", c.name, c.tail(), c.keepLog()))
}

func (c *child) keepLog() string {
	from, err := os.Open(c.logPath)
	if err != nil {
		return "its log is lost: " + err.Error()
	}
	defer from.Close()
	to, err := os.CreateTemp("", c.name+"-*.log")
	if err != nil {
		return "its log is lost: " + err.Error()
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return "its log is lost: " + err.Error()
	}
	return "its whole log: " + to.Name()
}
