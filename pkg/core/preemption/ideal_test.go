package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// The ideal of a level: no child has more than it asks for, none has less than its fair share of the parent's ideal as far as it asks for that, and
// together they have all of the parent's ideal, but for rounding, unless all have what they ask for.
func TestIdealIsDividedCompletely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 1000).Draw(t, "total")
		w := worldOf(cpu(total))
		n := rapid.IntRange(1, 6).Draw(t, "queues")
		level := make([]fairshare.Child, n)
		var asked int64
		for i := range n {
			q := addQueue(w, queue.Path("root."+string(rune('a'+i))), resource.List{})
			x := &w.Queues[q]
			x.Demand = cpu(rapid.Int64Range(0, 600).Draw(t, "demand"))
			x.Weight = rapid.SampledFrom([]int64{0, 0, 1, 500, 1000, 3000}).Draw(t, "weight")
			x.Guaranteed = cpu(rapid.Int64Range(0, total/int64(n)).Draw(t, "guaranteed"))
			if rapid.Bool().Draw(t, "limited") {
				x.Max = cpu(rapid.Int64Range(0, 600).Draw(t, "max"))
			}
			level[i] = fairshare.Child{Weight: x.Weight, Guaranteed: x.Guaranteed, Max: x.Max, Active: true}
			asked += asks(x)
		}
		w.Queues[0].Demand = cpu(5000)
		p := preemption.Make(*w, &filters{})
		fair := fairshare.Level(w.Queues[0].Rule, p.Ideal[0], level)
		var sum int64
		for i := range n {
			x, got := &w.Queues[i+1], p.Ideal[i+1].Get(resource.CPU)
			sum += got
			if got > asks(x) {
				t.Errorf("%s has %d and asks for %d", x.Path, got, asks(x))
			}
			if least := min(fair[i].Get(resource.CPU), x.Demand.Get(resource.CPU)); got < least {
				t.Errorf("%s has %d, less than %d of its fair share", x.Path, got, least)
			}
		}
		if missing := min(total, asked) - sum; missing < 0 || missing >= int64(2*n) {
			t.Errorf("the children have %d of %d, and ask for %d", sum, total, asked)
		}
	})
}

// asks is what a queue asks for within its max. A guarantee beats a smaller max.
func asks(q *preemption.Queue) int64 {
	most, limited := q.Max.Lookup(resource.CPU)
	demand := q.Demand.Get(resource.CPU)
	if !limited {
		return demand
	}
	return min(demand, max(most, q.Guaranteed.Get(resource.CPU)))
}
