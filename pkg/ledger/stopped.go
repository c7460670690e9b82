package ledger

import (
	"maps"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Stopped queues. Which queues are stopped, and which of their applications go on, is decided in core/queue/state.go. This file carries
// it out:
//
//   - since when a queue is stopped: in its account, and over a restart in its status (queueTree.stop);
//   - an application that may not run waits in the same way as for a slot (core/admission), with a reason of its own;
//   - an application goes on no more when its pods from before the stop have ended and no pod holds room. Then it has to wait again
//     (takeBackStopped), as it would after a restart.

// moment is a time, and whether this process leads.
type moment struct {
	now     int64
	leading bool
}

// stop notes whether a queue is stopped, and since when. A process that does not lead follows the status of the queue, which the leader writes.
// The parent has been noted already.
func (t *queueTree) stop(a *queueAccount, n *queue.Node, at moment) {
	before, above := a.admission.Stop.Since, int64(0)
	if remembered := t.declared[n.Path].Memory.StoppedSince; remembered != 0 && !at.leading {
		before = remembered
	}
	if outside, ok := t.stoppedOutside[n.Path]; ok {
		before = outside
	}
	if a.parent != nil {
		above = a.parent.admission.Stop.Since
	}
	is := admission.Stop{Since: n.StoppedSince(before, above, at.now), By: n.StoppedBy}
	if is.Since != a.admission.Stop.Since {
		t.stopsChanged = append(t.stopsChanged, a)
	}
	a.stop(is)
}

// noteStoppedOutside notes since when the Queues that have left the tree are stopped, since they take no applications there either, and
// forgets those that are back or not stopped any more. A queue that nobody declared is stopped since the one above it is.
func (t *queueTree) noteStoppedOutside(gone []queue.Path) {
	for _, p := range gone {
		if a := t.accounts[p]; a.stopped() {
			t.stoppedOutside[p] = a.admission.Stop.Since
		}
	}
	for p := range t.stoppedOutside { // each for itself: order does not matter
		_, inTree := t.Find(p)
		_, declared := t.declared[p]
		if inTree || !declared || !t.statesStopped(p) {
			delete(t.stoppedOutside, p)
		}
	}
}

// statesStopped reports whether the Queue, or one above it, states that it is stopped. It may be out of the tree.
func (t *queueTree) statesStopped(p queue.Path) bool {
	for ; p != ""; p = p.Parent() {
		if t.declared[p].Spec.State == queue.StateStopped {
			return true
		}
	}
	return false
}

// takeStopped returns the queues that were stopped or started, and forgets them.
func (t *queueTree) takeStopped() []*queueAccount {
	changed := t.stopsChanged
	t.stopsChanged = nil
	return changed
}

// stopped reports whether the queue is stopped.
func (a *queueAccount) stopped() bool { return a.admission.Stop.Since != 0 }

// holds reports whether a pod of the application is charged.
func (a *appAccount) holds() bool {
	return slices.ContainsFunc(a.members, func(e appEntry) bool { return e.state.charged() })
}

// goesOn reports whether the application may run as far as stops are concerned.
func (a *appAccount) goesOn() bool {
	since := a.parent.admission.Stop.Since
	return queue.GoesOn(a.slot.Submitted, since, false) || queue.GoesOn(a.slot.Submitted, since, a.holds())
}

// takeBackStopped ends an application that a stopped queue has taken in and goes on no more: what was submitted before the stop has ended, and no pod of it
// holds room. It returns the pods that are to wait from now on.
func (a *applications) takeBackStopped(app *appAccount) []*record {
	if !app.entry.Runs || app.goesOn() {
		return nil
	}
	return a.putOut(app)
}

// goingOn counts the applications that go on in stopped queues, for each queue of the tree with those below it.
func (t *queueTree) goingOn() []int {
	counts := make([]int, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- { // children before parents
		n := &t.Nodes[i]
		a := t.accounts[n.Path]
		if a.stopped() {
			for _, app := range a.apps { // a number: order does not matter
				counts[i] += btoi(len(app.members) > 0 && app.goesOn())
			}
		}
		if n.Parent >= 0 {
			counts[n.Parent] += counts[i]
		}
	}
	return counts
}

// stops are since when queues are stopped, in the tree and outside.
func (t *queueTree) stops() map[queue.Path]int64 {
	since := maps.Clone(t.stoppedOutside)
	for p, a := range t.accounts { // into a map: order does not matter
		if a.stopped() {
			since[p] = a.admission.Stop.Since
		}
	}
	return since
}

// restoreStops has queues be stopped since the times that stops returned, as far as they are stopped.
func (t *queueTree) restoreStops(since map[queue.Path]int64) {
	for p, a := range t.accounts { // each for itself: order does not matter
		if a.stopped() && since[p] != 0 {
			is := a.admission.Stop
			is.Since = since[p]
			a.stop(is)
		}
	}
}
