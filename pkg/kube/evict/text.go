package evict

import (
	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// textLimit is what an event may say. Paths of queues are long.
const textLimit = 1024

// announcement is what a pod shows that is to be evicted. Its beginning tells our announcements from those of others.
func announcement(v ledger.Victim) string {
	return writing.Cut(v1alpha1.PreemptionMessage+whatFor(v).Text(), textLimit)
}

// eviction is what the event of an eviction says.
func eviction(v ledger.Victim) string {
	now := whatFor(v)
	now.Due = 0
	return writing.Cut(v1alpha1.PreemptionMessage+now.Text(), textLimit)
}

func whatFor(v ledger.Victim) reason.Eviction {
	e := reason.Eviction{
		Taking: reason.Taking{Above: string(v.Above), Resource: v.Resource, Surplus: v.Surplus, Share: v.Share, For: string(v.ForQueue)},
		Below:  reason.BelowFairShare, Pod: v.ForNamespace + "/" + v.ForName, Due: v.Due,
	}
	if v.Kind == preemption.BelowGuaranteed {
		e.Below = reason.BelowGuaranteed
	}
	return e
}

// withdrawal is what a pod shows that is not evicted after all.
func withdrawal(w ledger.Withdrawal) string {
	return writing.Cut(reason.Withdrawn{Why: w.Why, For: string(w.ForQueue)}.Text(), textLimit)
}
