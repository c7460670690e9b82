package evict

import (
	"time"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// textLimit is what an event may say. Paths of queues are long.
const textLimit = 1024

var below = map[preemption.Kind]string{
	preemption.BelowGuaranteed: "its guarantee",
	preemption.BelowFairShare:  "its fair share",
}

// announcement is what a pod shows that is to go. It begins with what tells our announcements from those of others.
func announcement(v ledger.Victim) string {
	text := v1alpha1.PreemptionMessage + whatFor(v)
	if v.Due != 0 {
		text += "; it is evicted at " + time.Unix(0, v.Due).UTC().Format(time.RFC3339) + " if that is still so"
	}
	return writing.Cut(text, textLimit)
}

// eviction is what the event of an eviction says.
func eviction(v ledger.Victim) string {
	return writing.Cut(v1alpha1.PreemptionMessage+whatFor(v), textLimit)
}

// whatFor names the claim and the surplus, such as "root.a, which is below its fair share, for pod team/p: root.b has 4 cpu above its fair share
// of 8 cpu".
func whatFor(v ledger.Victim) string {
	text := string(v.ForQueue) + ", which is below " + below[v.Kind] + ", for pod " + v.ForNamespace + "/" + v.ForName
	if v.Above == "" {
		return text
	}
	return text + ": " + reason.Taking{Above: string(v.Above), Resource: v.Resource, Surplus: v.Surplus, Share: v.Share}.SurplusText()
}

// withdrawal is what a pod shows that stays after all.
func withdrawal(w ledger.Withdrawal) string {
	return writing.Cut(reason.Withdrawn{Why: w.Why, For: string(w.ForQueue)}.Text(), textLimit)
}
