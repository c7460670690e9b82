package simulator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Where there is room for all, a tree that shares by capacity runs the same pods in the same queues as one with the same numbers for weights, and every
// queue ends with the same allocation. The limits of users and on applications are the same. Of queues with equal parts, by capacity the larger one goes first, and by weight the first name. Where these are the
// same queue, both trees decide the same, in the same order.
func TestWithoutContentionCapacitiesAreWeights(t *testing.T) {
	byCapacity, run := 0, resource.List{}
	for seed := range uint64(100) {
		for _, inOrder := range []bool{false, true} {
			capacities := calmObjects(seed)
			drawCapacities(seed, capacities.Queues)
			drawEntryLimits(seed, Options{}, capacities.Queues)
			if inOrder {
				largerFirst(capacities.Queues)
			}
			weights := capacities
			weights.Queues = nil
			for i := range capacities.Queues {
				d := &capacities.Queues[i]
				d.Spec.MaxCapacity, d.Spec.Users.ShareFactor = queue.Limit{}, queue.AtMost(1_000_000_000)
				weighted := *d
				if d.Spec.Capacity.Stated {
					byCapacity++
					weighted.Spec.Weight, weighted.Spec.Capacity = d.Spec.Capacity.Most, queue.Limit{}
				}
				weights.Queues = append(weights.Queues, weighted)
			}
			with, err := decided(seed, capacities)
			if err != nil {
				t.Fatal(err)
			}
			without, err := decided(seed, weights)
			if err != nil {
				t.Fatal(err)
			}
			run = run.Add(with.allocated[queue.Root])
			for path, amounts := range with.allocated {
				if !amounts.Equal(without.allocated[path]) {
					t.Errorf("seed %d: %s has (%s) by capacity and (%s) by weight", seed, path, amounts, without.allocated[path])
				}
			}
			if inOrder && !slices.Equal(with.order, without.order) {
				t.Errorf("seed %d: by capacity\n%v\nby weight\n%v", seed, with.order, without.order)
			}
		}
	}
	if byCapacity < 100 || run.Get(resource.CPU) < 2_000_000 {
		t.Errorf("%d queues had a capacity, and (%s) ran: the test lost its subject", byCapacity, run)
	}
}

// largerFirst gives the larger capacities of siblings to the first names. Below a queue that has none by that, they share by weight.
func largerFirst(qs []queue.Declaration) {
	children, spec := map[queue.Path][]*queue.Spec{}, map[queue.Path]*queue.Spec{}
	slices.SortFunc(qs, func(a, b queue.Declaration) int { return queue.ComparePaths(a.Path, b.Path) })
	for i := range qs {
		d := &qs[i]
		spec[d.Path] = &d.Spec
		if d.Spec.Capacity.Stated {
			children[d.Path.Parent()] = append(children[d.Path.Parent()], &d.Spec)
		}
	}
	for _, siblings := range children { // each for itself: order does not matter
		var parts []int64
		for _, s := range siblings {
			parts = append(parts, s.Capacity.Most)
		}
		slices.Sort(parts)
		for i, s := range siblings {
			s.Capacity.Most = parts[len(parts)-1-i]
		}
	}
	for parent, siblings := range children {
		for _, s := range siblings {
			if spec[parent].Capacity == queue.AtMost(0) {
				s.Capacity = queue.Limit{}
			}
		}
	}
}

// calmObjects are a world with room for all of its pods.
func calmObjects(seed uint64) Objects {
	obs := Generate(seed, Options{Calm: true, Every: -1})
	for i := range obs.Queues {
		obs.Queues[i].Spec.Max = resource.List{}
		obs.Queues[i].Spec.MaxDriverShare = queue.AtMost(int64(900 + i)) // stated: the defaults differ
	}
	for i := range obs.Nodes {
		obs.Nodes[i].Pods = 0
		obs.Nodes[i].Allocatable = size{cpu: 1e9, gpu: 1e6, memory: 1e6 * gib}.list()
	}
	return obs
}

// decisions are what became of a world.
type decisions struct {
	order     []Reservation
	allocated map[queue.Path]resource.List
}

// decided runs a world to its end.
func decided(seed uint64, obs Objects) (decisions, error) {
	w := Start(seed, obs, Options{Calm: true, Every: -1})
	if err := w.Close(100000); err != nil {
		return decisions{}, err
	}
	out := decisions{order: w.Reserved, allocated: map[queue.Path]resource.List{}}
	for _, q := range w.Ledger.Snapshot().Queues {
		if q.Spec.Capacity.Stated != statesCapacity(obs, q) {
			return decisions{}, fmt.Errorf("seed %d: %s is not in force as declared", seed, q.Path)
		}
		out.allocated[q.Path] = q.Allocated
	}
	return out, nil
}

func statesCapacity(obs Objects, q ledger.QueueState) bool {
	for _, d := range obs.Queues {
		if d.Path == q.Path {
			return d.Spec.Capacity.Stated
		}
	}
	return false
}
