package reason_test

import (
	"os"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpuAndMemory(milli, bytes int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: milli}, resource.Entry{Name: resource.Memory, Value: bytes})
}

// All causes: each has a sentence.
var (
	unpaidCauses    = []reason.UnpaidCause{reason.NothingOwed, reason.NoSurplus, reason.InDeadZone, reason.NoPlace, reason.LimitForbids, reason.RoundSpent}
	withdrawnCauses = []reason.WithdrawnCause{reason.NoClaimant, reason.NotPreemptible, reason.BelowShare, reason.BelowGuarantee,
		reason.NotNeeded, reason.BudgetRefuses, reason.NotPlanned}
)

func TestSentencesOfPreemption(t *testing.T) {
	taking := reason.Taking{
		Above: "root.busy", Resource: resource.Memory, Surplus: 520 * gi, Share: 200 * gi, For: "root.sometimes-busy", Owed: cpuAndMemory(130_000, 520*gi),
	}
	gang := taking
	gang.Owed, gang.With = cpuAndMemory(130_000, 0), "team/ring"
	byCPU := taking
	byCPU.Resource, byCPU.Surplus, byCPU.Share = resource.CPU, 130_000, 50_000
	for name, c := range map[string]struct{ got, want string }{
		"a victim": {
			taking.Text(), "root.busy has 520Gi memory above its fair share of 200Gi; root.sometimes-busy is owed 520Gi",
		},
		"a victim, by cpu": {
			byCPU.Text(), "root.busy has 130 cpu above its fair share of 50 cpu; root.sometimes-busy is owed 130 cpu",
		},
		"a victim's group, of a queue that is owed something else": {
			gang.Text(), "root.busy has 520Gi memory above its fair share of 200Gi; root.sometimes-busy is owed 130 cpu; it goes with its pod group team/ring",
		},
		"an announcement": {
			reason.Eviction{Taking: byCPU, Below: reason.BelowFairShare, Pod: "team/p", Due: 1_700_000_000e9}.Text(),
			"root.sometimes-busy, which is below its fair share, for pod team/p: root.busy has 130 cpu above its fair share of 50 cpu; " +
				"it is evicted at 2023-11-14T22:13:20Z if that is still so",
		},
		"an eviction of which only the claim is known": {
			reason.Eviction{Taking: reason.Taking{For: "root.a"}, Below: reason.BelowGuaranteed, Pod: "team/p"}.Text(),
			"root.a, which is below its guarantee, for pod team/p",
		},
		"a plan without victims": {
			reason.Round{Places: 3}.Text(), "Places found for waiting pods: 3; pods of other queues to be evicted for them: 0",
		},
		"a plan that is only observed": {
			reason.Round{Places: 3, Victims: 2, PodSeconds: 70, ObserveOnly: true}.Text(),
			"Places found for waiting pods: 3; pods of other queues to be evicted for them: 2, which have run for 70 pod-seconds; observeOnly: none of them is",
		},
		"a plan that is wrong": {reason.PlanRefused("a victim goes twice"), "No pod is evicted by a plan that breaks a rule: a victim goes twice"},
		"accounts that are wrong": {
			reason.AccountsWrong("root.a: usage"), "The scheduler's account is wrong, and preemption is stopped: root.a: usage",
		},
		"a claim in the next round": {
			reason.Unpaid{Why: "RoundSpent", Queue: "root.a", Left: cpuAndMemory(1500, 2*gi)}.Text(),
			"root.a is still owed 1500m cpu, 2Gi memory, and one round takes no more; the rest comes in the next (rounds are bounded by the number of pods that they " +
				"look at, and by preemption.totalPerRound and naturalTerminationFactor in Queue root, where pods count that are announced and still run)",
		},
		"a cause of tomorrow": {reason.Unpaid{Why: "Other", Queue: "root.a"}.Text(), "root.a is still owed nothing: Other"},
		"a cluster with room": {
			reason.NotBusy{Resource: resource.CPU, Used: 70_000, Total: 100_000, Threshold: 800}.Text(),
			"nothing is taken while the cluster is not busy: of 100 cpu pods hold 70, and preemption begins above 0.8 of what is used most " +
				"(preemption.utilizationThreshold in Queue root)",
		},
		"a victim whose claimant is gone": {
			reason.Withdrawn{Why: "NoClaimant", For: "root.a"}.Text(), "it is not evicted: no pod of root.a is to have its room any more",
		},
		"a victim that is not needed": {reason.Withdrawn{Why: "NotNeeded", For: "root.a"}.Text(), "it is not evicted: root.a has room without it"},
		"one victim":                  {reason.RoomIsMade("n-1", 1), "room is being made for it on node n-1, where 1 pod is announced to be evicted"},
		"two victims":                 {reason.RoomIsMade("n-1", 2), "room is being made for it on node n-1, where 2 pods are announced to be evicted"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got:  %s\nwant: %s", c.got, c.want)
			}
		})
	}
}

// Every cause has a sentence of its own, and a row in the guide.
func TestCausesOfUnpaidClaimsAreExplained(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/preemption.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(code string) {
		if !strings.Contains(string(guide), "| `"+code+"` |") {
			t.Errorf("docs/preemption.md has no row for %s", code)
		}
	}
	row(string(preemption.NotBusy))
	seen := map[string]bool{}
	for _, code := range unpaidCauses {
		row(string(code))
		text := reason.Unpaid{Why: code, Queue: "root.a", Left: cpuAndMemory(1000, 0)}.Text()
		if seen[text] || strings.Contains(text, string(code)) || strings.HasSuffix(text, ".") {
			t.Errorf("%s: %s", code, text)
		}
		seen[text] = true
	}
}

func TestEveryWithdrawalIsExplained(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/preemption.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range withdrawnCauses {
		text := reason.Withdrawn{Why: code}.Text()
		if strings.HasSuffix(text, string(code)) || strings.Contains(text, "  ") {
			t.Errorf("of %s it is said %q", code, text)
		}
		if !strings.Contains(string(guide), "| `"+string(code)+"` |") {
			t.Errorf("docs/preemption.md has no row for %s", code)
		}
	}
}
