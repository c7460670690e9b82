package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

const loopback = "127.0.0.1"

// childSpec is how to run one program.
type childSpec struct {
	name, program string
	args          []string
	dir           string // its working directory; logs/ in it takes what it says
	url           string // where it serves /readyz and /metrics
}

// child is a process that ends when we do, however we end.
type child struct {
	childSpec
	logPath string
	cmd     *exec.Cmd
	started time.Time
	exited  chan struct{} // closed when it is gone and reaped
}

func startChild(spec childSpec) (*child, error) {
	c := &child{childSpec: spec, logPath: filepath.Join(spec.dir, "logs", spec.name+".log"), exited: make(chan struct{})}
	log, err := os.Create(c.logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	c.cmd = exec.Command(spec.program, spec.args...)
	c.cmd.Dir = spec.dir
	// A clean environment, so that no proxy, no KUBECONFIG and no GOGC of the caller changes what is measured.
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + spec.dir, "TZ=UTC"}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The kernel kills the child when the thread that started it ends. This one waits for the child, so it ends last, or with us.
		runtime.LockOSThread()
		c.started = time.Now()
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

func (c *child) pid() int { return c.cmd.Process.Pid }

// kill ends the child at once. Nothing it still has to say matters, and events it has not written would disturb whoever runs next.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // an error says that it is gone
	<-c.exited
}

const tailLines = 25

// explain adds to an error what the child logged last, and keeps its whole log, since the directory it is in goes away.
func (c *child) explain(err error) error {
	state := "it runs"
	select {
	case <-c.exited:
		state = c.cmd.ProcessState.String()
	default:
	}
	data, readErr := os.ReadFile(c.logPath)
	if readErr != nil {
		return fmt.Errorf("%w (%s; its log is lost: %w)", err, state, readErr)
	}
	kept := "its whole log is lost"
	if file, err := os.CreateTemp("", c.name+"-*.log"); err == nil {
		kept = "its whole log: " + file.Name()
		_, _ = file.Write(data) // it is help, not a result
		_ = file.Close()
	}
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return fmt.Errorf("%w (%s)\n    %s\n%s", err, state, strings.Join(lines[max(0, len(lines)-tailLines):], "\n    "), kept)
}

// get asks the child for a path and returns the answer.
func (c *child) get(ctx context.Context, client *http.Client, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s: %s: %s", c.url, path, response.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// awaitReady waits until the child says that it has seen everything there is.
func (c *child) awaitReady(ctx context.Context, client *http.Client) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := c.get(ctx, client, "/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return c.explain(fmt.Errorf("%s is not ready after %s: %w", c.name, readyLimit, err))
		case <-c.exited:
			return c.explain(fmt.Errorf("%s ended before it was ready", c.name))
		case <-tick.C:
		}
	}
}

// childClient is a client for what the children serve. Schedulers make their certificates up when they start, so there is nothing to
// verify them with; they know us by our client certificate, and both ends are on loopback.
func childClient(admin *rest.Config) (*http.Client, error) {
	config := rest.CopyConfig(admin)
	config.Insecure, config.CAData, config.CAFile = true, nil, ""
	return rest.HTTPClientFor(config)
}

// freePort finds a port that nobody listens on, below those that the kernel hands to outgoing connections: hundreds of those come and go
// before the child listens.
func freePort() (int, error) {
	const lowest, highest = 12000, 20000
	for range 100 {
		port := lowest + rand.IntN(highest-lowest)
		if l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port from %d to %d on %s", lowest, highest, loopback)
}
