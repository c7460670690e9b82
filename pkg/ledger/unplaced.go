package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Unplaced is a number of waiting pods that no queue takes, all for the same reason. They are in no queue's counts.
type Unplaced struct {
	Queue  queue.Path // what they ask for; as written where it is no queue's name
	Reason reason.Reason
	Pods   int
}

// Unplaced counts the waiting pods that no queue takes, in the order of the queues they ask for.
func (l *Ledger) Unplaced() []Unplaced {
	l.mu.Lock()
	defer l.mu.Unlock()
	type key struct {
		queue queue.Path
		why   reason.Reason
	}
	counts := map[key]int{}
	for _, r := range l.requests.unbound { // sums: order does not matter
		if r.state != Waiting || r.leaf != nil {
			continue
		}
		asked := r.asked
		if asked == "" {
			asked = cmp.Or(queue.Path(r.Queue), queue.Default)
		}
		counts[key{asked, r.blockedBy}]++
	}
	all := make([]Unplaced, 0, len(counts))
	for k, n := range counts { // sorted below
		all = append(all, Unplaced{Queue: k.queue, Reason: k.why, Pods: n})
	}
	slices.SortFunc(all, func(a, b Unplaced) int {
		return cmp.Or(queue.ComparePaths(a.Queue, b.Queue), cmp.Compare(a.Reason.Code, b.Reason.Code),
			cmp.Compare(a.Reason.Text(), b.Reason.Text()))
	})
	return all
}
