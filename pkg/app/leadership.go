package app

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// leadership knows how long this process may act as the leader. client-go's elector goes on trying to renew a
// lease that another process may already hold, and the scheduler would go on meanwhile: for RenewDeadline, ten
// seconds by default, two processes would release pods, each up to the limits. A process that was stopped for
// longer than the lease does the same when it wakes up.
//
// So the lock is watched: nothing is written later than RenewDeadline after the last renewal began, and a
// former holder that sees another holder ends at once. What a process does that never led is in pkg/ledger/lead.go.
type leadership struct {
	resourcelock.Interface
	valid time.Duration
	lost  func() // ends the process

	mu      sync.Mutex
	renewed time.Time // when the last successful renewal began; zero if the lease was never held
}

func guard(c *leaderelection.LeaderElectionConfig) *leadership {
	l := &leadership{Interface: c.Lock, valid: c.RenewDeadline, lost: func() {
		klog.Background().Error(nil, "Leaderelection lost")
		klog.FlushAndExit(klog.ExitFlushTimeout, 1)
	}}
	c.Lock = l
	return l
}

func (l *leadership) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	r, raw, err := l.Interface.Get(ctx)
	if err == nil && r.HolderIdentity != l.Identity() && l.held() {
		l.lost()
	}
	return r, raw, err
}

func (l *leadership) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(r, time.Now(), l.Interface.Create(ctx, r))
}

func (l *leadership) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.note(r, time.Now(), l.Interface.Update(ctx, r))
}

func (l *leadership) note(r resourcelock.LeaderElectionRecord, began time.Time, err error) error {
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.renewed = time.Time{}
		if r.HolderIdentity == l.Identity() {
			l.renewed = began
		}
	}
	return err
}

func (l *leadership) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.renewed.IsZero()
}

func (l *leadership) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.renewed.IsZero() && time.Since(l.renewed) < l.valid
}

var errNotLeading = errors.New("this process does not hold the lease: it writes nothing")

// fence refuses to send writes while the lease may not be ours.
type fence struct {
	http.RoundTripper
	l *leadership
}

func (f fence) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && !f.l.holds() {
		return nil, errNotLeading
	}
	return f.RoundTripper.RoundTrip(r)
}

// fenced returns a configuration for clients that write only while l leads.
func fenced(c *rest.Config, l *leadership) *rest.Config {
	c = rest.CopyConfig(c)
	if l != nil {
		c.Wrap(func(rt http.RoundTripper) http.RoundTripper { return fence{rt, l} })
	}
	return c
}

func fencedClient(c *rest.Config, l *leadership) (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(rest.AddUserAgent(fenced(c, l), "scheduler"))
}
