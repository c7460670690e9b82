package picture

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A guarantee helps the pods that ask for what is lacking of it, and the answer names that. Others may be helped for the fair share.
func TestWhichPodsPreemptionHelps(t *testing.T) {
	list := func(cpu, gpus int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: "nvidia.com/gpu", Value: gpus})
	}
	guarantee := reason.Reason{Code: reason.BelowGuaranteed, Queue: "root.a", Resource: "nvidia.com/gpu", Used: 1, Asked: 6,
		Details: reason.Shortfall{Entitled: 4, Since: 10, Until: 20}}
	share := reason.Reason{Code: reason.BelowFairShare, Queue: "root.a", Details: reason.Shortfall{Since: 5, Until: 30}}
	var nothing reason.Reason
	for name, c := range map[string]struct {
		request    resource.List
		guaranteed int64 // due
		fair       int64
		want       reason.Reason
	}{
		"a pod that asks for a GPU":            {list(1000, 1), 20, 0, guarantee},
		"one that does not":                    {list(1000, 0), 20, 0, nothing},
		"one that does not, for the share":     {list(1000, 0), 20, 30, share},
		"one that asks, before the fair share": {list(1000, 1), 20, 30, guarantee},
		"the fair share is due first":          {list(1000, 1), 40, 30, share},
	} {
		s := starved{rule: queue.DefaultSpec().Rule(), QueueState: ledger.QueueState{
			Path: "root.a", Spec: queue.Spec{Guaranteed: list(40_000, 4)}, Allocated: list(60_000, 1), Demand: list(90_000, 6),
			Starvation: ledger.Starvation{BelowGuaranteedSince: 10, GuaranteedDue: c.guaranteed, BelowFairShareSince: 5, FairShareDue: c.fair},
		}}
		if got, helps := s.helps(c.request); got != c.want || helps != (c.want != nothing) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
