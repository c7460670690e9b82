package ledger

import (
	"cmp"
	"slices"
)

// window owns which pods are with kube-scheduler: those that are released and not yet bound, at most a window of them, and the parked ones. It also
// owns the tickets, which number the releases.
//
// It hears of every pod that changes its state (moved), of releases (stamp), and of parked pods that are to leave kube-scheduler's queue (wake). It says
// whether it is full, in which order pods were released, which are overdue, and which were woken. It decides nothing.
type window struct {
	size     int    // how many pods may be in it: Options.Window
	pods     int    // in it: released or reserved
	tickets  uint64 // the last ticket, which is also the number of releases
	released roster // in state Released: at most a window
	reserved roster // in state Reserved
	parked   roster // in state Parked
	woken    []UID  // parked pods that are to be taken out of kube-scheduler's queue, and their classes opened: see TakeWoken
	repairs  uint64 // charges that Repair took back
}

func (w *window) full() bool { return w.pods >= w.size }

// stamp gives the pod the ticket of a release.
func (w *window) stamp(r *record) {
	r.again = r.ticket != 0
	w.tickets++
	r.ticket = w.tickets
}

// moved takes in that a pod has left a state for another one.
func (w *window) moved(r *record, old State) {
	if old == r.state {
		return
	}
	w.pods += btoi(r.state.inWindow()) - btoi(old.inWindow())
	if s := w.rosterOf(old); s != nil {
		s.remove(r, ofState)
	}
	if s := w.rosterOf(r.state); s != nil {
		s.add(r, ofState)
	}
	switch c := r.class; {
	case c == nil:
	case old == Released:
		c.Leave()
	case r.state == Released:
		c.Enter()
	}
}

// rosterOf has the pods of a state; nil: the window does not list them.
func (w *window) rosterOf(s State) *roster {
	switch s {
	case Released:
		return &w.released
	case Reserved:
		return &w.reserved
	case Parked:
		return &w.parked
	case Waiting, Bound, Gone:
	}
	return nil
}

// headedFor returns the pods in the window whose room is taken on a node.
func (w *window) headedFor(e *node) (rs []*record) {
	for _, in := range []roster{w.released, w.reserved} {
		for _, r := range in {
			if r.assumedOn == e {
				rs = append(rs, r)
			}
		}
	}
	return rs
}

// wake notes that a parked pod is to be taken out of kube-scheduler's queue.
func (w *window) wake(r *record) { w.woken = append(w.woken, r.UID) }

// open notes that room which was closed to some pods is open to them again. No event tells kube-scheduler, so parked pods are woken. A pod
// whose attempt still runs may have found the room closed, too: if the attempt fails, the pod is woken then (missed).
func (w *window) open(concerns func(*record) bool) {
	for _, r := range w.parked { // each for itself: order does not matter
		if concerns(r) {
			w.wake(r)
		}
	}
	for _, r := range w.released { // each for itself: order does not matter
		if concerns(r) {
			r.class.opened = w.tickets
		}
	}
}

// missed: room was opened to the class after the pod was released. Its attempt may have begun before that.
func (r *record) missed() bool { return r.ticket <= r.class.opened }

// takeWoken returns the pods that were woken since the last call.
func (w *window) takeWoken() []UID {
	woken := w.woken
	w.woken = nil
	return woken
}

// inOrderOfRelease returns the released pods, the one that was released first in front.
func (w *window) inOrderOfRelease() []*record {
	rs := slices.Clone(w.released)
	slices.SortFunc(rs, func(a, b *record) int { return cmp.Compare(a.ticket, b.ticket) })
	return rs
}

// overdue returns the pods that were released before the given time and are neither reserved nor refunded.
func (w *window) overdue(before int64) (late []UID) {
	for _, r := range w.inOrderOfRelease() {
		if r.since < before {
			late = append(late, r.UID)
		}
	}
	return late
}

// repaired counts a charge that Repair takes back.
func (w *window) repaired() { w.repairs++ }

// Ticket is the sequence number of the pod's last release, 0 for a pod that was never released.
func (l *Ledger) Ticket(uid UID) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		return r.ticket
	}
	return 0
}

// Releases is how many decisions Choose has made.
func (l *Ledger) Releases() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.window.tickets
}

// Overdue returns the pods that were released before the given time and are neither reserved nor refunded.
func (l *Ledger) Overdue(before int64) []UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.window.overdue(before)
}

// Repair refunds an overdue pod that kube-scheduler lost, and counts that: the count should stay at zero.
func (l *Ledger) Repair(uid UID, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil && r.state == Released {
		l.window.repaired()
		l.wait(r, now)
		l.drain()
	}
}

// Repairs is how many charges Repair had to put right.
func (l *Ledger) Repairs() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.window.repairs
}
