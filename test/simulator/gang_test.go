package simulator

import (
	"sync/atomic"
	"testing"
)

// gangOptions: half of the worlds with groups have limits, half of them gates, a quarter of them preemption and restarts, and a fifth an
// adversary.
func gangOptions(seed uint64) Options {
	o := Options{Every: 20, Limits: seed/2%2 == 0, Gates: seed/4%2 == 0, Groups: true}
	if seed%11 == 0 {
		o.Every = 1
	}
	o.Preemption = seed/8%4 == 0
	o.Adversary = seed/3%5 == 0
	o.LargePods = largePodPatience(seed)
	return o
}

// The worlds are small: 10,000 of them (-runs=10000) take two minutes on two cores. Pod groups come and go, are edited and deleted, lose
// pods midway and fail for reasons that the ledger does not know: none is ever bound in part, none holds anything at rest,
// none waits that could start, no two hold what the other needs, and no node is held for too long.
func TestGangsNeverDeadlock(t *testing.T) {
	var steps, whole, waited, rejections, kept, longest atomic.Int64
	var preempted together
	seeds(t, 200, func(seed uint64, _ Options) error {
		w := New(seed, gangOptions(seed))
		defer func() { preempted.add(w.Preempted()) }()
		err := w.Run(150)
		if err == nil {
			err = w.Close(20000)
		}
		steps.Add(int64(w.Steps))
		whole.Add(int64(w.Whole))
		waited.Add(int64(w.Waited))
		rejections.Add(int64(w.Rejections))
		kept.Add(int64(w.Holds))
		for old := longest.Load(); w.LongestHold > old && !longest.CompareAndSwap(old, w.LongestHold); old = longest.Load() {
		}
		return err
	})
	t.Cleanup(func() {
		t.Logf("%d steps: %d groups started; %d pods waited for theirs at Permit, %d of them went back; nodes were held %d times, for %d s at most",
			steps.Load(), whole.Load(), waited.Load(), rejections.Load(), kept.Load(), longest.Load()/second)
		preempted.report(t)
	})
}
