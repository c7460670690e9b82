package ledger

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// nominated: the pod's status names the node, so it is nominated there.
func nominated(p *Pod) { p.Nominated = "node" }

// A pod that is leaving is gone for its queue wherever it runs: else its queue would seem to have more than it will, and be taken from.
func TestAPodThatLeavesAClosedNodeIsGone(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(10, 40), Usable: true})
	f.declare("root.busy")
	f.declare("root.starved", fairShareTimeout(0))
	f.pod("leaves", "busy", boundTo("node"), asks(3, 4), func(p *Pod) { p.Terminating, p.Deadline = true, f.now+30*sec })
	f.pod("stays", "busy", boundTo("other"), asks(10, 4))
	f.pod("waits", "starved", asks(2, 4))
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400)})
	f.clocks()
	w, ok := f.Preemption(f.now)
	if !ok || len(w.Nodes) != 1 || !slices.Equal(w.Gone, []string{"leaves"}) {
		t.Fatalf("a world %v of the nodes %v, gone %v", ok, w.Nodes, w.Gone)
	}
	for _, q := range w.Queues {
		if q.Path == "root.busy" && !q.Usage.Equal(amounts(10, 4)) {
			t.Errorf("%s uses %v once the pod that leaves is gone", q.Path, q.Usage)
		}
	}
}

// The room of a nominated pod is as good as used by its queue, and of a charged pod it is counted once.
func TestANominatedPodCountsInTheOrder(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(20, 80), Usable: true})
	f.declare("root.a")
	f.declare("root.b")
	f.declare("root.c")
	f.pod("runs", "c", boundTo("node"), asks(100, 4))
	f.pod("placed", "a", asks(30, 4), nominated) // its room is not there yet
	f.pod("a1", "a", asks(5, 4), ofClass("a1"), at(1))
	f.pod("b1", "b", asks(5, 4), ofClass("b1"), at(2))
	f.pod("b2", "b", asks(5, 4), ofClass("b2"), at(3))
	f.wantPods(f.choose(), "b1", "b2", "a1")
	f.forget("runs")
	f.wantPods(f.choose(), "placed")
	f.sound()
	if k := f.queues.accounts["root.a"].kept; k != nil {
		t.Errorf("%v is kept for a pod that is charged", k.nominated.List())
	}
}

// The GPU of a nominated pod is as good as its queue's: with it, the queue is not below its guarantee.
func TestANominatedPodCountsForItsGuarantee(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "node", Allocatable: withGPUs(100, 400, 4), Usable: true})
	f.ObserveNode(Node{Name: "other", Allocatable: withGPUs(20, 80, 4), Usable: true})
	f.declare("root.sure", guaranteed(gpus(1)))
	f.declare("root.rest")
	f.declare("root.hog")
	f.pod("runs", "hog", boundTo("node"), asks(100, 4))
	f.pod("placed", "sure", request(withGPUs(30, 4, 1)), nominated) // its room is not there yet
	f.pod("more", "sure", request(withGPUs(1, 4, 1)), ofClass("more"), at(1))
	f.pod("rest", "rest", request(withGPUs(1, 4, 1)), ofClass("rest"), at(2))
	if lacks := f.queues.accounts["root.sure"].lacking(); len(lacks) > 0 {
		t.Errorf("with a nominated pod, the queue lacks %v", lacks)
	}
	f.wantPods(f.choose(), "rest", "more")
	f.edit("placed", func(p *Pod) { p.Nominated = "" })
	if lacks := f.queues.accounts["root.sure"].lacking(); len(lacks) > 0 {
		t.Errorf("with a pod that is released, the queue lacks %v", lacks)
	}
	f.forget("more")
	if lacks := f.queues.accounts["root.sure"].lacking(); !slices.Equal(lacks, []resource.Name{gpu}) {
		t.Errorf("without both, the queue lacks %v", lacks)
	}
}

// A nomination that no claim stands behind, such as one from the status of a pod, keeps no room above the share of its queue while another below its own waits.
func TestANominationWithoutAClaimKeepsOnlyWhatIsOwed(t *testing.T) {
	devices := func(guarantee, asks int64) func(f *fixture) {
		return func(f *fixture) {
			f.ObserveNode(Node{Name: "node", Allocatable: withGPUs(100, 400, 4), Usable: true})
			f.declare("root.a", guaranteed(gpus(guarantee)))
			f.pod("placed", "a", request(withGPUs(60, 4, asks)), nominated)
		}
	}
	for name, c := range map[string]struct {
		asks   int64
		change func(f *fixture)
		want   bool
	}{
		"above it, with a guaranteed GPU":          {60, devices(2, 1), true},
		"above it, with more GPUs than guaranteed": {60, devices(1, 2), false},
		"within the share":                         {20, func(*fixture) {}, true},
		"above it":                                 {60, func(*fixture) {}, false},
		"above it, nobody waits":                   {60, func(f *fixture) { f.forget("waits") }, true},
		"a pod of its queue gives":                 {60, func(f *fixture) { f.pod("gives", "a", boundTo("node"), asks(60, 4), leaving(f)) }, true},
	} {
		f := newFixture(t, Options{})
		f.declare("root.a")
		f.declare("root.b")
		f.pod("runs", "b", boundTo("node"), asks(30, 4))
		f.pod("foreign", "b", boundTo("node"), asks(40, 4), func(p *Pod) { p.Foreign = true })
		f.ObserveNode(Node{Name: "other", Allocatable: amounts(40, 160), Usable: true})
		f.declare("root.c")
		f.pod("fills", "c", boundTo("other"), asks(40, 4))
		f.pod("waits", "b", asks(5, 4))
		c.change(f)
		if f.pods["placed"] == nil {
			f.pod("placed", "a", asks(c.asks, 4), nominated)
		}
		f.clocks()
		if got := f.pods["placed"].nomination != nil; got != c.want {
			t.Errorf("%s: nominated %v, want %v", name, got, c.want)
		}
		f.sound()
	}
}

// The total is 100, so each queue's share is 50. root.a has 60 and a nominated pod of 10, root.b has 40 and a pod that waits for 10. What a pod of root.b
// leaves on the node is for root.b. What a pod of root.a leaves is for the nominated pod once it is gone: with it, root.a has what it had. Clocks are not
// looked at meanwhile.
func TestANominationWithoutAClaimTakesNoRoomOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(f *fixture)
		want  UID
	}{
		"a pod of another queue":                       {func(f *fixture) { f.forget("b10") }, "waits"},
		"a pod of its queue":                           {func(f *fixture) { f.forget("a10") }, "placed"},
		"a small one of its queue, and one of others":  {func(f *fixture) { f.forget("a3", "b7") }, "waits"},
		"one of others, while one of its queue leaves": {func(f *fixture) { f.edit("a10", leaving(f)); f.forget("b10") }, "waits"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.declare("root.b")
			for uid, cpu := range map[UID]int64{"a47": 47, "a10": 10, "a3": 3, "b23": 23, "b10": 10, "b7": 7} { // each for itself
				f.pod(uid, string(uid[:1]), boundTo("node"), asks(cpu, 4))
			}
			f.pod("placed", "a", asks(10, 4), nominated)
			f.pod("waits", "b", asks(10, 4))
			c.leave(f)
			got, _ := f.Choose(f.now)
			f.sound()
			if got.UID != c.want {
				t.Errorf("%q is released, want %q", got.UID, c.want)
			}
		})
	}
}

// The pod of 10 waits for what a pod of 95 leaves on its node of 100. A nomination to a node that could not hold the pod once our pods there have ended is of no use.
func TestANominationToANodeThatCouldNotHoldThePodEnds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *fixture)
		want   bool
	}{
		"it could":                 {func(*fixture) {}, true},
		"it is too small":          {func(f *fixture) { f.ObserveNode(Node{Name: "node", Allocatable: amounts(9, 400), Usable: true}) }, false},
		"others use the rest":      {func(f *fixture) { f.pod("other", "", foreignOn("node"), asks(91, 4)) }, false},
		"others leave just enough": {func(f *fixture) { f.pod("other", "", foreignOn("node"), asks(90, 4)) }, true},
		"it may hold one pod, and others have one there": {func(f *fixture) {
			f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400), Usable: true, Pods: 1})
			f.pod("other", "", foreignOn("node"), asks(1, 4))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.pod("runs", "a", boundTo("node"), asks(95, 4))
			f.pod("placed", "a", asks(10, 4), nominated)
			c.change(f)
			f.clocks()
			if got := f.pods["placed"].nomination != nil; got != c.want {
				t.Errorf("nominated %v, want %v", got, c.want)
			}
		})
	}
}

func leaving(f *fixture) func(*Pod) {
	return func(p *Pod) { p.Terminating, p.Deadline = true, f.now+30*sec }
}

// A node to which a pod is nominated may be held for a group later: it stays open to that pod.
func TestAHeldNodeIsOpenToThePodThatIsNominatedThere(t *testing.T) {
	f := gangs(t)
	f.declare("root.c")
	f.pod("runs", "c", boundTo("node"), asks(80, 4))
	f.pod("placed", "b", asks(10, 4), nominated)
	f.gang("g", "a", 3)
	f.wantPods(f.choose(), "placed")
	f.now += gang.Patience
	f.choose()
	f.now += gang.Patience
	f.choose()
	if open, some := f.NodesOpenTo("runs"); !some || len(open) > 0 {
		t.Fatalf("%v are open to others: the node should be held", open)
	}
	if open, _ := f.NodesOpenTo("placed"); !slices.Equal(open, []string{"node"}) {
		t.Errorf("%v are open to the nominated pod", open)
	}
}

// Two pods of a group are nominated to one node, each with room as long as the other does not come: they start when there is room for both.
func TestANominatedGroupStartsWhenAllHaveRoomTogether(t *testing.T) {
	f := gangs(t)
	f.pod("runs", "b", boundTo("node"), asks(90, 4))
	f.gang("g", "a", 2, nominated)
	f.wantPods(f.choose())
	f.forget("runs")
	f.wantPods(f.choose(), "g0", "g1")
}

// A pod whose attempt fails loses its nomination: its status is to say so, although kube-scheduler had it when that happened.
func TestANominationThatEndedIsTakenBackFromTheStatus(t *testing.T) {
	f := gangs(t)
	f.pod("placed", "b", asks(10, 4), nominated)
	f.wantPods(f.choose(), "placed")
	if got := f.PendingActions(f.now).Nominate; len(got) != 0 {
		t.Errorf("while it is tried: %+v", got)
	}
	f.fail("placed", NoFit)
	if got := f.PendingActions(f.now).Nominate; len(got) != 1 || got[0].UID != "placed" || got[0].Node != "" {
		t.Errorf("after it failed: %+v", got)
	}
}

// Room that is not kept any more is for any pod that fits, also for a pod whose attempt failed for want of it.
func TestAPodWithoutRoomIsTriedWhenANominationEnds(t *testing.T) {
	f := gangs(t)
	f.pod("runs", "b", boundTo("node"), asks(95, 4))
	f.pod("placed", "b", asks(10, 4), nominated)
	f.pod("small", "a", asks(5, 4), ofClass("small"))
	f.wantPods(f.choose(), "small")
	f.fail("small", NoFit)
	f.now += 60 * sec
	f.clocks()
	f.wantPods(f.TakeWoken(f.now), "small")
	f.wantPods(f.choose(), "small", "placed") // the latter as the probe of its class
}

// A group starts with its nominated pods, although others of it would come first: their room is what was made.
func TestAGroupStartsWithItsNominatedPods(t *testing.T) {
	f := gangs(t)
	f.pod("runs", "b", boundTo("node"), asks(80, 4))
	f.gang("g", "a", 2)
	f.pod("g2", "a", asks(10, 4), ofGang("g"), at(1000), nominated)
	f.pod("g3", "a", asks(10, 4), ofGang("g"), at(1000), nominated)
	f.wantPods(f.choose(), "g2", "g3")
}

// A group that asks for more than its queue is owed claims nothing, though each of its pods asks for less, and they are of several classes.
func TestNoPartOfAGroupIsAClaimant(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.starved", fairShareTimeout(0))
	f.pod("runs", "busy", boundTo("node"), asks(100, 4))
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2})
	f.pod("small", "starved", asks(20, 4), ofGang("g"), ofClass("small"))
	f.pod("large", "starved", asks(40, 4), ofGang("g"), ofClass("large"))
	f.clocks()
	w, ok := f.Preemption(f.now)
	if !ok || len(w.Claims) != 1 || len(w.Claims[0].Units) != 0 {
		t.Errorf("a world %v with the claims %+v; 50 cpu are owed, and the group asks for 60", ok, w.Claims)
	}
}

// Nominations of a part of a group are of no use to it, and keep it from starting elsewhere.
func TestNominationsOfAPartOfAGroupEnd(t *testing.T) {
	f := gangs(t)
	f.pod("runs", "b", boundTo("node"), asks(80, 4))
	f.gang("g", "a", 2)
	f.edit("g1", nominated)
	f.wantPods(f.choose())
	f.clocks()
	f.wantPods(f.choose(), "g0", "g1")
}

// Two pods of 5 cpu go for one of 10, under a max that they fill. The first that is gone does not come back before the second is gone: what it gave up
// under the max is the claimant's, as its room on the node is.
func TestWhatVictimsFreeUnderAMaxIsForTheClaimant(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.other")
	f.declare("root.p", maximum(amounts(20, 80)))
	f.declare("root.p.busy")
	f.declare("root.p.starved", fairShareTimeout(0))
	for i := range 4 {
		f.pod(UID(fmt.Sprint("runs", i)), "root.p.busy", boundTo("node"), asks(5, 20))
	}
	f.pod("fills", "root.other", boundTo("node"), asks(65, 4))
	f.pod("claims", "root.p.starved", asks(10, 40))
	f.clocks()
	w, _ := f.Preemption(f.now)
	plan := preemption.Make(w, f.Feasibility(w))
	f.Adopt(w, plan, f.now)
	if len(plan.Victims) != 2 {
		t.Fatalf("victims: %+v", plan.Victims)
	}
	first, second := UID(plan.Victims[0].UID), UID(plan.Victims[1].UID)
	f.forget(first)
	f.pod("again", "root.p.busy", asks(5, 20), at(1000), ofClass("again"))
	f.pod("else", "root.other", asks(5, 20), at(1000), ofClass("again")) // its class alone does not hold it
	f.wantPods(f.choose(), "else")
	f.forget(second)
	f.wantPods(f.choose(), "claims")
}

// A pod that may not take what is kept under a max holds up no pod of its class that is not under that max.
func TestAPodThatAMaxStopsForANominationHoldsUpNobodyElsewhere(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.other", weight(1))
	f.declare("root.p", maximum(amounts(20, 80)), weight(9)) // so that its pods come first
	f.declare("root.p.busy")
	f.declare("root.p.starved", fairShareTimeout(0))
	for i := range 4 {
		f.pod(UID(fmt.Sprint("runs", i)), "root.p.busy", boundTo("node"), asks(5, 20))
	}
	f.pod("fills", "root.other", boundTo("node"), asks(65, 4))
	f.pod("claims", "root.p.starved", asks(10, 40), ofClass("claims"))
	f.clocks()
	w, _ := f.Preemption(f.now)
	plan := preemption.Make(w, f.Feasibility(w))
	f.Adopt(w, plan, f.now)
	f.forget(UID(plan.Victims[0].UID))
	f.pod("again", "root.p.busy", asks(5, 20), at(1000))
	f.pod("else", "root.other", asks(5, 20), at(1000))
	f.ObserveNode(Node{Name: "empty", Allocatable: amounts(10, 40), Usable: true})
	f.wantPods(f.choose(), "else")
}

// Plans know of a group as it is declared by now, also where its node has not changed since the last plan: a group goes whole or not at all.
func TestAPlanKnowsTheGroupsOfItsCandidates(t *testing.T) {
	f := newFixture(t, Options{})
	f.pod("g0", "busy", ofGang("g"), boundTo("node"))
	f.declare("root.busy")
	f.declare("root.starved", fairShareTimeout(0))
	f.pod("claims", "starved", asks(50, 4))
	gang := func() string {
		f.clocks()
		w, _ := f.Preemption(f.now)
		f.sound()
		return w.Nodes[0].Candidates[0].Gang
	}
	before := gang()
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2})
	declared := gang()
	f.ForgetPodGroup("ns/g")
	if gone := gang(); before != "" || declared != "ns/g" || gone != "" {
		t.Errorf("of group %q, then %q, then %q", before, declared, gone)
	}
}

// A group that found no room, since the only node that has some is held for another one, is nominated there: it starts, though no node has gained room.
func TestAGroupThatLackedRoomStartsOnItsNominations(t *testing.T) {
	f := gangs(t)
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
	f.pod("share", "a", boundTo("other"), asks(100, 4)) // or what is held would be above the share of b
	f.pod("runs", "b", boundTo("node"), asks(50, 4))
	f.gang("h", "b", 3, asks(30, 4))
	for range 3 {
		f.wantPods(f.choose())
		f.now += gang.Patience
	}
	f.gang("g", "a", 2)
	f.wantPods(f.choose())
	f.edit("g0", nominated)
	f.edit("g1", nominated)
	f.wantPods(f.choose(), "g0", "g1")
}

// Drivers beyond what their share is in the queue that claims are no claimants: it would have no use for their nominations.
func TestNoMoreDriversClaimThanTheirShareLets(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.starved", fairShareTimeout(0))
	f.pod("runs", "busy", boundTo("node"), asks(90, 4))
	f.pod("driver", "starved", boundTo("node"), asks(10, 4), driver)
	f.pod("more", "starved", asks(15, 4), driver)
	f.pod("over", "starved", asks(10, 4), driver)
	f.clocks()
	w, _ := f.Preemption(f.now)
	if len(w.Claims) != 1 || len(w.Claims[0].Units) != 1 || w.Claims[0].Units[0].Pods[0].UID != "more" {
		t.Errorf("claims %+v; drivers may use 25 of 50 cpu", w.Claims)
	}
}

// A nomination whose room is there, and that a limit does not let its pod use, ends once no pod is leaving that might help.
func TestANominationThatALimitForbidsEnds(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(10, 400)))
	f.pod("runs", "a", boundTo("node"), asks(5, 4))
	f.pod("leaves", "a", boundTo("node"), asks(5, 4), func(p *Pod) { p.Terminating, p.Deadline = true, f.now+30*sec })
	f.pod("placed", "a", asks(10, 4), nominated)
	f.clocks()
	if got := f.PendingActions(f.now).Nominate; len(got) != 0 {
		t.Errorf("while somebody leaves: %+v", got)
	}
	f.edit("leaves", func(p *Pod) { p.Terminating, p.Deadline = false, 0 })
	f.clocks()
	if got := f.PendingActions(f.now).Nominate; len(got) != 1 || got[0].Node != "" {
		t.Errorf("when nobody does: %+v", got)
	}
}

// Room that cannot lead to a start is not kept, and no pod goes for it: the claimant that a rule blocks loses its nomination while its victims run.
func TestAClaimantThatARuleBlocksLosesItsNominationBeforeItsVictimsGo(t *testing.T) {
	for name, block := range map[string]func(*fixture){
		"it is larger than a pod may be by now": func(f *fixture) {
			f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), func(d *queue.Declaration) {
				d.Spec.MaxPod = resource.Of(resource.Entry{Name: resource.CPU, Value: 999})
			})
		},
		"no slot for its application": func(f *fixture) {
			f.edit("new-000", at(1<<62)) // the youngest of 90 applications
			f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(89) })
		},
		"a gate": func(f *fixture) { f.edit("new-000", gatedBy("quota")) },
		"the driver of its application has a gate": func(f *fixture) {
			f.edit("new-000", in("with a driver"))
			f.pod("driver", "sometimes-busy", in("with a driver"), driver, gatedBy("quota"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := planned(t, 1)
			f.announce("busy-089")
			block(f)
			f.now += 15 * sec
			e := f.PendingActions(f.now)
			f.wantPods(victims(e.Evict))
			if w := e.Withdraw; len(w) != 1 || w[0].UID != "busy-089" || w[0].Why != reason.NoClaimant {
				t.Errorf("withdrawn: %+v", w)
			}
			if f.PreemptionCounts().Stale != 0 {
				t.Error("the claim pauses, as if its pods did not fit")
			}
			f.sound()
		})
	}
}

// A victim may run on another node than its claimant (an affinity between zones): when it is gone, the claimant is released.
func TestAClaimantIsReleasedWhenAVictimOnAnotherNodeIsGone(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
	f.declare("root.busy")
	f.declare("root.starved", fairShareTimeout(0))
	f.pod("fills", "busy", boundTo("node"), asks(70, 4))
	f.pod("near", "busy", boundTo("other"), asks(20, 4))
	f.pod("stays", "busy", boundTo("other"), asks(80, 4))
	f.pod("claimant", "starved", asks(30, 4))
	f.clocks()
	w, _ := f.Preemption(f.now)
	plan := preemption.Make(w, f.Feasibility(w))
	if len(plan.Victims) != 0 || len(plan.Claims) != 1 || len(plan.Claims[0].Nominations) != 1 {
		t.Fatalf("the plan is %+v", plan)
	}
	other := slices.IndexFunc(w.Nodes, func(n preemption.Node) bool { return n.Name == "other" })
	plan.Victims = []preemption.Victim{{UID: "near", Node: other, For: "claimant"}}
	f.Adopt(w, plan, f.now)
	f.wantPods(f.choose())
	f.forget("near")
	f.wantPods(f.choose(), "claimant")
}

// One victim makes room for two claimants on its node. When the one for which it goes is deleted, it goes for the other only if that is of the same
// claim: another claim may not be owed it, and a new plan has to say so.
func TestAVictimGoesForAnotherClaimantOfTheSameClaimOnly(t *testing.T) {
	for _, other := range []string{"first", "second"} {
		t.Run(other, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.busy")
			f.declare("root.first", fairShareTimeout(0))
			f.declare("root.second", fairShareTimeout(0))
			f.pod("stays", "busy", boundTo("node"), asks(98, 4))
			f.pod("victim", "busy", boundTo("node"), asks(2, 4))
			f.pod("claimant", "first", asks(1, 1))
			f.pod("other", other, asks(1, 1), at(1))
			f.clocks()
			w, _ := f.Preemption(f.now)
			var plan preemption.Plan
			for _, c := range w.Claims {
				p := preemption.Payment{Claim: c}
				for _, u := range c.Units {
					p.Nominations = append(p.Nominations, preemption.Nomination{UID: u.Pods[0].UID})
				}
				plan.Claims = append(plan.Claims, p)
			}
			plan.Victims = []preemption.Victim{{UID: "victim", For: "claimant", Above: 1, Resource: resource.CPU}}
			if stale := f.Adopt(w, plan, f.now); stale != 0 || f.NominatedTo("other") == "" {
				t.Fatalf("%d are stale", stale)
			}
			f.announce("victim")
			f.forget("claimant")
			f.now += 15 * sec
			e := f.PendingActions(f.now)
			f.sound()
			if other == "first" {
				if len(e.Evict) != 1 || e.Evict[0].ForUID != "other" || e.Evict[0].ForQueue != "root.first" || len(e.Withdraw) != 0 {
					t.Errorf("it goes for %+v, withdrawn %+v", e.Evict, e.Withdraw)
				}
				return
			}
			if w := e.Withdraw; len(e.Evict) != 0 || len(w) != 1 || w[0].Why != reason.NoClaimant || w[0].ForQueue != "root.first" {
				t.Errorf("it goes for %+v, withdrawn %+v", e.Evict, w)
			}
			f.clocks()
			if w, ok := f.Preemption(f.now); !ok || len(w.Claims) != 1 || len(w.Claims[0].Units) != 1 || w.Claims[0].Units[0].Pods[0].UID != "other" {
				t.Errorf("the other is not planned again: %+v", w.Claims)
			}
		})
	}
}

// Between plan and eviction pods of the victim's queue end on another node: what is left is its guarantee.
func TestAVictimStaysWhereItsQueueWouldLackItsOwnGuarantee(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
	guarantees := func(d *queue.Declaration) {
		d.Spec.Guaranteed = resource.Of(resource.Entry{Name: resource.Memory, Value: 100 << 30})
	}
	f.declare("root.batch", guarantees)
	f.declare("root.research", guarantees, guaranteedTimeout(0))
	f.pod("victim", "batch", boundTo("node"), asks(10, 400))
	f.pod("ends", "batch", boundTo("other"), asks(0, 100))
	f.pod("cpu", "batch", boundTo("other"), asks(100, 1))
	f.pod("claimant", "research", asks(1, 100))
	f.clocks()
	w, _ := f.Preemption(f.now)
	if len(w.Claims) != 1 || w.Claims[0].Kind != preemption.BelowGuaranteed {
		t.Fatalf("claims: %+v", w.Claims)
	}
	node := slices.IndexFunc(w.Nodes, func(n preemption.Node) bool { return n.Name == "node" })
	f.Adopt(w, preemption.Plan{
		Claims:  []preemption.Payment{{Claim: w.Claims[0], Nominations: []preemption.Nomination{{UID: "claimant", Node: node, Pays: resource.Memory}}}},
		Victims: []preemption.Victim{{UID: "victim", For: "claimant", Node: node, Above: 1, Resource: resource.CPU}},
	}, f.now)
	f.announce("victim")
	f.now += 15 * sec
	if e := f.PendingActions(f.now); len(e.Evict) != 1 { // with "ends" the queue keeps 101 of 100 GiB
		t.Fatalf("nothing has changed: %+v", e)
	}
	f.forget("ends")
	if e := f.PendingActions(f.now); len(e.Evict) != 0 || len(e.Withdraw) != 1 || e.Withdraw[0].Why != reason.BelowGuarantee {
		t.Errorf("one GiB is left: %+v", e)
	}
	f.sound()
}

// After a restart, nominations are known and their claims may not be. A plan that gives the room of one that is not there to other pods ends it.
func TestAPlanEndsTheNominationsWhoseRoomItGivesAway(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.starved", fairShareTimeout(0))
	f.declare("root.later", weight(5))
	f.pod("run-0", "busy", boundTo("node"), asks(20, 4))
	f.pod("run-1", "busy", boundTo("node"), asks(80, 4))
	f.pod("nominated", "later", asks(60, 4), nominated)
	f.pod("first", "starved", asks(6, 4))
	f.pod("second", "starved", asks(6, 4))
	f.clocks()
	w, _ := f.Preemption(f.now)
	plan := preemption.Make(w, f.Feasibility(w))
	if len(plan.Victims) != 1 || len(plan.Claims[0].Nominations) != 2 {
		t.Fatalf("%d victims for %+v, want one for both", len(plan.Victims), plan.Claims)
	}
	f.Adopt(w, plan, f.now)
	f.sound()
	f.clocks()
	if f.NominatedTo("nominated") != "" || f.NominatedTo("first") == "" || f.NominatedTo("second") == "" {
		t.Errorf("nominated are: the pod whose room is given away to %q, the claimants to %q, %q", f.NominatedTo("nominated"), f.NominatedTo("first"), f.NominatedTo("second"))
	}
}

// A claimant whose application starts with two drivers in one group comes after these, as after one.
func TestAClaimantComesAfterTheDriversOfItsApplication(t *testing.T) {
	for _, drivers := range []int{1, 2} {
		f := newFixture(t, Options{})
		f.declare("root.busy")
		f.declare("root.starved", fairShareTimeout(0), driverShare(1000))
		f.pod("runs", "busy", boundTo("node"), asks(100, 4))
		f.gang("g", "starved", 3, asks(5, 4))
		for i := range drivers {
			f.edit(UID(fmt.Sprint("g", i)), func(p *Pod) { p.Role, p.Application = application.Driver, "app" })
		}
		f.pod("other", "starved", in("app"), asks(5, 4))
		f.clocks()
		w, _ := f.Preemption(f.now)
		after := map[string]string{}
		for _, u := range w.Claims[0].Units {
			after[u.Pods[0].UID] = u.After
		}
		if want := map[string]string{"g0": "", "other": fmt.Sprint("g", drivers-1)}; !maps.Equal(after, want) {
			t.Errorf("%d drivers: units come after %v, want %v", drivers, after, want)
		}
	}
}

// Pods of a group that start with their driver do not wait for it: none loses its nomination before the group is released.
func TestAGroupWithItsDriverKeepsItsNominations(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2})
	f.pod("worker", "a", asks(10, 4), ofGang("g"), nominated)
	f.pod("head", "a", asks(10, 4), ofGang("g"), driver, ofClass("head"), nominated)
	f.clocks()
	if got := f.PendingActions(f.now).Nominate; len(got) != 0 {
		t.Errorf("nominations are taken back: %+v", got)
	}
	f.wantPods(f.choose(), "head", "worker")
}

// A plan makes room for pods. A group that needs more by its minResources is a claimant where so much is free already, and else waits.
func TestAGroupThatNeedsMoreThanItsPodsAskForIsNoClaimant(t *testing.T) {
	for name, c := range map[string]struct {
		minimum, other int64 // cpu: of the group, and what runs on the other node
		units          int
	}{
		"as much as its pods ask for":      {40, 30, 1},
		"more, and the nodes have it free": {50, 50, 1},
		"more, and the nodes do not":       {50, 51, 0},
		"more than empty nodes would have": {201, 0, 0},
	} {
		f := newFixture(t, Options{})
		f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
		f.declare("root.busy")
		f.declare("root.starved", fairShareTimeout(0))
		f.pod("runs", "busy", boundTo("node"), asks(100, 4))
		if c.other > 0 {
			f.pod("more", "busy", boundTo("other"), asks(c.other, 4))
		}
		f.gang("g", "starved", 2, asks(20, 4))
		f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: amounts(c.minimum, 4)})
		f.clocks()
		w, ok := f.Preemption(f.now)
		if !ok || len(w.Claims) != 1 || len(w.Claims[0].Units) != c.units {
			t.Errorf("%s: a world %v with the claims %+v, want %d units", name, ok, w.Claims, c.units)
		}
	}
}

// A nomination that is written late may have been overtaken: the status then says what does not hold any more.
func TestANominationThatWasOvertakenIsWrittenAgain(t *testing.T) {
	f := planned(t, 1)
	n := f.PendingActions(f.now).Nominate[0]
	f.Nominated(n)
	if got := f.PendingActions(f.now).Nominate; len(got) != 0 {
		t.Errorf("it was written: %+v", got)
	}
	f.Nominated(NominationUpdate{UID: n.UID})
	f.sound()
	if got := f.PendingActions(f.now).Nominate; len(got) != 1 || got[0] != n {
		t.Errorf("its status names no node: %+v, want %+v", got, n)
	}
}

// A claimant whose room is there and that is not released, for a reason that no rule knows, does not keep it idle for ever.
func TestANominationThatLiesIdleEnds(t *testing.T) {
	f := planned(t, 1)
	f.announce("busy-089")
	f.forget("busy-089")
	f.clocks()
	f.now += 60*sec - 1
	f.clocks()
	if f.NominatedTo("new-000") == "" {
		t.Error("its nomination ends too early")
	}
	f.now++
	f.clocks()
	if f.NominatedTo("new-000") != "" {
		t.Error("its room lies idle")
	}
}

// The room of a parked pod that kube-scheduler nominated comes free. That room is taken by its own nomination, so no hint of kube-scheduler's need say so.
func TestAParkedPodIsTriedOnceTheRoomOfItsNominationIsThere(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("low", "b", boundTo("node"), asks(100, 400))
	f.pod("high", "a", asks(50, 200))
	f.probe("high")
	f.edit("high", nominated)
	f.PendingActions(f.now)
	f.wantPods(f.TakeWoken(f.now))
	f.forget("low")
	f.PendingActions(f.now)
	f.wantPods(f.TakeWoken(f.now), "high")
	f.wantPods(f.choose(), "high")
	f.sound()
}
