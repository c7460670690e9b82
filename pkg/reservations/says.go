package reservations

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Says is what a Reservation says to the pods that name it: their queue, or why they have none now. It follows from the stored status alone, so all who read
// it agree.
func (o *Object) Says() (queue.Path, reason.Reason) {
	d := reason.Reserved{Name: o.Key()}
	code := reason.ReservationPending
	s := &o.Stored
	switch s.Phase {
	case PhaseAccepted, PhaseActive:
		if s.At != "" {
			return s.At, reason.Reason{}
		}
		code, d.At = reason.ReservationNotStarted, s.Start*1e9
	case PhaseRejected:
		code, d.Why = reason.ReservationRejected, s.Refusal.Message
	case PhaseCancelled:
		code, d.Why = reason.ReservationCancelled, s.Refusal.Message
	case PhaseEnded:
		code = reason.ReservationEnded
	default:
		d.Why = s.Refusal.Message
	}
	return "", reason.Reason{Code: code, Queue: string(o.Queue), Details: d}
}
