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
		t.Fatalf("%d nominations are stale", stale)
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

// What the budget of a round leaves comes in a later one: not while the victims run, but soon after they are gone.
func TestTheRestOfARoundComesWhenItsVictimsAreGone(t *testing.T) {
	f := scenarioA(t)
	f.declare("root", func(d *queue.Declaration) { d.Spec.Preemption.TotalPerRound = queue.AtMost(100) }) // 10 of 100 cpu
	f.now += 60 * sec
	round := func() int {
		if !f.clocks() {
			return 0
		}
		w, _ := f.Preemption(f.now)
		plan := preemption.Make(w, f.Feasibility(w))
		f.Adopt(w, plan, f.now)
		f.sound()
		return len(plan.Victims)
	}
	for i, want := range []int{10, 10, 10, 10, 10, 10, 5} {
		if got := round(); got != want {
			t.Errorf("round %d takes %d pods, want %d", i+1, got, want)
		}
		for _, v := range f.PendingActions(f.now).Announce {
			f.announce(v.UID)
		}
		for range 5 {
			f.now += 3 * sec
			if got := round(); got != 0 {
				t.Errorf("%d pods are to go beside those of round %d", got, i+1)
			}
		}
		for _, v := range f.PendingActions(f.now).Evict {
			f.Evicted(v.UID, f.now)
			f.forget(v.UID)
		}
		f.TakeWoken(f.now)
		for next := f.choose(); len(next) > 0; next = f.choose() {
			f.bind(next...)
		}
		f.now += 3 * sec
	}
	if f.clocks() {
		t.Error("a round is due although nothing is left")
	}
}
