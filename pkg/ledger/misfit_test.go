package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// hourly is the root with an hour between two rounds, unless edited.
func hourly(edit func(*queue.Preemption)) func(*queue.Declaration) {
	return func(d *queue.Declaration) {
		d.Spec.Preemption.Interval = queue.Timeout{Stated: true, Nanoseconds: 3600 * sec}
		edit(&d.Spec.Preemption)
	}
}

// attempts releases a pod, which fits no node.
func (f *fixture) attempts(uid UID, beforeItFails func()) {
	f.t.Helper()
	f.wantPods(f.choose(), uid)
	if node := f.Misfit(uid); node != "" {
		f.t.Errorf("room is being made for %s on %s", uid, node)
	}
	beforeItFails()
	f.fail(uid, NoFit)
}

// A queue is starved, and has had a round five seconds ago; the next is due in an hour. Then one of its pods fits no node.
func TestTheAttemptOfAPodRequestsARound(t *testing.T) {
	for name, c := range map[string]struct {
		root func(*queue.Preemption)
		pod  func(*Pod)
		then func(*fixture)
		want bool
	}{
		"of the starved queue":           {want: true},
		"of another queue":               {pod: relabelled("busy")},
		"that made room":                 {then: func(f *fixture) { f.MadeRoom("new", "") }, want: true},
		"that made room by its priority": {then: func(f *fixture) { f.MadeRoom("new", "node") }},
		"and nothing is carried out":     {root: func(p *queue.Preemption) { p.ObserveOnly = true }},
		"that a rule refused": {then: func(f *fixture) {
			f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), maximum(amounts(1, 400)))
		}},
		"after a round that nominated nobody":         {then: func(f *fixture) { f.rounds.pace.Vain = 1 }},
		"while all that a round may take still runs":  {then: func(f *fixture) { f.rounds.pace.Waits = true }},
		"after a round that left something to others": {then: func(f *fixture) { f.rounds.pace.Rest = true }},
	} {
		t.Run(name, func(t *testing.T) {
			f := scenarioA(t)
			if c.root == nil {
				c.root = func(*queue.Preemption) {}
			}
			f.declare("root", hourly(c.root))
			f.plan(1)
			f.now += 5 * sec
			edits := []func(*Pod){ofClass("large"), asks(2, 4)}
			if c.pod != nil {
				edits = append(edits, c.pod)
			}
			f.pod("new", "sometimes-busy", edits...)
			f.wantPods(f.choose(), "new")
			if name == "that a rule refused" {
				c.then(f)
			}
			if node := f.Misfit("new"); node != "" {
				t.Errorf("room is being made for it on %s", node)
			}
			if c.then != nil && name != "that a rule refused" {
				c.then(f)
			}
			if f.clocks() {
				t.Error("a round is due before the attempt has failed")
			}
			f.fail("new", NoFit)
			if due := f.clocks(); due != c.want {
				t.Errorf("a round is due: %v", due)
			}
			f.Preemption(f.now)
			if f.now += 5 * sec; f.clocks() {
				t.Error("another is due without another attempt")
			}
		})
	}
}

// A round pays 6 of the 65 cpu that are owed (a tenth), and the pods that pay it are announced. As long as they run, attempts of other pods
// find nothing more to take: one round sees that, and no further one is requested. When they are gone, the next round comes.
func TestAttemptsRequestNoRoundWhileTheVictimsOfTheLastStillRun(t *testing.T) {
	f := scenarioA(t)
	f.declare("root", func(d *queue.Declaration) { d.Spec.Preemption.NaturalTerminationFactor = queue.AtMost(100) })
	round := func() int {
		w, ok := f.Preemption(f.now)
		if !ok {
			t.Fatal("no claim is open")
		}
		plan := preemption.Make(w, f.Feasibility(w))
		f.Adopt(w, plan, f.now)
		f.sound()
		return len(plan.Victims)
	}
	f.now += 60 * sec
	if !f.clocks() || round() != 6 {
		t.Fatal("the first round does not take 6 pods")
	}
	for _, v := range f.PendingActions(f.now).Announce {
		f.announce(v.UID)
	}
	f.TakeWoken(f.now)
	made := 0
	for i := range 9 { // attempts for 9 seconds
		f.now += sec
		uid := UID(fmt.Sprint("large-", i))
		f.pod(uid, "sometimes-busy", ofClass(string(uid)), asks(2, 4))
		f.attempts(uid, func() {})
		if f.clocks() {
			made++
			if n := round(); n != 0 {
				t.Errorf("%d pods are to go beside those of the first round", n)
			}
		}
	}
	if made < 1 || made > 4 { // the first is requested, the others come after the interval of 3 seconds
		t.Errorf("%d rounds were made for 9 attempts", made)
	}
	for _, v := range f.Victims() {
		f.forget(v.UID)
	}
	f.TakeWoken(f.now)
	for next := f.choose(); len(next) > 0; next = f.choose() {
		f.bind(next...)
	}
	f.now += 3 * sec
	if !f.clocks() || round() == 0 {
		t.Error("the victims are gone, and no round takes others")
	}
}

// The clock of the queue runs out, and its pod fails before the next look.
func TestAnAttemptRequestsARoundAsSoonAsTheTimeoutHasPassed(t *testing.T) {
	f := scenarioA(t)
	f.declare("root", hourly(func(*queue.Preemption) {}))
	f.now += 59 * sec
	f.clocks()
	f.rounds.pace.LastRound = f.now // for another queue
	f.pod("early", "sometimes-busy", ofClass("early"))
	f.attempts("early", func() {})
	f.now += 5 * sec
	f.pod("new", "sometimes-busy", ofClass("large"))
	f.attempts("new", func() {})
	if !f.clocks() {
		t.Error("no round is due")
	}

	f = scenarioA(t)
	f.declare("root", hourly(func(*queue.Preemption) {}))
	f.now += 59 * sec
	f.clocks()
	f.rounds.pace.LastRound = f.now
	f.pod("early", "sometimes-busy", ofClass("early"))
	f.attempts("early", func() {})
	if f.now += 5 * sec; f.clocks() {
		t.Error("a round is due for an attempt before the timeout")
	}
}

// A claim that pauses is not planned at once, whatever fails.
func TestAnAttemptEndsNoPause(t *testing.T) {
	f := scenarioA(t)
	f.declare("root", hourly(func(*queue.Preemption) {}))
	f.plan(1)
	s := f.queues.accounts["root.sometimes-busy"].starving
	s.pause = preemption.Pause{Failures: 4, Until: f.now + 10*sec}
	f.now += 5 * sec
	f.pod("new", "sometimes-busy", ofClass("large"))
	f.attempts("new", func() {})
	if f.clocks() {
		t.Error("the claim pauses, and a round is due")
	}
	if f.now += 5 * sec; !f.clocks() {
		t.Error("the pause is over, and no round is due")
	}
}

// A pod for which room is being made is tried on a node that has some. If it does not fit there, it keeps its nomination, and is
// released as soon as its room is there, although no event wakes it.
func TestAPodTriedOnOtherRoomKeepsItsNomination(t *testing.T) {
	f := planned(t, 1)
	f.announce("busy-089")
	f.ObserveNode(Node{Name: "more", Allocatable: amounts(10, 40), Usable: true})
	f.sound()
	f.wantPods(f.choose(), "new-000")
	if node := f.Misfit("new-000"); node != "node" {
		t.Errorf("it is nominated to %q", node)
	}
	f.fail("new-000", NoFit)
	if f.NominatedTo("new-000") == "" || f.evictions.counts.Stale != 0 {
		t.Errorf("nominated to %q, %d in vain", f.NominatedTo("new-000"), f.evictions.counts.Stale)
	}
	f.clocks()
	f.wantPods(f.TakeWoken(f.now))
	f.forget("busy-089")
	f.clocks()
	if got := f.TakeWoken(f.now); !slices.Contains(got, "new-000") {
		t.Errorf("woken are %v", got)
	}
	r, _ := f.Choose(f.now)
	if r.UID != "new-000" || f.pods["new-000"].assumedOn.Name != "node" {
		t.Errorf("released is %s, for room on %s", r.UID, f.pods["new-000"].assumedOn.Name)
	}

	// It does not fit there either.
	if node := f.Misfit("new-000"); node != "" {
		t.Errorf("room is still being made for it on %s", node)
	}
	f.fail("new-000", NoFit)
	if f.NominatedTo("new-000") != "" || f.evictions.counts.Stale != 1 {
		t.Errorf("nominated to %q, %d in vain", f.NominatedTo("new-000"), f.evictions.counts.Stale)
	}
}
