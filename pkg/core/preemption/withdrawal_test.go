package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// whyItStays lists every cause for which a victim stays, each judged for itself. The first counts.
func whyItStays(v *preemption.VictimInput, now int64) (causes []reason.WithdrawnCause) {
	note := func(cause reason.WithdrawnCause, is bool) {
		if is {
			causes = append(causes, cause)
		}
	}
	note(reason.NoClaimant, !v.Nominated)
	note(reason.NotPreemptible, !v.Preemptible)
	for _, q := range v.From {
		// The cluster has 100 cores and 100 Gi, so amounts are percentages, and the larger one is the dominant share.
		dominant := func(l resource.List) int64 { return max(l.Get(resource.CPU)/1000, l.Get(resource.Memory)/gi) }
		note(reason.BelowShare, dominant(q.Usage) < dominant(q.FairShare))
		lacks := func(n resource.Name) bool { return q.Usage.Get(n) < q.Guaranteed.Get(n) }
		switch v.Pays { // cpu comes before memory
		case resource.CPU:
			note(reason.BelowGuarantee, lacks(resource.CPU))
		case resource.Memory:
			note(reason.BelowGuarantee, lacks(resource.CPU) || lacks(resource.Memory))
		}
	}
	note(reason.NotNeeded, v.RoomWithout && !v.Conflicts && !v.InGroup)
	note(reason.BudgetRefuses, v.RefusedSince > 0 && now-v.RefusedSince >= 30*second)
	return append(causes, reason.NotWithdrawn)
}

func TestWithdrawEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mostly := func(name string) bool { return rapid.IntRange(0, 9).Draw(t, name) > 0 }
		v := preemption.VictimInput{
			Nominated: mostly("nominated"), Preemptible: mostly("preemptible"), Total: amounts(100, 100), Request: amounts(1, 1),
			Pays:      rapid.SampledFrom([]resource.Name{"", resource.CPU, resource.Memory}).Draw(t, "pays"),
			Conflicts: !mostly("conflicts"), InGroup: !mostly("in a group"), RoomWithout: rapid.Bool().Draw(t, "room"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "queues") {
			amount := func(name string) int64 { return rapid.Int64Range(28, 31).Draw(t, name) }
			v.From = append(v.From, preemption.QueueAfter{
				Rule:  queue.Rule{},
				Usage: amounts(amount("cpu used")+1, amount("memory used")), FairShare: amounts(amount("cpu"), amount("memory")),
				Guaranteed: amounts(amount("cpu guaranteed"), amount("memory guaranteed")),
			})
		}
		now := rapid.Int64Range(60, 64).Draw(t, "now") * second
		if rapid.Bool().Draw(t, "refused") {
			v.RefusedSince = rapid.Int64Range(28, 36).Draw(t, "since") * second
		}
		want := whyItStays(&v, now)[0]
		if got := preemption.Withdraw(&v, now); got != want {
			t.Fatalf("%+v: %q, want %q", v, got, want)
		}
	})
}
