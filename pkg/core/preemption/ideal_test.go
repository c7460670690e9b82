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

// Capacities are exact, and ideals are divided level by level in whole numbers. All the same no queue's ideal is less than its share as far as it asks for
// that, and together the children of a queue have no more than it.
func TestIdealByCapacityIsNoLessThanTheShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := cpu(rapid.Int64Range(0, 30).Draw(t, "total")) // few: as of devices
		tree := queue.Tree{}
		grow := func(path queue.Path, parent int, capacity queue.Limit) int {
			tree.Nodes = append(tree.Nodes, queue.Node{Path: path, Parent: parent, Spec: queue.Spec{Capacity: capacity, Weight: capacity.Most}})
			at := len(tree.Nodes) - 1
			if parent >= 0 {
				tree.Nodes[parent].Children = append(tree.Nodes[parent].Children, at)
			}
			return at
		}
		split := func(below int) (children []int) {
			left, n := queue.Whole, rapid.IntRange(1, 4).Draw(t, "children")
			for i := range n {
				part := left
				if i < n-1 {
					part = 10 * rapid.Int64Range(0, left/10).Draw(t, "hundredths of a percent")
				}
				left -= part
				children = append(children, grow(tree.Nodes[below].Path+queue.Path("."+string(rune('a'+i))), below, queue.AtMost(part)))
			}
			return children
		}
		grow(queue.Root, -1, queue.Limit{})
		for _, q := range split(0) {
			if tree.Nodes[q].Spec.Capacity.Most > 0 && rapid.Bool().Draw(t, "a parent") {
				split(q)
			}
		}
		demand := make([]int64, len(tree.Nodes))
		active := make([]bool, len(tree.Nodes))
		for i := len(tree.Nodes) - 1; i >= 0; i-- {
			n := &tree.Nodes[i]
			if len(n.Children) == 0 {
				demand[i] = rapid.Int64Range(0, 20).Draw(t, "demand")
			}
			if active[i] = demand[i] > 0; n.Parent >= 0 {
				demand[n.Parent] += demand[i]
			}
		}
		w := &preemption.World{Total: total, Settings: preemption.DefaultSettings()}
		for i, share := range fairshare.Shares(tree, total, active) {
			n := &tree.Nodes[i]
			w.Queues = append(w.Queues, preemption.Queue{
				Path: n.Path, Parent: n.Parent, Entitlement: share, Demand: cpu(demand[i]), Preemptible: true,
				Weight: n.Spec.Weight, ByCapacity: n.Spec.Capacity.Stated, Active: active[i],
			})
		}
		ideal := preemption.Make(*w, &filters{}).Ideal
		for i, n := range tree.Nodes {
			is := ideal[i].Get(resource.CPU)
			if least := min(w.Queues[i].Entitlement.Get(resource.CPU), demand[i]); is < least || is > demand[i] {
				t.Errorf("%s has %d ideally, it asks for %d and its share is %s", n.Path, is, demand[i], w.Queues[i].Entitlement)
			}
			var below, asked int64
			for _, c := range n.Children {
				below, asked = below+ideal[c].Get(resource.CPU), asked+demand[c]
			}
			if len(n.Children) > 0 && (below > is || below <= min(is, asked)-int64(2*len(n.Children))) {
				t.Errorf("the children of %s have %d ideally, and it has %d", n.Path, below, is)
			}
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
