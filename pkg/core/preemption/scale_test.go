package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// full is a cluster of nodes of 20 cores, full with pods of these sizes in many queues below root.a, and a fifth of them in root.b.
// root.a.z has nothing.
func full(sizes []int64, queues int) (*preemption.World, int) {
	const nodes = 500
	w := worldOf(amounts(20*nodes, 80*nodes))
	addQueue(w, "root.a", amounts(8*nodes, 32*nodes))
	var rich []int
	for i := range queues {
		rich = append(rich, addQueue(w, queue.Path(fmt.Sprintf("root.a.q%03d", i)), amounts(int64(4*nodes/queues), int64(16*nodes/queues))))
	}
	starved := addQueue(w, "root.a.z", amounts(4*nodes, 16*nodes))
	out := addQueue(w, "root.b", amounts(2*nodes, 8*nodes))
	for i := range w.Queues { // weights as the entitlements say
		w.Queues[i].Weight = w.Queues[i].Entitlement.Get(resource.CPU) / 1000
	}
	r := rand.New(rand.NewPCG(1, 1))
	for n := range nodes {
		addNode(w, amounts(20, 80))
		for left := int64(20); left > 0; {
			size := min(left, sizes[r.IntN(len(sizes))])
			left -= size
			c := preemption.Candidate{
				Queue: rich[r.IntN(len(rich))], Request: amounts(size, 4*size),
				Bound: r.Int64N(1 << 40), Priority: int32(r.IntN(3)), Driver: r.IntN(10) == 0,
			}
			if r.IntN(5) == 0 {
				c.Queue = out
			}
			run(w, n, c)
		}
	}
	return w, starved
}

// Where nobody can try everything, plans keep their promises all the same, and take no more than arithmetic says: 100 claimants of 2 cores
// need 50 pods of 4.
func TestLargeClusters(t *testing.T) {
	one, few, many := []int64{1}, []int64{1, 2, 4}, []int64{1, 2, 3, 4}
	for _, c := range []struct {
		name   string
		sizes  []int64
		queues int
		asks   int64
		change func(w *preemption.World, f *filters)
		want   string // "" where only the promises count
	}{
		{"one for one", one, 3, 1, nil, "100 for 100 "},
		{"two served by one", few, 200, 2, nil, "50 for 100 "},
		{"of mixed sizes the large", few, 5, 4, nil, "100 for 100 "},
		{"four for one", one, 5, 4, nil, "400 for 100 "},
		{"sixteen for one", one, 5, 16, nil, "1600 for 100 "},
		{"of many sizes", many, 5, 16, nil, ""},
		{"every second node refused", few, 5, 4, func(w *preemption.World, f *filters) {
			for n := range w.Nodes {
				f.barred[fmt.Sprint("plain/", n)] = n%2 == 0
			}
		}, "100 for 100 "},
		{"at a max", few, 5, 2, func(w *preemption.World, _ *filters) { w.Queues[1].Max = w.Queues[1].Usage }, "50 for 100 "},
		{"above a max", few, 5, 2, func(w *preemption.World, _ *filters) { w.Queues[1].Max = w.Queues[1].Usage.Sub(amounts(8, 32)) }, ""},
		{"at a max, with room", few, 5, 2, func(w *preemption.World, _ *filters) {
			w.Queues[1].Max = w.Queues[1].Usage
			for i := range w.Nodes {
				w.Nodes[i].Free = amounts(1, 4)
			}
		}, ""},
		{"a group of 100", few, 5, 2, func(w *preemption.World, _ *filters) {
			u := preemption.Unit{Gang: "g"}
			for i := range w.Claims[0].Units {
				u.Pods = append(u.Pods, w.Claims[0].Units[i].Pods...)
			}
			w.Claims[0].Units = []preemption.Unit{u}
		}, "50 for 100 "},
		{"nobody may go", few, 5, 2, func(w *preemption.World, _ *filters) {
			for i := range w.Queues {
				w.Queues[i].Preemptible = false
			}
		}, "0 for 0 NoSurplus"},
		{"too large for any node", few, 5, 21, nil, "0 for 0 NoPlace"},
		{"little surplus", few, 50, 4, func(w *preemption.World, _ *filters) {
			for i := 2; i < 52; i++ {
				w.Queues[i].Entitlement = w.Queues[i].Usage.Sub(amounts(3, 12))
			}
		}, ""},
	} {
		w, q := full(c.sizes, c.queues)
		f := &filters{barred: map[string]bool{}}
		claim(w, q, w.Queues[q].Entitlement, amounts(c.asks, 4*c.asks), 100)
		for at := q; at >= 0; at = w.Queues[at].Parent { // many more pods wait, so there is more above the ideal than is taken
			w.Queues[at].Demand = w.Queues[at].Demand.Add(w.Queues[q].Entitlement)
		}
		if c.change != nil {
			c.change(w, f)
		}
		p := preemption.Make(*w, f)
		f.done = nil
		if faults := invariant.Plan(*w, p, f); len(faults) > 0 {
			t.Errorf("%s: %s", c.name, faults[0])
		}
		if got := fmt.Sprint(len(p.Victims), " for ", len(p.Claims[0].Nominations), " ", p.Claims[0].Unpaid); c.want != "" && got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
