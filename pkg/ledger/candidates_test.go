package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// crowd is ten nodes of 4 cpu, of which those of the given numbers are full.
func crowd(t *testing.T, full ...int) *fixture {
	t.Helper()
	f := &fixture{leader: newLeader(Options{}), t: t, now: 100 * sec}
	f.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
	for i := range 10 {
		name := fmt.Sprintf("node-%d", i)
		f.ObserveNode(Node{Name: name, Allocatable: amounts(4, 16), Usable: true})
		if slices.Contains(full, i) {
			f.pod(UID("full-"+name), "", asks(4, 16), foreignOn(name))
		}
	}
	f.pod("p", "a")
	f.pod("q", "a")
	f.wantPods(f.choose(), "p")
	return f
}

func TestCandidatesHaveRoomAndTakeTurns(t *testing.T) {
	f := crowd(t, 2, 3, 7)
	assumed := f.pods["p"].assumedOn.Name
	seen := map[string]int{}
	for range 6 {
		names := f.Candidates("p", 3, 0)
		if len(names) != 3 || names[0] != assumed {
			t.Fatalf("candidates %v, want three, first %s, where its room was taken", names, assumed)
		}
		for _, n := range names[1:] {
			seen[n]++
		}
	}
	if len(seen) != 6 || seen["node-2"]+seen["node-3"]+seen["node-7"] > 0 || seen[assumed] > 0 {
		t.Errorf("the others were %v, want each of the six with room", seen)
	}
	for name, n := range seen {
		if n != 2 {
			t.Errorf("%s was a candidate %d times of 6, want 2: twelve places for six nodes", name, n)
		}
	}
}

func TestNoCandidates(t *testing.T) {
	f := crowd(t)
	if names := f.Candidates("p", 3, 10); names != nil {
		t.Errorf("candidates %v in a small cluster", names)
	}
	if names := f.Candidates("q", 3, 0); names != nil {
		t.Errorf("candidates %v for a pod that was not released", names)
	}
	if names := f.Candidates("nobody", 3, 0); names != nil {
		t.Errorf("candidates %v for a pod that is not there", names)
	}
	if names := f.Candidates("p", 30, 0); len(names) != 10 {
		t.Errorf("candidates %v, want every node once", names)
	}
}
