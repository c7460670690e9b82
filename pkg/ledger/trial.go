package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/reason"

// A trial charges waiting pods in the order in which they would be released, to see how far limits and room carry, and takes all of it back
// before the lock is given up. Nobody is told: no ticket, no journal, no version.

// trial is a trial under way.
type trial struct {
	ledger  *Ledger
	roomy   bool      // room is no matter: what would limits alone let run together?
	charged []charged // in the order of the dispatch
	parked  []*record // that take their turns with the others meanwhile
	version uint64
}

type charged struct {
	*record
	limited reason.Reason
}

// try begins a trial. It must be ended before the lock is given up. Parked pods take their turns with the others where room is no matter.
func (l *Ledger) try(roomy bool) *trial {
	l.begin()
	t := &trial{ledger: l, version: l.version, roomy: roomy}
	if !roomy {
		return t
	}
	for _, r := range l.unbound { // each for itself: order does not matter
		if r.state == Parked && r.leaf != nil && l.holdIn(r, r.leaf, l.now).Code == "" {
			t.parked = append(t.parked, r)
			l.set(r, r.leaf, Waiting, reason.Reason{})
		}
	}
	return t
}

// next charges the next pod and returns it, nil if there is none.
func (t *trial) next() *record {
	r := t.peek()
	if r != nil {
		t.charge(r)
	}
	return r
}

// open marks the classes that may be charged now and returns their lanes.
func (t *trial) open() (open lanes) {
	l := t.ledger
	l.recheckDrivers()
	l.mark++
	for _, c := range l.offered { // each for itself: order does not matter
		if t.roomy || l.roomFor(c) != nil {
			c.mark = l.mark
			open |= c.lane()
		}
	}
	return open & l.lanesOf(l.root)
}

// peek returns the pod whose turn it is.
func (t *trial) peek() *record {
	l := t.ledger
	r := l.walk(l.root, t.open())
	if leaf := l.stale; leaf != nil {
		l.stale = nil
		l.refresh(leaf)
	}
	return r
}

func (t *trial) charge(r *record) {
	l := t.ledger
	c := charged{r, r.limited}
	r.alone = r.leaf.driverPods == 0
	l.set(r, r.leaf, Released, reason.Reason{})
	if !t.roomy {
		l.occupy(r, l.roomFor(r.class))
	}
	t.charged = append(t.charged, c)
}

// back takes charges back, the last first, until n are left.
func (t *trial) back(n int) {
	for len(t.charged) > n {
		last := len(t.charged) - 1
		c := t.charged[last]
		t.charged = t.charged[:last]
		t.ledger.set(c.record, c.leaf, Waiting, reason.Reason{})
		c.record.limited = c.limited
	}
}

// end takes all back.
func (t *trial) end() {
	l := t.ledger
	t.back(0)
	for _, r := range t.parked {
		l.set(r, r.leaf, Parked, reason.Reason{})
	}
	l.version = t.version
	l.treeOld = false // a queue that stays in the tree for its charges only has those it had
}
