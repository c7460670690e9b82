package simulator

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Queues that an administrator stops and starts. Which queues are stopped, and what goes on there, by the simulator's own reading of the rule. Only since
// when a queue is stopped is asked of the ledger, since that depends on when it looked; the audits check that it stays the same.

// stops are since when queues are stopped, at the last look, and what happened since then.
type stops struct {
	since  map[queue.Path]int64
	edited bool
}

// editState stops or starts a queue.
func (w *World) editState() {
	path := w.anyDeclared()
	q := w.queues[path]
	q.Spec.State = []queue.State{queue.StateUnstated, queue.StateRunning, queue.StateStopped}[w.rng.IntN(3)]
	w.queues[path] = q
	w.queueChanged(path)
}

// startAll starts all queues, when the users have gone home.
func (w *World) startAll() {
	for _, path := range sorted(w.queues) {
		if q := w.queues[path]; q.Spec.State != queue.StateUnstated {
			q.Spec.State = queue.StateUnstated
			w.queues[path] = q
			w.queueChanged(path)
		}
	}
}

// stopped: the queue or one above it states so.
func (w *World) stopped(q queue.Path) bool {
	for ; q != ""; q = q.Parent() {
		if w.known.queues[q].Spec.State == queue.StateStopped {
			return true
		}
	}
	return false
}

// stoppedSince is since when the ledger counts a queue as stopped; 0: it does not.
func (w *World) stoppedSince(path queue.Path) int64 {
	if !w.opts.Stops || !w.stopped(path) {
		return 0
	}
	for _, q := range w.snapshot().Queues {
		if q.Path == path {
			return q.StoppedSince
		}
	}
	return 0
}

// goesOn: it was submitted before its queue was stopped, or holds something.
func (w *World) goesOn(a *app) bool {
	since := w.stoppedSince(a.queue)
	return since == 0 || a.charged || a.oldest.Created < since
}

// goingOn are the queues in which, or below which, applications go on.
func (w *World) goingOn() map[queue.Path]bool {
	in := map[queue.Path]bool{}
	for _, a := range w.apps() {
		if w.goesOn(a) {
			for q := a.queue; q != ""; q = q.Parent() {
				in[q] = true
			}
		}
	}
	return in
}

// auditStops: a queue is stopped if it or one above it states so, since the same time while nobody edits that, and Draining while something goes on
// there. A Queue that leaves the tree and comes back is stopped since the same time. What it was stopped for at the last look does not count after a restart.
func (w *World) auditStops() {
	if !w.opts.Stops {
		return
	}
	now, goingOn := map[queue.Path]int64{}, w.goingOn()
	for _, q := range w.snapshot().Queues {
		if !q.InTree {
			if before := w.stops.since[q.Path]; before != 0 && w.stopped(q.Path) {
				now[q.Path] = before
			}
			continue
		}
		stopped, want := w.stopped(q.Path), queue.StateRunning
		switch {
		case stopped && goingOn[q.Path]:
			want = queue.StateDraining
		case stopped:
			want = queue.StateStopped
		}
		if q.State != want || stopped != (q.StoppedSince != 0) || q.StoppedSince > max(w.now, second) {
			w.fail("queue %s is %s since %d, should be %s", q.Path, q.State, q.StoppedSince, want)
		}
		if before, known := w.stops.since[q.Path]; known && !w.stops.edited && before != q.StoppedSince {
			w.fail("queue %s is stopped since %d, was so since %d", q.Path, q.StoppedSince, before)
		}
		now[q.Path] = q.StoppedSince
		switch q.State {
		case queue.StateDraining:
			w.Draining++
		case queue.StateStopped:
			w.Drained++
		case queue.StateUnstated, queue.StateRunning:
		}
	}
	w.stops = stops{since: now}
	w.StoppedOut += w.Ledger.WaitingPods()[reason.QueueStopped]
}
