package preemption_test

import (
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// twoClaims is a full node of 4, and two claims that are paid one after the other: the first for a pod of 1, the second for a pod of 2. On
// the node run small (1) and large (3), and small is preferred.
func twoClaims() (*preemption.World, *filters) {
	w := worldOf(cpu(4))
	first, second, rich := addQueue(w, "root.first", cpu(1)), addQueue(w, "root.second", cpu(2)), addQueue(w, "root.rich", cpu(0))
	addNode(w, cpu(4))
	run(w, 0, preemption.Candidate{UID: "small", Queue: rich, Request: cpu(1), Bound: 2})
	run(w, 0, preemption.Candidate{UID: "large", Queue: rich, Request: cpu(3), Bound: 1})
	claim(w, first, cpu(1), cpu(1), 1).Units[0].Pods[0].UID = "one"
	claim(w, second, cpu(2), cpu(2), 1).Units[0].Pods[0].UID = "two"
	return w, &filters{exact: w}
}

// outline says who goes and where claimants are placed. The check must find nothing wrong.
func outline(t *testing.T, w *preemption.World, f *filters) string {
	t.Helper()
	p := preemption.Make(*w, f)
	if faults := invariant.Plan(*w, p, f); len(faults) > 0 {
		t.Errorf("the check refuses the plan: %s", strings.Join(faults, "; "))
	}
	var places []string
	for _, c := range p.Claims {
		for _, at := range c.Nominations {
			places = append(places, at.UID+"@"+w.Nodes[at.Node].Name)
		}
		if c.Unpaid != "" {
			places = append(places, string(c.Unpaid))
		}
	}
	return strings.Join(uids(p), " ") + "|" + strings.Join(places, " ")
}

// The pod that goes for the second claim leaves room for the claimant of the first too, so the victim of the first stays. The filters are
// asked about the first claimant without either of them.
func TestARoomMayComeFromAVictimForALaterClaim(t *testing.T) {
	w, f := twoClaims()
	if got, want := outline(t, w, f), "large|one@node-0000 two@node-0000"; got != want {
		t.Errorf("the plan is %q, want %q", got, want)
	}
}

// The same with a group: its pod on another node goes for the second claim, and the first claimant uses its room here.
func TestARoomMayComeFromAGroupThatGoesForALaterClaim(t *testing.T) {
	w := worldOf(cpu(8))
	first, second, rich := addQueue(w, "root.first", cpu(1)), addQueue(w, "root.second", cpu(4)), addQueue(w, "root.rich", cpu(0))
	addNode(w, cpu(4))
	addNode(w, cpu(4))
	run(w, 0, preemption.Candidate{UID: "single", Queue: rich, Request: cpu(1), Bound: 2})
	run(w, 0, preemption.Candidate{UID: "g-1", Queue: rich, Request: cpu(3), Bound: 1, Gang: "g"})
	run(w, 1, preemption.Candidate{UID: "g-2", Queue: rich, Request: cpu(4), Bound: 1, Gang: "g"})
	claim(w, first, cpu(1), cpu(1), 1).Units[0].Pods[0].UID = "one"
	claim(w, second, cpu(4), cpu(4), 1).Units[0].Pods[0].UID = "four"
	if got, want := outline(t, w, &filters{exact: w}), "g-1 g-2|one@node-0000 four@node-0001"; got != want {
		t.Errorf("the plan is %q, want %q", got, want)
	}
}
