package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// The document's scenario A, from the moment the timeout passes: 65 pods of busy go, and 65 of sometimes-busy come.
func TestScenarioAEndsWhereTheDocumentSays(t *testing.T) {
	f := scenarioA(t)
	f.now += 60 * sec
	if !f.clocks() {
		t.Fatal("no round is due")
	}
	w, _ := f.Preemption(f.now)
	plan := preemption.Make(w, f.Feasibility(w))
	if len(plan.Victims) != 65 || len(plan.Claims) != 1 || len(plan.Claims[0].Nominations) != 65 || plan.Claims[0].Unpaid != "" {
		t.Fatalf("%d victims, claims %+v", len(plan.Victims), plan.Claims)
	}
	if stale := f.Adopt(w, plan, f.now); stale > 0 {
		t.Fatalf("%d places are stale", stale)
	}
	f.sound()
	for _, v := range f.PendingActions(f.now).Announce {
		f.announce(v.UID)
	}
	f.now += 15 * sec
	for _, v := range f.PendingActions(f.now).Evict {
		f.Evicted(v.UID, f.now)
		f.forget(v.UID)
		f.pod(v.UID+"-again", "busy", at(f.now)) // its owner makes it again
	}
	f.TakeWoken(f.now)
	for next := f.choose(); len(next) > 0; next = f.choose() {
		f.bind(next...)
	}
	f.wantUsage("root.busy", "cpu=25 memory=100Gi")
	f.wantUsage("root.sometimes-busy", "cpu=75 memory=300Gi")
	for range 5 {
		f.now += 60 * sec
		if f.clocks() {
			w, _ := f.Preemption(f.now)
			t.Errorf("there is more to be paid: %v", fmt.Sprint(w.Claims))
		}
	}
	f.wantStarvation("root.sometimes-busy", Starvation{})
	f.wantStarvation("root.busy", Starvation{})
}

// What the budget of a round leaves comes in the next: after the interval, though nothing has happened in between.
func TestTheRestOfARoundComesAfterTheInterval(t *testing.T) {
	f := scenarioA(t)
	f.declare("root", func(d *queue.Declaration) { d.Spec.Preemption.TotalPerRound = queue.AtMost(100) }) // 10 of 100 cpu
	f.now += 60 * sec
	for round, want := range []int{10, 20, 30, 40, 50, 60, 65} {
		if !f.clocks() {
			t.Fatalf("round %d is not due", round+1)
		}
		w, _ := f.Preemption(f.now)
		f.Adopt(w, preemption.Make(w, f.Feasibility(w)), f.now)
		f.sound()
		if got := len(f.Victims()); got != want {
			t.Errorf("after %d rounds %d pods are to go, want %d", round+1, got, want)
		}
		if f.clocks() {
			t.Errorf("another round is due at once after round %d", round+1)
		}
		f.now += 3 * sec
	}
	if f.clocks() {
		t.Error("a round is due although nothing is left")
	}
}
