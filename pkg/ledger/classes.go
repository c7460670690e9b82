package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// class is a set of pods that every filter judges alike, so one failed attempt speaks for all of them. Its breaker says whether one of them may
// be released.
type class struct {
	breaker.Breaker
	room

	key    string
	pods   int // records that refer to it
	lane   book.Lane
	driver bool

	queued   int // pods in pod queues
	inQueued int // place among the classes with such pods

	probe *record // the parked pod, nil while the class is not parked
	// lastFailed is the last pod that fitted no node, while it waits: it shows users and autoscalers, in upstream's words, why its class waits.
	lastFailed  *record
	lastMessage string // what a pod of the class showed last, in upstream's words

	// Of its pods for room, if they are of no group: see large_pods.go.
	wait    waiter
	lacking bool          // in the list of those that lack room
	firstIn *queueAccount // where its first pod waits that would be passed, as of the last look

	fitNode *node       // a node with room, as of the last look
	look    lookAtClass // the last one, of Backlog

	mark   uint64 // Choose: the walk in which the class may be released
	opened uint64 // the last ticket when room was opened to a pod of the class that was released: see window.open
}

// classTable owns the classes: which there are, which lane each one has, and which have pods in pod queues.
//
// It hears which class a pod belongs to (of, move), and which pods enter and leave pod queues (enqueued, dequeued). A class exists while a pod belongs
// to it. What becomes of the attempts of a class is kept by the class itself.
type classTable struct {
	byKey       map[string]*class
	lanes       book.LaneTable[*class]
	driverLanes book.Lanes // those that a class of drivers has, or once had
	asked       []asked    // which lanes ask for which resource
	queued      []*class   // that have pods in pod queues, in no order that means anything
}

// of finds or makes the class of a pod. The adapter puts the request into the class key; should two pods of different size
// carry the same key all the same, they are kept apart here, because a book's limit check speaks for all its pods.
func (t *classTable) of(r *record) *class {
	key, driver := r.Class, r.Role == application.Driver
	if r.group != nil { // its pods are released together, so no attempt of another pod speaks for them
		key += "\x00" + r.group.Key
	}
	if r.Priority > 0 { // it may take the room of pods of its own leaf, so an attempt for another leaf does not speak for it
		key += "\x00" + string(r.asked)
	}
	c := t.byKey[key]
	if c != nil && (c.driver != driver || !c.request.Equal(r.Request)) {
		key += "\x00" + r.Role.String() + r.Request.String()
		c = t.byKey[key]
	}
	if c == nil {
		c = &class{key: key, driver: driver, Breaker: breaker.New(), room: room{request: r.Request, eligible: r.Eligible, group: r.group}}
		c.wait.class, c.waiter = c, &c.wait
		if r.group != nil {
			c.waiter = &r.group.wait
		}
		t.byKey[key] = c
		c.lane = t.lanes.Add(c, c.asksFor())
		t.noteAsked(c.lane, c.request)
		if driver {
			t.driverLanes |= c.lane.Set()
		}
	}
	return c
}

// move moves a pod to another class, nil for none. The pod is in no pod queue when this is called. A class sees the nodes while a pod belongs to it.
func (t *classTable) move(r *record, c *class, nodes *nodeTable) {
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
			delete(t.byKey, old.key)
			nodes.unwatch(&old.room)
			t.lanes.Remove(old, old.lane)
			t.noteAsked(old.lane, old.request)
		}
	}
	if c != nil && c != r.class {
		if c.pods++; c.pods == 1 {
			nodes.watch(&c.room)
		}
		if r.state == Released {
			c.Enter()
		}
	}
	r.class = c
	nodes.preferences.follow(r)
}

// enqueued counts a pod of the class that entered a pod queue.
func (t *classTable) enqueued(c *class) {
	if c.queued++; c.queued == 1 {
		c.inQueued = len(t.queued)
		t.queued = append(t.queued, c)
	}
}

// dequeued counts a pod of the class no more: it left its pod queue.
func (t *classTable) dequeued(c *class) {
	if c.queued--; c.queued == 0 {
		last := t.queued[len(t.queued)-1]
		t.queued[c.inQueued], last.inQueued = last, c.inQueued
		t.queued = t.queued[:len(t.queued)-1]
	}
}

// endBackOffs ends the back-off of all classes: a node came or changed, which is what most errors lacked.
func (t *classTable) endBackOffs() {
	for _, c := range t.byKey { // each for itself: order does not matter
		c.EndBackOff()
	}
}
