package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// The lease: short, so that failing over ten times takes a minute.
const (
	leaseDuration = 4 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// replica is one of the replicas of fairway-scheduler, and the kubelet that starts it again whenever it ends.
type replica struct {
	name, kubeconfig, dir string
	front                 *front // nil: it talks to the apiserver directly

	mu       sync.Mutex
	runs     []*run
	stopping bool
	done     chan struct{} // closed when nobody starts it again
	broken   error         // why it ended, where that should not be
}

// run is one process of a replica.
type run struct {
	*localcluster.Child
	number  int
	port    int
	began   time.Time
	killed  bool // by us
	stopped bool // asked to end
}

// startReplica runs a replica until the test ends.
func startReplica(t *testing.T, name, kubeconfig, dir string, f *front) *replica {
	t.Helper()
	r := &replica{name: name, kubeconfig: kubeconfig, dir: dir, front: f, done: make(chan struct{})}
	first, err := r.start()
	if err != nil {
		t.Fatal(err)
	}
	go r.keep(first)
	t.Cleanup(func() { r.end(syscall.SIGKILL) })
	return r
}

// keep starts the replica again whenever it ends.
func (r *replica) keep(p *run) {
	defer close(r.done)
	for {
		<-p.Exited()
		r.mu.Lock()
		stopping := r.stopping
		if why := p.unexpected(); why != "" && r.broken == nil {
			r.broken = fmt.Errorf("replica %s, process %d: %s\n%s", r.name, p.number, why, p.Tail())
		}
		r.mu.Unlock()
		if stopping {
			return
		}
		next, err := r.start()
		if err != nil {
			r.mu.Lock()
			r.broken = err
			r.mu.Unlock()
			return
		}
		p = next
	}
}

func (r *replica) start() (*run, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &run{number: len(r.runs), port: port, began: time.Now()}
	if r.front != nil {
		r.front.begin(p.number)
	}
	p.Child, err = localcluster.StartChild(localcluster.ChildSpec{
		Name: schedulerName, Program: program, Dir: r.dir,
		LogPath: filepath.Join(r.dir, fmt.Sprintf("%s-%d.log", r.name, p.number)),
		Args: []string{
			"--kubeconfig=" + r.kubeconfig, "--authentication-kubeconfig=" + r.kubeconfig, "--authorization-kubeconfig=" + r.kubeconfig,
			"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(port),
			"--leader-elect=true", "--leader-elect-resource-namespace=" + systemNamespace, "--leader-elect-resource-name=" + leaseName,
			"--leader-elect-lease-duration=" + leaseDuration.String(), "--leader-elect-renew-deadline=" + renewDeadline.String(),
			"--leader-elect-retry-period=" + retryPeriod.String(),
		},
	})
	if err != nil {
		return nil, err
	}
	r.runs = append(r.runs, p)
	if r.stopping { // somebody ended the replica meanwhile
		p.killed = true
		p.Signal(syscall.SIGKILL)
	}
	return p, nil
}

// now is the process that runs, or the last one that did.
func (r *replica) now() *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[len(r.runs)-1]
}

// kill ends the process as kill -9 does, and returns when it is gone.
func (r *replica) kill() {
	r.mu.Lock()
	p := r.runs[len(r.runs)-1]
	p.killed = true
	r.mu.Unlock()
	p.Signal(syscall.SIGKILL)
	<-p.Exited()
}

// end ends the replica for good.
func (r *replica) end(s syscall.Signal) *run {
	r.mu.Lock()
	r.stopping = true
	p := r.runs[len(r.runs)-1]
	p.killed = p.killed || s == syscall.SIGKILL
	p.stopped = true
	r.mu.Unlock()
	p.Signal(s)
	<-r.done
	return r.now()
}

func (r *replica) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// processes returns every process there was.
func (r *replica) processes() []*run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*run(nil), r.runs...)
}

const lostTheLease = "Leaderelection lost"

// said reports whether the process has written this.
func (p *run) said(text string) bool {
	data, err := p.Log()
	return err == nil && bytes.Contains(data, []byte(text))
}

// unexpected says why a process that is gone should not be. A leader that cannot renew its lease ends itself; that is all it may do.
func (p *run) unexpected() string {
	state := p.State()
	switch {
	case p.killed, p.stopped && state.ExitCode() == 0:
		return ""
	case state.ExitCode() == 1 && p.said(lostTheLease):
		return ""
	case strings.Contains(p.Tail(), "address already in use"):
		return "" // the next one looks for another port
	}
	return "it ended by itself: " + state.String()
}

var healthClient = &http.Client{
	Timeout: 2 * time.Second,
	// Schedulers make their certificates up when they start, so there is nothing to verify them with.
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
}

// ready reports whether the process has seen everything there is.
func (p *run) ready() bool {
	response, err := healthClient.Get(fmt.Sprintf("https://%s/readyz", net.JoinHostPort(loopback, strconv.Itoa(p.port))))
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

const loopback = "127.0.0.1"

// freePort finds a port that nobody listens on, below those that the kernel hands to outgoing connections: thousands of those come and
// go before the child listens.
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
