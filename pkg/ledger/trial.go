package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/reason"

// A trial charges waiting pods in the order in which they would be released, to see how far limits and room carry, and takes all of it back
// before the lock is given up. Nobody is told: no ticket, no journal, no version.

// trial is a trial under way.
type trial struct {
	ledger  *Ledger
	charged []*record // in the order of the dispatch
	version uint64
	roomy   bool // room is no matter: what limits alone would let run together
}

// try begins a trial. It must be ended before the lock is given up.
func (l *Ledger) try(roomy bool) *trial {
	l.begin()
	return &trial{ledger: l, version: l.version, roomy: roomy}
}

// next charges the next pod and returns it, nil if there is none.
func (t *trial) next() *record {
	l := t.ledger
	l.recheckDrivers()
	l.mark++
	var open lanes
	for _, c := range l.offered { // each for itself: order does not matter
		if t.roomy || l.roomFor(c) != nil {
			c.mark = l.mark
			open |= c.lane()
		}
	}
	r := l.walk(l.root, open&l.lanesOf(l.root))
	if leaf := l.stale; leaf != nil {
		l.stale = nil
		l.refresh(leaf)
	}
	if r == nil {
		return nil
	}
	r.alone = r.leaf.driverPods == 0
	l.set(r, r.leaf, Released, reason.Reason{})
	if !t.roomy {
		l.occupy(r, l.roomFor(r.class))
	}
	t.charged = append(t.charged, r)
	return r
}

// end takes all back, the last charge first.
func (t *trial) end() {
	l := t.ledger
	for i := len(t.charged) - 1; i >= 0; i-- {
		r := t.charged[i]
		l.set(r, r.leaf, Waiting, reason.Reason{})
	}
	l.version = t.version
}
