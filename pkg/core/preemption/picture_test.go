package preemption

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A bound in whole usages says the same as comparing the dominant shares, also of what there is none of, of nothing, and of what is endless.
func TestBoundsCompareAsSharesDo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	amount := func() int64 {
		switch r.IntN(12) {
		case 0:
			return 0
		case 1:
			return -r.Int64N(5)
		case 2:
			return math.MaxInt64/16 - r.Int64N(3) // products of it still fit
		default:
			return r.Int64N(9)
		}
	}
	list := func(atLeast int64) resource.List {
		var out []resource.Entry
		for _, n := range []resource.Name{resource.CPU, "gpu", resource.Memory} {
			if r.IntN(5) > 0 {
				out = append(out, resource.Entry{Name: n, Value: max(amount(), atLeast)})
			}
		}
		return resource.Of(out...)
	}
	for range 200_000 {
		q := Queue{Parent: -1, Usage: list(math.MinInt64), Entitlement: list(0)}
		if r.IntN(3) == 0 {
			q.Rule = queue.Rule{Policy: queue.Fair, Resource: "gpu"}
		}
		w := World{Total: list(0), Queues: []Queue{q}}
		var p picture
		p.build(&w, []resource.List{list(0)})
		a := &p.queues[0]
		by := CompareDominant(q.Rule, w.Total, q.Usage, q.Entitlement)
		if a.keeps(a.entitled) != (by >= 0) || a.within(a.above) != (by <= 0) {
			t.Fatalf("total (%s), usage (%s), entitlement (%s): shares compare as %d, bounds say at least %v, at most %v",
				w.Total, q.Usage, q.Entitlement, by, a.keeps(a.entitled), a.within(a.above))
		}
	}
}
