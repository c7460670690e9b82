package reason

// reservationText returns the sentences about a pod that names a reservation, or its queue.
func (r Reason) reservationText() string {
	d := As[Reserved](r)
	what := "reservation " + Name(d.Name)
	switch r.Code {
	case ReservationNotFound:
		return what + " does not exist; create it, or take label fairway.dev/reservation off the pod"
	case ReservationPending:
		return what + " has not been decided on yet" + after(": ", d.Why)
	case ReservationRejected:
		return what + " was refused" + after(": ", d.Why)
	case ReservationNotStarted:
		return what + " has not begun" + after("; it begins at ", clock(d.At))
	case ReservationEnded:
		return what + " has ended"
	case ReservationCancelled:
		return what + " was cancelled" + after(": ", d.Why)
	}
	return "queue " + r.Queue + " is for the pods of " + what + "; name another one in fairway.dev/queue"
}
