package simulator

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// With the calculator Memory, the pods of a world start in the order in which they would start if there were no other resource.
func TestTheOrderWithMemoryIsThatOfMemoryAlone(t *testing.T) {
	started, moved := 0, 0
	for seed := range uint64(100) {
		dominant := calmObjects(seed)
		with, alone := dominant, dominant
		with.Queues, alone.Pods, alone.Nodes = slices.Clone(with.Queues), slices.Clone(alone.Pods), slices.Clone(alone.Nodes)
		for i := range with.Queues {
			if d := &with.Queues[i]; d.Path == queue.Root {
				d.Spec.Calculator = queue.MemoryCalculator
			}
		}
		for i := range alone.Pods {
			alone.Pods[i].Request = size{memory: sizeOf(alone.Pods[i].Request)[memory]}.list()
		}
		for i := range alone.Nodes {
			alone.Nodes[i].Allocatable = size{memory: sizeOf(alone.Nodes[i].Allocatable)[memory]}.list()
		}
		order := startOrder(t, seed, with)
		if want := startOrder(t, seed, alone); !slices.Equal(order, want) {
			t.Errorf("seed %d: pods start as %v, and of memory alone as %v", seed, order, want)
		}
		started += len(order)
		if !slices.Equal(order, startOrder(t, seed, dominant)) {
			moved++
		}
	}
	if started < 1000 || moved < 50 {
		t.Errorf("%d pods started, and in %d worlds otherwise than with Dominant: the test lost its subject", started, moved)
	}
}

func startOrder(t *testing.T, seed uint64, obs Objects) (uids []ledger.UID) {
	t.Helper()
	w := Start(seed, obs, Options{Calm: true, Every: -1})
	if err := w.Close(100000); err != nil {
		t.Fatal(err)
	}
	for _, r := range w.Reserved {
		uids = append(uids, r.UID)
	}
	return uids
}
