package picture

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Verdict is the answer in one word.
type Verdict string

// The verdicts.
const (
	// Running: the pod has a node.
	Running Verdict = "running"
	// Next: with the room there is, the pod is released before anything ends.
	Next Verdict = "next"
	// Waiting: nothing stops it now, but pods before it take the room or the rest of a limit.
	Waiting Verdict = "waiting"
	// Room: no rule blocks it, but no node has room for it.
	Room Verdict = "room"
	// Held: a limit, a scheduling gate or another rule blocks it.
	Held Verdict = "held"
	// Parked: nodes have room, but kube-scheduler's last answer was that it fits on none.
	Parked Verdict = "parked"
	// Refused: no queue takes it, or its queue takes no more applications.
	Refused Verdict = "refused"
)

// Answer says why a pod waits.
type Answer struct {
	Pod     ledger.PodState
	Verdict Verdict
	Reason  reason.Reason // zero for a running pod
	// Ahead is the number of pods that are released before it after the first change in WouldStartIf is made.
	// First are the first of these pods.
	Ahead    int
	First    []ledger.PodState
	Blockers []Blocker // the main one first
	// Preemption says what is or will be done to make room for it; "" for nothing.
	Preemption string
	// WouldStartIf begins with the smallest change that lets it start; others have the same effect.
	WouldStartIf []Change
}

// Blocker is something that stops a pod, and the applications that use what the pod needs.
type Blocker struct {
	Reason  reason.Reason
	Holders []ledger.Holder
}

// most is the largest number of pods and of holders that an answer names.
const most = 5

// Why says why a pod waits; it returns false if there is no such pod.
func (p *Picture) Why(uid ledger.UID) (Answer, bool) {
	stopped, prepared := p.stopped[uid]
	if !prepared {
		p.Prepare(uid)
		stopped = p.stopped[uid]
	}
	p.run()
	pod, ok := p.ledger.PodState(uid)
	if !ok {
		return Answer{}, false
	}
	a := Answer{Pod: pod}
	switch pod.State {
	case ledger.Bound:
		a.Verdict = Running
		return a, true
	case ledger.Gone:
		a.Verdict, a.Reason = Refused, reason.Reason{Code: reason.Terminating}
		return a, true
	}
	a.Reason = stopped
	a.Verdict = verdictOf(a.Reason.Cause().Code)
	if place := p.place[uid]; place > 0 {
		a.Verdict = Next
		p.ahead(&a, p.released[:place-1])
		return a, true
	}
	a.Preemption = p.preemptionText(&a)
	if a.Verdict != Waiting {
		a.Blockers = append(a.Blockers, p.blocker(a.Reason))
	}
	p.search(&a)
	return a, true
}

func verdictOf(code reason.Code) Verdict {
	switch code {
	case reason.WaitingTurn, reason.WaitingForPreferredNodes:
		return Waiting
	case reason.WaitingForRoom, reason.GangWaitsForRoom:
		return Room
	case reason.Parked:
		return Parked
	case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.QueueNotReady, reason.PlacementRejected, reason.QueueDeleted,
		reason.ReservationNotFound, reason.ReservationRejected, reason.ReservationEnded, reason.ReservationCancelled, reason.QueueReserved,
		reason.MaxApplications, reason.UserMaxApplications:
		return Refused
	}
	return Held
}

func (p *Picture) ahead(a *Answer, uids []ledger.UID) {
	a.Ahead = len(uids)
	for _, uid := range uids[:min(most, len(uids))] {
		pod, _ := p.ledger.PodState(uid)
		a.First = append(a.First, pod)
	}
}

// blocker adds the applications that use what is lacking.
func (p *Picture) blocker(r reason.Reason) Blocker {
	b := Blocker{Reason: r}
	r = r.Cause()
	switch r.Code {
	case reason.MaxResources:
		b.Holders = p.rehearsal.Holders(queue.Path(r.Queue), r.Resource, most)
	case reason.MaxDriverShare:
		b.Holders = p.rehearsal.Drivers(queue.Path(r.Queue), r.Resource, most)
	case reason.MaxRunningApplications:
		b.Holders = p.rehearsal.Holders(queue.Path(r.Queue), "", most)
	case reason.MaxApplications:
		b.Holders = p.rehearsal.Entered(queue.Path(r.Queue), most)
	case reason.UserMaxRunningApplications:
		b.Holders = ofUser(reason.As[reason.Applications](r).User, p.rehearsal.Holders(queue.Root, "", math.MaxInt))
	case reason.UserMaxApplications:
		b.Holders = ofUser(reason.As[reason.Applications](r).User, p.rehearsal.Entered(queue.Path(r.Queue), math.MaxInt))
	case reason.UserMaxDriverShare:
		b.Holders = ofUser(reason.As[reason.UserShare](r).User, p.rehearsal.Drivers(queue.Path(r.Queue), r.Resource, math.MaxInt))
	case reason.UserLimit:
		b.Holders = ofUser(reason.As[reason.UserShare](r).User, p.rehearsal.Holders(queue.Path(r.Queue), r.Resource, math.MaxInt))
	case reason.StateAware:
		b.Holders = p.rehearsal.Starting(queue.Path(r.Queue), most)
	case reason.WaitingForRoom:
		if r.Resource != "" {
			b.Holders = p.rehearsal.Holders(queue.Root, r.Resource, most)
		}
	}
	return b
}

// ofUser are the first holders of a user.
func ofUser(user string, all []ledger.Holder) (of []ledger.Holder) {
	for _, h := range all {
		if h.User == user && len(of) < most {
			of = append(of, h)
		}
	}
	return of
}
