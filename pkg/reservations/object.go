package reservations

import (
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
)

// Phase is where a Reservation stands, as its object spells it.
type Phase string

// The phases.
const (
	PhasePending   Phase = "Pending"
	PhaseAccepted  Phase = "Accepted"
	PhaseRejected  Phase = "Rejected"
	PhaseActive    Phase = "Active"
	PhaseEnded     Phase = "Ended"
	PhaseCancelled Phase = "Cancelled"
)

// Reasons beside the codes of core/reservation.
const (
	ReasonInvalid            = "Invalid"            // the spec cannot be read
	ReasonForbidden          = "ReserveForbidden"   // the user may not reserve in the queue
	ReasonQueueNotReservable = "QueueNotReservable" // nothing can be reserved in the queue
	ReasonQueueNotReady      = "QueueNotReady"      // the queue is not in force
	ReasonLessCapacity       = "LessCapacity"       // the queue has become too small
)

// Object is a Reservation as its object says.
type Object struct {
	Namespace, Name, UID string
	Created              int64 // unix nanoseconds
	Generation           int64
	Queue                queue.Path
	User                 string
	Definition           reservation.Definition
	Invalid              string // why the spec cannot be read, "" if it can
	Forbidden            string // why the user may not reserve in the queue, "" if that is allowed
	Unchecked            bool   // nobody knows yet whether it is
	Stored               Status
}

// Key is namespace/name.
func (o *Object) Key() string { return o.Namespace + "/" + o.Name }

// Status is where a Reservation stands. Times are in seconds, but AcceptedTime is in microseconds; 0 for none.
type Status struct {
	ObservedGeneration int64
	Phase              Phase
	AcceptedTime       int64
	Steps              []reservation.Step
	Recurrence         int64
	Start              int64
	At                 queue.Path // the queue of its pods, "" if there is none now
	Refusal            Refusal
}

// Refusal is why a spec is not in force, or is not any more. The zero one is none.
type Refusal struct {
	Reason, Field, Message string
	Fits                   int64 // a deadline with which it would fit; 0 for none
}

// inPlan reports whether capacity is reserved, or will be.
func (s *Status) inPlan() bool { return s.Phase == PhaseAccepted || s.Phase == PhaseActive }

// reservation is the entry as its plan has it. Of a definition that is not that of the present spec only is known how often it recurs.
func (e *entry) reservation() reservation.Reservation {
	d := reservation.Definition{Recurrence: e.Recurrence}
	if e.ObservedGeneration == e.Generation && e.Refusal == (Refusal{}) {
		d = e.Definition
	}
	return reservation.Reservation{Name: e.Key(), User: e.User, Definition: d, Steps: e.Steps}
}

// child is the name of its queue, by which people recognise it; if another has it, it gets a hash.
func (e *entry) child(taken map[queue.Path]bool) queue.Path {
	below := func(label string) queue.Path { return e.Queue + "." + queue.Path(label) }
	if plain := below(placement.Label(e.Namespace + "-" + e.Name)); !taken[plain] {
		return plain
	}
	return below(placement.HashedLabel(e.Key()))
}

func (e *entry) accept(r reservation.Reservation, at int64) {
	e.Phase, e.AcceptedTime, e.Steps, e.Recurrence, e.Refusal = PhaseAccepted, at, r.Steps, r.Definition.Recurrence, Refusal{}
}

// refuse says why the spec is not in force. What was accepted before stays.
func (e *entry) refuse(why Refusal) {
	e.Refusal, e.ObservedGeneration = why, e.Generation
	if !e.inPlan() {
		e.out(PhaseRejected)
	}
}

// pending: the spec is looked at again.
func (e *entry) pending(why Refusal) {
	e.Refusal = why
	if !e.inPlan() {
		e.out(PhasePending)
	}
}

func (e *entry) cancel(why Refusal) {
	e.out(PhaseCancelled)
	e.Refusal = why
}

func (e *entry) end() { e.Phase, e.At = PhaseEnded, "" }

func (e *entry) out(p Phase) {
	e.Phase, e.AcceptedTime, e.Steps, e.Recurrence, e.Start, e.At = p, 0, nil, 0, 0, ""
}

func notReservable(p queue.Path) Refusal {
	return Refusal{Reason: ReasonQueueNotReservable, Message: "nothing can be reserved in queue " + string(p) + ": it does not state reservable: true, or is being deleted"}
}
