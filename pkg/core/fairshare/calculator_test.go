package fairshare_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func memoryOf(l resource.List) resource.List {
	if v, named := l.Lookup(resource.Memory); named {
		return resource.Of(resource.Entry{Name: resource.Memory, Value: v})
	}
	return resource.List{}
}

// memoryAlone is the world without any other resource.
func (w world) memoryAlone() world {
	w.declared, w.total = slices.Clone(w.declared), memoryOf(w.total)
	for i := range w.declared {
		d := &w.declared[i]
		d.Spec.FairResource = ""
		d.Spec.Guaranteed, d.Spec.Max = memoryOf(d.Spec.Guaranteed), memoryOf(d.Spec.Max)
		d.Percent.Guaranteed, d.Percent.Max = memoryOf(d.Percent.Guaranteed), memoryOf(d.Percent.Max)
	}
	return w
}

// withMemory is the world with the calculator Memory.
func (w world) withMemory() world {
	w.declared = slices.Clone(w.declared)
	w.declared[0].Spec.Calculator = queue.MemoryCalculator
	return w
}

// shareByCapacity has the queues below the root share by capacity.
func (w world) shareByCapacity(t *rapid.T) {
	for i := range w.declared {
		capacity, top := map[queue.Path]int64{"root.a": 40_000, "root.b": 35_000, "root.c": 25_000}[w.declared[i].Path]
		if !top {
			continue
		}
		d := &w.declared[i]
		d.Spec.Capacity = queue.AtMost(capacity)
		d.Spec.Guaranteed, d.Percent.Guaranteed = resource.List{}, resource.List{}
		if rapid.Bool().Draw(t, "has a maximum") {
			d.Spec.MaxCapacity = queue.AtMost(rapid.Int64Range(capacity, queue.Whole).Draw(t, "maxCapacity"))
		}
	}
}

// With the calculator Memory, a tree has the shares of memory that it would have if there were no other resource, and no share of others.
func TestSharesWithMemoryAreThoseOfMemoryAlone(t *testing.T) {
	t.Parallel()
	worlds := worlds(rapid.Int64Range(0, 1000), rapid.SampledFrom([]int64{0, 1, 250, 1000, 1000, 2000, 3000}))
	rapid.Check(t, func(t *rapid.T) {
		w := worlds.Draw(t, "world")
		if rapid.Bool().Draw(t, "by capacity") {
			w.shareByCapacity(t)
		}
		with, active := w.withMemory().tree()
		alone, _ := w.memoryAlone().tree()
		for _, active := range [][]bool{nil, active} {
			got, want := fairshare.Shares(with, w.total, active), fairshare.Shares(alone, memoryOf(w.total), active)
			for i, n := range with.Nodes {
				if got[i].Get(resource.Memory) != want[i].Get(resource.Memory) {
					t.Fatalf("%s has (%s), and of memory alone (%s)", n.Path, got[i], want[i])
				}
				if i > 0 && !got[i].Equal(memoryOf(got[i])) {
					t.Fatalf("%s has (%s)", n.Path, got[i])
				}
			}
		}
		steady, steadyAlone := fairshare.Shares(with, w.total, nil), fairshare.Shares(alone, memoryOf(w.total), nil)
		part, partAlone := fairshare.AbsoluteOf(with, w.total, steady), fairshare.AbsoluteOf(alone, memoryOf(w.total), steadyAlone)
		if !slices.Equal(part, partAlone) {
			t.Fatalf("parts of the cluster %v, and of memory alone %v", part, partAlone)
		}
		over, overAlone := fairshare.Overcommitted(with, steady), fairshare.Overcommitted(alone, steadyAlone)
		if w.total.Get(resource.Memory) > 0 && !slices.Equal(over, overAlone) {
			t.Fatalf("overcommitted %v, and of memory alone %v", over, overAlone)
		}
		for i, n := range with.Nodes {
			most, limited := n.Spec.Max.Lookup(resource.Memory)
			if mostAlone, limitedAlone := alone.Nodes[i].Spec.Max.Lookup(resource.Memory); most != mostAlone || limited != limitedAlone {
				t.Fatalf("%s may use %d (%t), and of memory alone %d (%t)", n.Path, most, limited, mostAlone, limitedAlone)
			}
		}
	})
}
