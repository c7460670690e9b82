package simulator

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Where there is room for all, a tree that shares by capacity runs the same pods in the same queues as one with the same numbers
// for weights, and every queue ends with the same allocation.
func TestWithoutContentionCapacitiesAreWeights(t *testing.T) {
	byCapacity, run := 0, resource.List{}
	for seed := range uint64(100) {
		capacities := calmObjects(seed)
		drawCapacities(seed, capacities.Queues)
		weights := capacities
		weights.Queues = nil
		for _, d := range capacities.Queues {
			d.Spec.MaxCapacity = queue.Limit{}
			if d.Spec.Capacity.Stated {
				byCapacity++
				d.Spec.Weight, d.Spec.Capacity = d.Spec.Capacity.Most, queue.Limit{}
			}
			weights.Queues = append(weights.Queues, d)
		}
		for i := range capacities.Queues {
			capacities.Queues[i].Spec.MaxCapacity = queue.Limit{}
		}
		with, err := allocated(seed, capacities)
		if err != nil {
			t.Fatal(err)
		}
		without, err := allocated(seed, weights)
		if err != nil {
			t.Fatal(err)
		}
		run = run.Add(with[queue.Root])
		for path, amounts := range with {
			if !amounts.Equal(without[path]) {
				t.Errorf("seed %d: %s has (%s) by capacity and (%s) by weight", seed, path, amounts, without[path])
			}
		}
	}
	if byCapacity < 50 || run.Get(resource.CPU) < 1_000_000 {
		t.Errorf("%d queues had a capacity, and (%s) ran: the test lost its subject", byCapacity, run)
	}
}

// calmObjects are a world with room for all of its pods.
func calmObjects(seed uint64) Objects {
	obs := Generate(seed, Options{Calm: true, Every: -1})
	for i := range obs.Queues {
		obs.Queues[i].Spec.Max = resource.List{}
	}
	for i := range obs.Nodes {
		obs.Nodes[i].Pods = 0
		obs.Nodes[i].Allocatable = size{cpu: 1e9, gpu: 1e6, memory: 1e6 * gib}.list()
	}
	return obs
}

// allocated runs a world to its end and returns what its queues hold.
func allocated(seed uint64, obs Objects) (map[queue.Path]resource.List, error) {
	w := Start(seed, obs, Options{Calm: true, Every: -1})
	if err := w.Close(100000); err != nil {
		return nil, err
	}
	out := map[queue.Path]resource.List{}
	for _, q := range w.Ledger.Snapshot().Queues {
		if q.Spec.Capacity.Stated != statesCapacity(obs, q) {
			return nil, fmt.Errorf("seed %d: %s is not in force as declared", seed, q.Path)
		}
		out[q.Path] = q.Allocated
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
