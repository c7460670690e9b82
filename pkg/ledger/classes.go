package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// class is a set of pods that every filter judges alike, so one failed attempt speaks for all of them. Its breaker says whether one of them may
// be released.
type class struct {
	breaker.Breaker

	key      string
	request  resource.List
	eligible func(facts any) bool
	pods     int // records that refer to it
	lane     book.Lane
	driver   bool
	group    *group // of all its pods, nil for none

	queued   int // pods in pod queues
	inQueued int // place among the classes with such pods

	probe *record // the parked pod, nil while the class is not parked
	// lastFailed is the last pod that fitted no node, while it waits: it shows users and autoscalers, in upstream's words, why its class waits.
	lastFailed  *record
	lastMessage string // what a pod of the class showed last, in upstream's words

	room    room
	fitNode *node // a node with room, as of the last look
	// lackedRoom holds for the look of Backlog that is noted beside it.
	lackedRoom bool
	lookedAt   uint64

	mark uint64 // Choose: the walk in which the class may be released
}

// reopen lets one pod of the class be tried again.
func (c *class) reopen() {
	c.probe = nil
	c.Reopen()
}

// classOf finds or makes the class of a pod. The adapter puts the request into the class key; should two pods of different size
// carry the same key all the same, they are kept apart here, because a book's limit check speaks for all its pods.
func (l *Ledger) classOf(p *Pod) *class {
	key, driver := p.Class, p.Role == application.Driver
	if p.Gang != "" { // its pods are released together, so nobody else's attempt speaks for them
		key += "\x00" + p.Gang
	}
	if p.Priority > 0 { // it may take the room of pods of its own leaf, so an attempt for another leaf does not speak for it
		key += "\x00" + p.Queue
	}
	c := l.classes[key]
	if c != nil && (c.driver != driver || !c.request.Equal(p.Request)) {
		key += "\x00" + p.Role.String() + p.Request.String()
		c = l.classes[key]
	}
	if c == nil {
		c = &class{key: key, request: p.Request, eligible: p.Eligible, driver: driver, Breaker: breaker.New()}
		if p.Gang != "" {
			c.group = l.groups.get(p.Gang)
		}
		l.classes[key] = c
		c.lane = l.lanes.Add(c)
		if driver {
			l.driverLanes |= c.lane.Set()
		}
	}
	return c
}

// setClass moves the pod to another class, nil for none. The pod is in no order book when this is called.
func (l *Ledger) setClass(r *record, c *class) {
	if old := r.class; old != nil && old != c {
		if c != nil {
			r.clearLastFailed()
		}
		if old.probe == r {
			old.reopen()
		}
		if r.state == Released {
			old.Leave()
		}
		if old.pods--; old.pods == 0 {
			delete(l.classes, old.key)
			l.lanes.Remove(old, old.lane)
		}
	}
	if c != nil && c != r.class {
		c.pods++
		if r.state == Released {
			c.Enter()
		}
	}
	r.class = c
}

// wakeBehind reopens the class whose probe was bound, deleted or changed.
func (l *Ledger) wakeBehind(r *record) {
	if r.class != nil && r.class.probe == r {
		r.class.reopen()
	}
}

// retryClasses ends the back-off of all classes: a node came or changed, which is what most errors lacked.
func (l *Ledger) retryClasses() {
	for _, c := range l.classes { // each for itself: order does not matter
		c.EndBackOff()
	}
}

// park makes the pod the probe of its class.
func (r *record) park() {
	r.class.probe, r.class.lastFailed = r, r
	r.class.Park()
}

// clearLastFailed: the pod leaves its class unbound. If it was the one that shows why the class waits, another is to be tried and to show it.
func (r *record) clearLastFailed() {
	if c := r.class; c != nil && c.lastFailed == r {
		c.lastFailed = nil
		c.ForgetFailure()
	}
}
