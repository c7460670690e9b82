// Package dispatch lets waiting pods into kube-scheduler, one at a time in the order that the ledger chooses,
// and takes them out again when the ledger says so.
//
// Input is a ledger, a gate to kube-scheduler's queue, and the time. Output is calls on the gate. The package
// keeps no state, starts no goroutine and reads no clock: the caller decides when a round is due (see
// Dispatcher.Round), so the simulator runs the same code as the scheduler.
package dispatch

import "github.com/fairway-scheduler/fairway/pkg/ledger"

// Gate is the way into kube-scheduler's queue and out of it.
type Gate interface {
	// Admit lets the pod in, as its newest object.
	Admit(ledger.UID)
	// Withdraw takes the pod out. It does nothing if the pod is not in.
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
	// Allow has a reserved pod be bound that waits for the others of its pod group and need not any more. Otherwise as Reject.
	Allow func(ledger.UID)
	// Released, unless nil, hears of each pod that was let in, under the delivery lock.
	Released func(r ledger.Release, now int64)
}

// Round fills the window. It is due after every observation, failure or reservation, and at the time it
// returns: the earliest time at which a pod can be released without any event (0: never).
func (d *Dispatcher) Round(now int64) (next int64) {
	d.Port.Exclusive(func(g Gate) {
		d.withdrawWoken(g, now)
		for _, uid := range d.Ledger.ToReject() {
			d.Reject(uid)
		}
		for _, uid := range d.Ledger.ToAllow() {
			d.Allow(uid)
		}
		for {
			if r, ok := d.Ledger.Choose(now); ok {
				d.admit(g, r, now)
			} else if !d.withdrawWoken(g, now) { // Choose may have opened room to parked pods, and no other round need be due
				return
			}
		}
	})
	next, _ = d.Ledger.NextRetry(now)
	return next
}

func (d *Dispatcher) admit(g Gate, r ledger.Release, now int64) {
	g.Admit(r.UID)
	if d.Released != nil {
		d.Released(r, now)
	}
}

// withdrawWoken takes the pods out of kube-scheduler's queue that were woken; false: there are none.
func (d *Dispatcher) withdrawWoken(g Gate, now int64) bool {
	woken := d.Ledger.TakeWoken(now)
	for _, uid := range woken {
		g.Withdraw(uid)
	}
	return len(woken) > 0
}

// Failed refunds a pod whose attempt failed. upstream is kube-scheduler's own failure handler, which puts the pod
// back into its queue. The refund comes first, because putting the pod back calls PreEnqueue. If upstream is nil,
// a rule of ours refused the pod, and kube-scheduler is not told.
func (d *Dispatcher) Failed(uid ledger.UID, f ledger.Failure, now int64, upstream func()) {
	// In one piece: the pods that the refund unblocks may be chosen at once.
	d.Port.Exclusive(func(g Gate) {
		for _, other := range d.Ledger.Fail(uid, f, now) {
			if other != uid || upstream == nil {
				d.withdraw(g, other)
			}
		}
	})
	if upstream == nil {
		return
	}
	upstream() // calls the apiserver: not under the delivery lock
	// The handler put the pod back into the queue, where only a parked pod may stay; a parked pod may have
	// been released meanwhile.
	d.Port.Exclusive(func(g Gate) { d.withdraw(g, uid) })
}

func (d *Dispatcher) withdraw(g Gate, uid ledger.UID) {
	if !d.Ledger.Inside(uid) {
		g.Withdraw(uid)
	}
}

// Sweep repairs the pods that were released before the given time and that kube-scheduler lost, and returns
// how many it found. Every way out of kube-scheduler is handled elsewhere, so it should find none.
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
