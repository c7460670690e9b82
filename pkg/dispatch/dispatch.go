// Package dispatch lets waiting pods into kube-scheduler, one after the other in the order the ledger chooses, and takes them out
// again where that is asked for. In: a ledger, a gate to kube-scheduler's queue, and the time. Out: calls on the gate.
//
// It keeps no state of its own, starts no goroutine and reads no clock: the caller decides when a round is due (see Dispatcher.Round),
// so the simulator drives the very code the scheduler runs.
package dispatch

import "github.com/fairway-scheduler/fairway/pkg/ledger"

// Gate is the way into kube-scheduler's queue and out of it.
type Gate interface {
	// Admit lets the pod in, as its newest object.
	Admit(ledger.UID)
	// Withdraw takes the pod out if it is in; a pod that is not is no error.
	Withdraw(ledger.UID)
}

// Port gives access to the gate while no watch event is delivered.
type Port interface {
	Exclusive(func(Gate))
	// Holds reports whether kube-scheduler has the pod, in a queue where it can still be popped or in a running attempt.
	Holds(ledger.UID) bool
}

// Dispatcher releases pods. Its methods may be called from any goroutine.
type Dispatcher struct {
	Ledger *ledger.Ledger
	Port   Port
	// Reject ends the attempt of a reserved pod that waits for the others of its pod group; a pod that does not wait is no error. It is called
	// under the delivery lock.
	Reject func(ledger.UID)
	// Released, unless nil, hears of each pod that was let in, under the delivery lock.
	Released func(r ledger.Release, now int64)
}

// Round fills the window. It is due after every observation, failure or reservation, and at the time it returns: the earliest at
// which waiting alone makes something releasable (0: never).
func (d *Dispatcher) Round(now int64) (next int64) {
	d.Port.Exclusive(func(g Gate) {
		for _, uid := range d.Ledger.TakeWoken(now) {
			g.Withdraw(uid)
		}
		for _, uid := range d.Ledger.Rejected() {
			d.Reject(uid)
		}
		for {
			r, ok := d.Ledger.Choose(now)
			if !ok {
				return
			}
			g.Admit(r.UID)
			if d.Released != nil {
				d.Released(r, now)
			}
		}
	})
	next, _ = d.Ledger.NextRetry(now)
	return next
}

// Failed refunds a pod whose attempt failed. kept is what kube-scheduler's own failure handler does, which puts the pod back into
// its queue; the refund comes first, since putting it back asks PreEnqueue about the pod. kept nil: a rule of ours refused, and
// kube-scheduler shall hear nothing of it.
func (d *Dispatcher) Failed(uid ledger.UID, f ledger.Failure, now int64, kept func()) {
	// In one piece: whom the refund sets free may be chosen again at once.
	d.Port.Exclusive(func(g Gate) {
		for _, other := range d.Ledger.Fail(uid, f, now) {
			if other != uid || kept == nil {
				d.withdraw(g, other)
			}
		}
	})
	if kept == nil {
		return
	}
	kept() // calls the apiserver: not under the delivery lock
	// It has put the pod back into the queue, where only a parked one may stay; one that was parked may have moved on meanwhile.
	d.Port.Exclusive(func(g Gate) { d.withdraw(g, uid) })
}

func (d *Dispatcher) withdraw(g Gate, uid ledger.UID) {
	if !d.Ledger.Inside(uid) {
		g.Withdraw(uid)
	}
}

// Sweep puts right the pods that were released before the given time and that kube-scheduler lost, and returns how many it found.
// Every way out of kube-scheduler is covered elsewhere; this is the net below them, and it should stay empty.
func (d *Dispatcher) Sweep(before, now int64) (lost int) {
	for _, uid := range d.Ledger.Overdue(before) {
		if d.Port.Holds(uid) {
			continue
		}
		d.Port.Exclusive(func(g Gate) {
			d.Ledger.Repair(uid, now)
			g.Withdraw(uid)
		})
		lost++
	}
	return lost
}
