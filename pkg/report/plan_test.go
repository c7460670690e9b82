package report

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

var planNow = time.Date(2026, 1, 1, 1, 2, 0, 0, time.UTC).UnixNano()

// taken is the document's Scenario A with larger pods: busy holds 720Gi and 180 cores, in pods of a quarter of
// that. sometimes-busy is owed 520Gi and 130 cores; two pods of 360Gi and 90 cores each would exceed that.
func taken() Plan {
	const sometimes, busy = 2, 1
	claim := preemption.Claim{
		Queue: sometimes, Kind: preemption.BelowFairShare, Since: planNow - int64(time.Minute), Target: of(150, 600),
		Units: []preemption.Unit{
			{Pods: []preemption.Claimant{{UID: "s1", Queue: sometimes, Request: of(90, 360)}}},
			{Pods: []preemption.Claimant{{UID: "s2", Queue: sometimes, Request: of(90, 360)}}},
		},
	}
	victim := func(uid string, surplus int64) preemption.Victim {
		return preemption.Victim{UID: uid, Queue: busy, For: "s1", ForQueue: sometimes, Above: busy, Resource: resource.Memory, Surplus: surplus * gi}
	}
	return Plan{Now: planNow, Preemption: picture.Preemption{
		World: preemption.World{
			Total: of(200, 800),
			Queues: []preemption.Queue{
				{Path: "root", Parent: -1, Entitlement: of(200, 800), Usage: of(200, 800)},
				{Path: "root.busy", Entitlement: of(50, 200), Usage: of(180, 720)},
				{Path: "root.sometimes-busy", Entitlement: of(150, 600), Usage: of(20, 80)},
			},
			Nodes: []preemption.Node{{Name: "node-0"}}, Claims: []preemption.Claim{claim}, Settings: preemption.DefaultSettings(),
		},
		Plan: preemption.Plan{
			Claims: []preemption.Payment{{
				Claim: claim, Owed: of(130, 520), Nominations: []preemption.Nomination{{UID: "s1", Queue: sometimes}}, Unpaid: reason.NothingOwed,
			}},
			Victims: []preemption.Victim{victim("b1", 520), victim("b2", 340)},
			Taken:   of(90, 360),
			Ideal:   []resource.List{of(200, 800), of(50, 200), of(150, 600)},
		},
		Pods: map[string]ledger.PodState{
			"s1": {Pod: ledger.Pod{Namespace: "night", Name: "report-1"}}, "b1": {Pod: ledger.Pod{Namespace: "day", Name: "etl-1"}},
			"b2": {Pod: ledger.Pod{Namespace: "day", Name: "etl-2"}},
		},
	}}
}

func value(t *testing.T, d Document) (v map[string]any) {
	t.Helper()
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("null in %s", text)
	}
	return v
}

// A queue with two claims: the sentence about a victim has the amount of the claim for which it goes.
func TestAVictimGoesForTheClaimOfItsPod(t *testing.T) {
	p := taken()
	second := p.Plan.Claims[0]
	second.Kind, second.Owed, second.Nominations = preemption.BelowGuaranteed, of(7, 28), []preemption.Nomination{{UID: "s2", Queue: 2}}
	p.Plan.Claims = append(p.Plan.Claims, second)
	p.Plan.Victims[1].For = "s2"
	for i, want := range []string{"root.sometimes-busy is owed 520Gi", "root.sometimes-busy is owed 28Gi"} {
		if got := p.reason(p.Plan.Victims[i]); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want it to end with %q", got, want)
		}
	}
}

// NothingOwed while all pods of the claim have nodes in this plan: the answer speaks of no next pod.
func TestAClaimWithoutAPodThatIsLeft(t *testing.T) {
	p := taken()
	c := &p.Plan.Claims[0]
	c.Units = []preemption.Unit{{Pods: []preemption.Claimant{{UID: "s1", Request: of(10, 40)}}}}
	want := "root.sometimes-busy is still owed 120 cpu, 480Gi memory, and all pods for which it claims have nodes by now"
	if got := p.unpaid(*c); got != want {
		t.Errorf("got %q", got)
	}
	c.Units[0].Pods = append(c.Units[0].Pods, preemption.Claimant{UID: "s9", Request: of(200, 800)})
	if got := p.unpaid(*c); !strings.Contains(got, "less than its next pod asks for") {
		t.Errorf("with a pod that is left: %q", got)
	}
	p.Plan.Claims = append(p.Plan.Claims, preemption.Payment{Nominations: []preemption.Nomination{{UID: "s9"}}})
	if got := p.unpaid(p.Plan.Claims[0]); got != want {
		t.Errorf("with a pod that another claim has placed: %q", got)
	}
}

// The shape that scripts rely on; the documentation has the same text.
func TestThePlansJSON(t *testing.T) {
	amounts := func(cpu, memory string) map[string]any { return map[string]any{"cpu": cpu, "memory": memory} }
	got := value(t, taken())
	want := map[string]any{
		"claims": []any{map[string]any{
			"queue": "root.sometimes-busy", "claim": amounts("130", "520Gi"), "since": "2026-01-01T01:01:00Z", "kind": "FairShare",
			"pods": 1.0, "unpaid": amounts("40", "160Gi"), "reason": "NothingOwed",
			"message": "root.sometimes-busy is still owed 40 cpu, 160Gi memory, less than its next pod asks for, and no pod is taken for a part of one; it comes as pods end",
		}},
		"victims": []any{
			map[string]any{
				"pod": "day/etl-1", "queue": "root.busy", "node": "node-0", "for": "night/report-1",
				"reason": "root.busy has 520Gi memory above its fair share of 200Gi; root.sometimes-busy is owed 520Gi",
			},
			map[string]any{
				"pod": "day/etl-2", "queue": "root.busy", "node": "node-0", "for": "night/report-1",
				"reason": "root.busy has 340Gi memory above its fair share of 200Gi; root.sometimes-busy is owed 520Gi",
			},
		},
		"ideal": map[string]any{"root": amounts("200", "800Gi"), "root.busy": amounts("50", "200Gi"), "root.sometimes-busy": amounts("150", "600Gi")},
		"taken": amounts("90", "360Gi"), "podSeconds": 0.0, "observeOnly": false, "faults": []any{}, "stopped": "", "message": "",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	empty := map[string]any{
		"claims": []any{}, "victims": []any{}, "ideal": map[string]any{}, "taken": map[string]any{}, "podSeconds": 0.0, "observeOnly": false, "faults": []any{}, "stopped": "", "message": "",
	}
	if got := value(t, Plan{}); !reflect.DeepEqual(got, empty) {
		t.Errorf("of nothing got %v", got)
	}
}

func TestThePlansLines(t *testing.T) {
	want := `QUEUE                 BELOW       SINCE   OWED         PODS   UNPAID      REASON
root.sometimes-busy   FairShare     60s   130c 520Gi      1   40c 160Gi   NothingOwed

What is not paid:
  root.sometimes-busy is still owed 40 cpu, 160Gi memory, less than its next pod asks
    for, and no pod is taken for a part of one; it comes as pods end

2 pods would go, 90c 360Gi together:
POD         QUEUE       NODE     FOR
day/etl-1   root.busy   node-0   night/report-1
day/etl-2   root.busy   node-0   night/report-1

Why:
  root.busy has 520Gi memory above its fair share of 200Gi; root.sometimes-busy is
    owed 520Gi

If every queue had what the shares say, and no more than it asks for:
QUEUE                 ALLOCATED    FAIR-SHARE   IDEAL
root                  200c 800Gi   200c 800Gi   200c 800Gi
root.busy             180c 720Gi   50c 200Gi    50c 200Gi
root.sometimes-busy   20c 80Gi     150c 600Gi   150c 600Gi`
	if got := joined(taken().Lines(Layout{Width: 85, Now: planNow})); got != want {
		t.Errorf("got\n%s", got)
	}
	for width := 20; width < 200; width++ {
		for _, l := range []Layout{{Width: width, Now: planNow}, {Width: width, Terminal: true, Now: planNow}} {
			checkWidth(t, taken().Lines(l), width)
			checkWidth(t, taken().Since(taken(), l), width)
		}
	}
	wrong := taken()
	wrong.Faults = []string{"root.busy is pushed under its share"}
	const fault = "This plan breaks a rule, and the scheduler would evict nobody by it (please report it):\n  root.busy is pushed under its share\n"
	if got := joined(wrong.Lines(Layout{})); !strings.Contains(got, fault) {
		t.Errorf("got\n%s", got)
	}
	watched := taken()
	watched.World.Settings.ObserveOnly = true
	if got := joined(watched.Lines(Layout{})); !strings.Contains(got, "2 pods would go, 90c 360Gi together (Queue root says observeOnly: none will):") {
		t.Errorf("got\n%s", got)
	}
}

func TestAPlanThatIsNotMadeSaysWhy(t *testing.T) {
	p := taken()
	p.Plan.Victims, p.Plan.Taken, p.Plan.Ideal = nil, resource.List{}, nil
	p.Plan.Claims[0].Nominations, p.Plan.Claims[0].Unpaid = nil, ""
	p.Plan.Stopped, p.Plan.StoppedFor, p.Plan.StoppedAt = preemption.NotBusy, resource.Memory, 600*gi
	const want = "nothing is taken while the cluster is not busy: of 800Gi memory pods hold 600Gi, and preemption begins above 0.8 of what is used most " +
		"(preemption.utilizationThreshold in Queue root)"
	if got := value(t, p); got["stopped"] != "NotBusy" || got["message"] != want {
		t.Errorf("got %v", got)
	}
	if got := joined(p.Lines(Layout{Now: planNow})); !strings.Contains(got, "\n\nWhat is not paid:\n  "+want) || strings.Contains(got, "would go") {
		t.Errorf("got\n%s", got)
	}
}

func TestStarvedQueuesHaveARowForEachThingTheyAreBelow(t *testing.T) {
	minute := int64(time.Minute)
	state := func(path string, s ledger.Starvation) ledger.QueueState {
		return ledger.QueueState{Path: queue.Path(path), Starvation: s}
	}
	s := NewStarved(ledger.Snapshot{Queues: []ledger.QueueState{
		state("root", ledger.Starvation{}),
		state("root.both", ledger.Starvation{
			BelowFairShareSince: planNow - 2*minute, FairShareDue: planNow + 3*minute, BelowGuaranteedSince: planNow - 2*minute, GuaranteedDue: planNow - minute,
			Claiming: true, Owed: of(1, 4), GuaranteedClaims: true, GuaranteedOwed: of(1, 4),
		}),
		state("root.full", ledger.Starvation{Claiming: true, Owed: of(2, 8), FairShareClaims: true, FairShareOwed: of(2, 8)}),
		state("root.soon", ledger.Starvation{BelowFairShareSince: planNow - minute, FairShareDue: planNow + 30*int64(time.Second)}),
		state("root.two", ledger.Starvation{ // both claims are open, each for its own amount and since its own timeout
			BelowFairShareSince: planNow - 3*minute, FairShareDue: planNow - 2*minute, BelowGuaranteedSince: planNow - 2*minute, GuaranteedDue: planNow - minute,
			Claiming: true, Owed: of(5, 8), GuaranteedClaims: true, GuaranteedOwed: of(1, 8), FairShareClaims: true, FairShareOwed: of(5, 4),
		}),
		state("root.waits", ledger.Starvation{BelowFairShareSince: planNow - minute}),
	}}, []AnnouncedVictim{{
		Pod: ledger.PodState{Pod: ledger.Pod{UID: "v", Namespace: "day", Name: "etl-1", Node: "node-0", Announced: planNow - 5*int64(time.Second)}, Leaf: "root.busy"},
		For: "x/y", ForQueue: "root.both", Message: "Preempted by queue root.both: so it is",
	}})
	want := `QUEUE        BELOW        SINCE      DUE   OWED
root.both    Guaranteed      2m      now   1c 4Gi
root.both    FairShare       2m    in 3m   -
root.full    FairShare        -      now   2c 8Gi
root.soon    FairShare      60s   in 30s   -
root.two     Guaranteed      2m      now   1c 8Gi
root.two     FairShare       3m      now   5c 4Gi
root.waits   FairShare      60s    never   -

Pods that are about to be evicted:
POD         QUEUE       NODE     FOR   FOR-QUEUE   SINCE
day/etl-1   root.busy   node-0   x/y   root.both      5s`
	if got := joined(s.Lines(Layout{Width: 80, Now: planNow})); got != want {
		t.Errorf("got\n%s", got)
	}
	rows := value(t, s)["starved"].([]any)
	first := map[string]any{
		"queue": "root.both", "kind": "Guaranteed", "since": "2026-01-01T01:00:00Z", "due": "2026-01-01T01:01:00Z", "claiming": true,
		"owed": map[string]any{"cpu": "1", "memory": "4Gi"},
	}
	if !reflect.DeepEqual(rows[0], any(first)) || len(rows) != 7 {
		t.Errorf("got %v", rows)
	}
	victim := map[string]any{
		"pod": "day/etl-1", "queue": "root.busy", "node": "node-0", "for": "x/y", "forQueue": "root.both", "since": "2026-01-01T01:01:55Z",
		"message": "Preempted by queue root.both: so it is",
	}
	if got := value(t, s)["victims"]; !reflect.DeepEqual(got, []any{victim}) {
		t.Errorf("got %v", got)
	}
	if got := joined(Starved{}.Lines(Layout{Width: 80})); got != "(no queue is starved, and no eviction is announced)" {
		t.Errorf("got %q", got)
	}
	value(t, Starved{})
}

func joined(lines []string) string { return strings.Join(lines, "\n") }
