package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// The backlog is what more nodes would let run: the pods that wait for room, as far as limits, charged one after the other in the order of the
// dispatch, let them run together. It shows as Unschedulable, which cluster autoscalers act on. A pod beyond it must not show that, whoever
// wrote it: the node that comes for it would stay empty.

// reviewed is how many of the pods that show it a look goes through, those first that it has not gone through for longest. There are more
// only where thousands of classes were tried for nothing.
const reviewed = 4000

// Backlogged is a pod of which the PodScheduled condition is to change.
type Backlogged struct {
	UID       UID
	Namespace string
	Name      string
	// Message is what a pod of its class shows, in upstream's words; "" where none does (see Shortage).
	Message string
}

func (r *record) backlogged() Backlogged {
	return Backlogged{UID: r.UID, Namespace: r.Namespace, Name: r.Name}
}

// Backlog takes a look at up to n pods in the order of the dispatch, probes counted twice. show: those that have waited for room for as long as after, in
// nanoseconds, in every look, and do not say so. unshow: those that say so although a rule holds them, or although limits would not let them
// run together with those before them; of the pods beyond n that is not known, so they are left as they are unless something holds them now.
//
// A pod that shows it already is left alone, also when room appears: upstream takes the condition back by binding.
func (l *Ledger) Backlog(n int, after, now int64) (show, unshow []Backlogged) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return nil, nil
	}
	l.settleAll()
	l.looks++
	together, more := l.together(n)
	for _, r := range together {
		r.inTogether = l.looks
		if r.blocked() || !l.waitsForRoom(r.class, now) {
			continue // to be tried within seconds
		}
		if r.lack == 0 || r.lack+1 != l.looks {
			r.lackSince = now
		}
		if r.lack = l.looks; now-r.lackSince < after {
			continue
		}
		if r.limitShown != nil { // no limit stops it any more: it must not say both
			l.conditions.limit(r, nil)
		}
		if r.Unschedulable == "" {
			b := r.backlogged()
			b.Message = r.class.says()
			if why, lacks := l.roomOfGroup(r.group, string(r.leaf.path)); lacks {
				b.Message = why.Text()
			}
			show = append(show, b)
		}
	}
	for range min(len(l.showing), reviewed) {
		l.review = (l.review + 1) % len(l.showing)
		if r := l.showing[l.review]; l.mustNotShow(r, more) {
			unshow = append(unshow, r.backlogged())
		}
	}
	return show, unshow
}

// together returns the first pods that limits would let run together, in the order of the dispatch. more: there may be others. n bounds what is
// moved for that, probes included. Where there are more probes than that it returns none: they show upstream's own condition, and are backlog
// enough.
func (l *Ledger) together(n int) (pods []*record, more bool) {
	if len(l.window.parked)+len(l.backOffs) > n {
		return nil, true
	}
	t := l.try()
	more = true
	for more && len(t.before) < n {
		more = t.next() != nil
	}
	t.end()
	return t.charged, more
}

// mustNotShow reports whether a pod that shows Unschedulable is not of the backlog. more: there are pods at which nobody looked.
func (l *Ledger) mustNotShow(r *record, more bool) bool {
	switch {
	case r.state != Waiting && r.state != Parked:
		return false // in kube-scheduler's hands, which says itself what comes of it
	case r.leaf == nil:
		return true
	case r.inTogether == l.looks:
		return false
	case r.blocked() && r.blockedBy.Code != reason.BackOff || !more:
		return true
	}
	_, limited := l.limitOn(r.app, r.class)
	return limited
}

// waitsForRoom is lacksRoom, found out once in each look.
func (l *Ledger) waitsForRoom(c *class, now int64) bool {
	if c.lookedAt != l.looks {
		c.lookedAt, c.lackedRoom = l.looks, l.lacksRoom(c, now)
	}
	return c.lackedRoom
}

// lacksRoom reports whether the class waits behind a pod that fitted no node, or for a node that has room for it (see mayTry). It changes
// nothing.
func (l *Ledger) lacksRoom(c *class, now int64) bool {
	if c.group.open() {
		_, _, _, fits := l.packNow(c.group)
		return !fits
	}
	if c.Parked() || !c.NeedsRoom(now) || l.opts.Extenders {
		return c.Parked()
	}
	return !l.nodes.anyFits(&c.room)
}

// says is what the pod that failed last shows, or what one of the class showed last.
func (c *class) says() string {
	if c.lastFailed != nil && c.lastFailed.Unschedulable != "" {
		return c.lastFailed.Unschedulable
	}
	return c.lastMessage
}

// note keeps the list of unbound pods that show Unschedulable, and what their classes say, after a change of what the pod shows.
func (l *Ledger) note(r *record) {
	if r.Unschedulable == "" || r.inRequest == notIn {
		l.unnote(r)
		return
	}
	r.class.lastMessage = r.Unschedulable
	if r.inShowing == notIn {
		r.inShowing = len(l.showing)
		l.showing = append(l.showing, r)
	}
}

func (l *Ledger) unnote(r *record) {
	if r.inShowing == notIn {
		return
	}
	last := len(l.showing) - 1
	l.showing[r.inShowing], l.showing[last].inShowing = l.showing[last], r.inShowing
	l.showing[last] = nil
	l.showing = l.showing[:last]
	r.inShowing = notIn
}

// Shortage is why nodes have no room for a pod, counted as kube-scheduler counts: a node may lack several things. What it would say of
// nodes that the pod may not use at all has many forms and is not known here.
type Shortage struct {
	Nodes   int // that exist
	TooMany int // of them, those that take no more pods
	Lacking []Lack
}

// Lack is on how many nodes too little of a resource is free.
type Lack struct {
	Resource resource.Name
	Nodes    int
}

// Shortage says what keeps an unbound pod off the nodes, as far as arithmetic knows; false: the ledger knows no such pod.
func (l *Ledger) Shortage(uid UID) (Shortage, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || r.class == nil {
		return Shortage{}, false
	}
	c, s := r.class, Shortage{Nodes: len(l.nodes.all)}
	lacking := make([]int, c.request.Len())
	for _, e := range l.nodes.all {
		if !e.takes(&c.room) {
			continue
		}
		s.TooMany += btoi(e.full())
		for i := range lacking {
			want := c.request.At(i)
			lacking[i] += btoi(l.nodes.capacityOf(e).Lacks(e.used.Get(want.Name), want))
		}
	}
	for i, nodes := range lacking {
		if nodes > 0 {
			s.Lacking = append(s.Lacking, Lack{c.request.At(i).Name, nodes})
		}
	}
	return s, true
}
