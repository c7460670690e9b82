package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// A trial charges waiting pods in the order in which they would be released, to see which of them limits alone would let run, as if
// there were room for all. It takes everything back before the lock is given up, and leaves nothing behind: no ticket, no step in the
// journal, no version, no condition that is due. It uses the charges of real releases, so its answer cannot differ from what releases
// would do.

// trials owns what outlasts a trial.
type trials struct {
	underWay bool     // no condition is written, and the tree stays as it is
	memory   []before // of the last trial, for the next one to use again
}

// begin notes that a trial is under way, and lends it the memory of the last one.
func (t *trials) begin() []before {
	t.underWay = true
	return t.memory[:0]
}

// end notes that the trial is over, and takes the memory back.
func (t *trials) end(memory []before) { t.underWay, t.memory = false, memory }

// trial is a trial under way.
type trial struct {
	ledger  *settled
	charged []*record
	before  []before // of every pod that was moved, in the order of the moves
	version uint64
	leads   map[*appAccount]*record // of claimants: the driver that was the first of its application to be charged
}

// before is how a pod was before it was moved.
type before struct {
	*record
	state     State
	blockedBy reason.Reason
	limited   *reason.Reason
}

// try begins a trial. It must be ended before the lock is given up. Parked pods and those that back off take their turns with the others: what
// keeps them is no limit.
func (l *settled) try() *trial {
	l.settleAll()
	l.books.recheckDrivers(&l.queues)
	t := l.newTrial()
	for _, r := range slices.Clone(l.window.parked) { // each for itself: order does not matter
		if r.leaf == nil {
			continue // a rule blocks it by now, and it is about to be taken out of kube-scheduler's queue
		}
		if why := l.blockIn(r, r.leaf, l.now); why.Code == "" || why.Code == reason.BackOff {
			t.move(r, Waiting)
		}
	}
	for _, e := range slices.Clone(l.backOffs) { // each for itself: order does not matter
		if !e.inDoubt() { // its application would forget what it has shown
			t.move(e.record, Waiting)
		}
	}
	l.walk.beginWithAll()
	return t
}

// newTrial begins a trial in which nothing is moved yet.
func (l *settled) newTrial() *trial {
	return &trial{ledger: l, version: l.version, before: l.trials.begin()}
}

func (t *trial) move(r *record, s State) {
	t.before = append(t.before, before{r, r.state, r.blockedBy, r.limitShown})
	t.ledger.set(r, r.leaf, s, reason.Reason{})
	t.ledger.settleApplications()
}

// next charges the next pod and returns it, nil if there is none.
func (t *trial) next() *record {
	root := t.ledger.queues.root
	return t.nextBelow(root, t.ledger.books.lanesBelow(root))
}

// nextBelow is next among the pods of one queue, whatever limits that queue and those above it have.
func (t *trial) nextBelow(a *queueAccount, lanes book.Lanes) *record {
	l := t.ledger
	r := l.walk.next(a, lanes)
	for r != nil && r.group.startsTogether() && r.group.tried != l.walk.number {
		if r.group.Need() == 0 {
			break // those that it takes are on their way, and this is one more
		}
		if first := len(t.charged); t.all(r.group) {
			l.walk.refreshStale()
			return t.charged[first] // which need not be r: a group's pods have an order of their own
		}
		l.walk.leaveOut(r.class)
		r = l.walk.next(a, lanes)
	}
	l.walk.refreshStale()
	if r == nil {
		return nil
	}
	t.move(r, Released)
	t.charged = append(t.charged, r)
	return r
}

// all charges all pods that a group needs to start; false: a limit does not admit them all.
func (t *trial) all(g *group) bool {
	l, need := t.ledger, g.Need()
	pods := g.next(need)
	if len(pods) < need {
		return false
	}
	if _, over := l.walk.exceedsMax(g, pods); over {
		return false
	}
	if !t.release(pods) { // a gate, or a limit that drivers have
		return false
	}
	g.tried = l.walk.number
	t.charged = append(t.charged, pods...)
	return true
}

// release charges the pods of a group one after the other; false, and none is charged: a limit or a gate stops one of them.
func (t *trial) release(pods []*record) bool {
	at := len(t.before)
	for _, r := range pods {
		if w := &t.ledger.walk; w.stopsNow(r) && (!r.startsWithTheFirst() || w.stopsButForDrivers(r)) {
			t.takeBack(at)
			return false
		}
		t.move(r, Released)
	}
	return true
}

// end takes all back.
func (t *trial) end() {
	t.takeBack(0)
	t.ledger.version = t.version
	t.ledger.trials.end(t.before)
}

// takeBack takes the moves back from the given one on, the last first: so every list is again as it was.
func (t *trial) takeBack(from int) {
	moved := t.before[from:]
	for _, b := range slices.Backward(moved) {
		t.ledger.set(b.record, b.leaf, b.state, b.blockedBy)
		t.ledger.settleApplications()
		b.record.limitShown = b.limited
	}
	clear(moved)
	t.before = t.before[:from]
}
