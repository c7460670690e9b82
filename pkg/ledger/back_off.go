package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// backOffs owns the pods that back off: a heap, with the pod whose back-off ends first in front. A pod is in it exactly while its back-off
// blocks it.
type backOffs []backOff

// backOff is a pod in that heap.
type backOff struct{ *record }

func (e *backOff) Before(o *backOff) bool {
	if e.retryAt != o.retryAt {
		return e.retryAt < o.retryAt
	}
	return e.UID < o.UID
}
func (e *backOff) Moved(to int) { e.inBackOffs = to }

// follow lists a pod as long as its back-off blocks it.
func (b *backOffs) follow(r *record) {
	switch backsOff := r.blockedBy.Code == reason.BackOff; {
	case backsOff == (r.inBackOffs != notIn):
	case backsOff:
		*b = heap.Push(*b, backOff{r})
	default:
		*b = heap.Remove(*b, r.inBackOffs)
	}
}

// over returns a pod whose back-off is over, nil if there is none.
func (b backOffs) over(now int64) *record {
	if len(b) > 0 && b[0].retryAt <= now {
		return b[0].record
	}
	return nil
}

// pause lets the pod back off. Also where somebody else's Permit refused it: what a refusal gives back (room, a nominated node) is an
// event that wakes the pod itself, so without a pause refusals and attempts would chase each other.
func (r *record) pause(now int64) {
	r.attempts++
	r.retryAt = now + backoff.After(int(r.attempts), backoff.Last)
}
