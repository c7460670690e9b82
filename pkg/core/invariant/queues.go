// Package invariant holds checks of what must be true whatever happened before.
//
// Input are values taken from the ledger or from a computation, output are sentences,
// one for each broken invariant and none when all is well. Tests and the simulator
// call them after every step, production now and then. They state each invariant
// anew, from its definition: a check that called the code it checks would agree with
// any mistake in it.
//
// The package repairs nothing and must not be called to make a decision.
package invariant

import (
	"fmt"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Queue is a queue's account at one moment.
type Queue struct {
	Path   queue.Path
	Parent int           // index into the slice, -1 for the root
	Own    *resource.Sum // charged by pods directly in it
	Usage  *resource.Sum // charged by it and everything below it
	Max    resource.List // an absent resource is unlimited
}

// Queues checks that nothing is negative and that the usage of every queue is that
// of its own pods and its children. Usage above max is no fault here: max may have
// been lowered.
func Queues(queues []Queue) []string {
	var out []string
	sums := make([]resource.Sum, len(queues))
	for i, q := range queues {
		out = append(out, negative(q.Path, "own usage", q.Own)...)
		out = append(out, negative(q.Path, "usage", q.Usage)...)
		sums[i].AddSum(q.Own)
		if q.Parent >= 0 {
			sums[q.Parent].AddSum(q.Usage)
		}
	}
	for i, q := range queues {
		if !sums[i].Equal(q.Usage) {
			out = append(out, fmt.Sprintf("queue %s: usage is (%s), but its own pods and its children use (%s)",
				q.Path, q.Usage.List(), sums[i].List()))
		}
	}
	return out
}

// Released checks a path, from the queue to the root, right after a pod was charged
// to it: no release over a limit.
func Released(path []Queue) []string {
	var out []string
	for _, q := range path {
		for i := range q.Max.Len() {
			limit := q.Max.At(i)
			if used := q.Usage.Get(limit.Name); used > limit.Value {
				out = append(out, fmt.Sprintf("queue %s: a pod was released, and now %s %s are used of a max of %s",
					q.Path, resource.Format(limit.Name, used), limit.Name, resource.Format(limit.Name, limit.Value)))
			}
		}
	}
	return out
}

func negative(p queue.Path, what string, s *resource.Sum) []string {
	var out []string
	for i := range s.Len() {
		if e := s.At(i); e.Value < 0 {
			out = append(out, fmt.Sprintf("queue %s: %s of %s is negative (%d)", p, what, e.Name, e.Value))
		}
	}
	return out
}
