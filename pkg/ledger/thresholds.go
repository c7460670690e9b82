package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Threshold follows one amount of max, or of maxDriverShare, through a rehearsal: Next is the smallest higher value with which anything
// would have gone otherwise than it went, 0 for none.
type Threshold struct {
	Queue    queue.Path
	Resource resource.Name // of max; "" is maxDriverShare, in milli
	Next     int64
}

// Watch begins to follow thresholds, again.
func (h *Rehearsal) Watch(ts ...*Threshold) {
	h.watch = ts
	for _, t := range ts {
		t.Next = 0
	}
}

func (t *Threshold) look(l *Ledger) {
	a := l.queues.accounts[t.Queue]
	if a == nil {
		return
	}
	for _, c := range l.classes.queued { // the smallest of all: order does not matter
		var is, needs int64
		if t.Resource != "" {
			is, needs = a.spec.Max.Get(t.Resource), resource.SatAdd(a.usage.Get(t.Resource), c.request.Get(t.Resource))
		} else if c.driver {
			is, needs = l.shares.driverShareFor(a, c.request)
		}
		if needs > is && (t.Next == 0 || needs < t.Next) {
			t.Next = needs
		}
	}
}

// driverShareFor is the driver share in force in a leaf and the smallest with which one more driver of this size might start.
func (s *shares) driverShareFor(leaf *queueAccount, request resource.List) (is, needs int64) {
	return leaf.driverShare(), limit.DriverShareFor(s.driversOf(leaf), request)
}

// DriverShare is the driver share in force in a leaf, in milli.
func (h *Rehearsal) DriverShare(leaf queue.Path) int64 {
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	if a := h.ledger.queues.accounts[leaf]; a != nil {
		return a.driverShare()
	}
	return limit.DefaultDriverShare
}

// Before is how many pods of its class come before a waiting pod in its application.
func (h *Rehearsal) Before(uid UID) int {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || r.app == nil || r.class == nil {
		return 0
	}
	n := 0
	for _, o := range r.app.members {
		if o.class == r.class && o.state == Waiting && (!o.blocked() || o.blockedByAppLimit()) && compareInApp(o.record, r) < 0 {
			n++
		}
	}
	return n
}
