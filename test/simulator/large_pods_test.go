package simulator

import (
	"sync/atomic"
	"testing"
)

// Nodes are held for pods that smaller ones pass, beside groups, claims, limits, gates, restarts and all that users and kube-scheduler do: the books
// stay right, no more nodes are held than may be, none is held for a queue that is not owed it, and nothing waits that could start.
func TestLargePodsInRandomWorlds(t *testing.T) {
	var steps, groups, large, backfilled atomic.Int64
	seeds(t, 60, func(seed uint64, _ Options) error {
		o := gangOptions(seed)
		o.LargePods = 5 * millisecond * int64(1+seed%40)
		obs := Generate(seed, o)
		obs.Nodes = nil
		obs.Nodes = append(obs.Nodes, wideNodes(1+int(seed%3))...)
		w := Start(seed, obs, o)
		err := w.Run(400)
		if err == nil {
			err = w.Close(20000)
		}
		steps.Add(int64(w.Steps))
		groups.Add(int64(w.Holds))
		large.Add(int64(w.LargeHolds))
		backfilled.Add(int64(w.Backfilled))
		return err
	})
	t.Cleanup(func() {
		t.Logf("%d steps: nodes were held %d times for groups, and %d times for large pods; %d pods used them meanwhile",
			steps.Load(), groups.Load(), large.Load(), backfilled.Load())
		if (large.Load() == 0 || backfilled.Load() == 0) && !t.Failed() && !testing.Short() && *seedFlag == 0 {
			t.Error("no node was held for a large pod, or none was used meanwhile")
		}
	})
}
