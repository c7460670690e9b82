package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// class is the set of pods that every filter would judge alike, so that one failed attempt speaks for all of them.
type class struct {
	key      string
	request  resource.List
	eligible func(facts any) bool
	pods     int // records that refer to it
	bit      int // its lane
	driver   bool
	group    *group // of all its pods, nil for none

	listed    int // pods in lines
	inOffered int // place among the classes with such pods

	// closed: the probe fitted no node. Only an event that may change that opens the class again.
	closed bool
	probe  *record
	// speaker is the pod that failed last: it shows users and autoscalers, in upstream's words, why its class waits.
	speaker *record
	// said is what a pod of the class showed last, in upstream's words.
	said string
	// closedUntil: attempts fail with errors that are not about room (no nodes, an extender down); time opens the class again.
	closedUntil int64
	failures    int
	// allowance bounds the released pods that have not been reserved yet. It starts at 1 and doubles with every Reserve, so that
	// a hopeless class costs one attempt and a class that fits is soon released at full speed.
	allowance   int
	outstanding int

	room    room
	witness *node // a node with room, as of the last look
	failed  bool  // an attempt has failed: from then on, room is asked for
	lastTry int64
	// lackedRoom holds for the look of Backlog that is noted beside it.
	lackedRoom bool
	lookedAt   uint64

	mark uint64 // Choose: the walk in which the class may be released
}

func (c *class) reopen() { c.closed, c.probe, c.closedUntil, c.allowance = false, nil, 0, 1 }

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
		c = &class{key: key, request: p.Request, eligible: p.Eligible, driver: driver, allowance: 1}
		if p.Gang != "" {
			c.group = l.groupOf(p.Gang)
		}
		l.classes[key] = c
		l.lanes.enroll(c)
	}
	return c
}

// setClass moves the pod to another class, nil for none. The pod is in no order book when this is called.
func (l *Ledger) setClass(r *record, c *class) {
	if old := r.class; old != nil && old != c {
		if c != nil {
			r.silence()
		}
		if old.probe == r {
			old.reopen()
		}
		if r.state == Released {
			old.outstanding--
		}
		if old.pods--; old.pods == 0 {
			delete(l.classes, old.key)
			l.lanes.dismiss(old)
		}
	}
	if c != nil && c != r.class {
		c.pods++
		if r.state == Released {
			c.outstanding++
		}
	}
	r.class = c
}

// wakeBehind opens the class whose probe was bound, deleted or changed.
func (l *Ledger) wakeBehind(r *record) {
	if r.class != nil && r.class.probe == r {
		r.class.reopen()
	}
}

// retryClasses opens the classes that wait out errors: a node came or changed, which is what most of them lacked.
func (l *Ledger) retryClasses() {
	for _, c := range l.classes { // each for itself: order does not matter
		c.closedUntil = 0
	}
}

// park closes the class behind r.
func (r *record) park() {
	c := r.class
	c.closed, c.failed, c.probe, c.speaker, c.allowance = true, true, r, r, 1
}

// silence: the pod leaves its class unbound. If it was the one that shows why the class waits, another is to be tried and to show it.
func (r *record) silence() {
	if c := r.class; c != nil && c.speaker == r {
		c.speaker, c.failed = nil, false
	}
}
