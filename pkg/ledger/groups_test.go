package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func ofGang(key string) func(*Pod) {
	return func(p *Pod) { p.PodGroup, p.Application = "ns/"+key, "ns/podgroup/"+key }
}

// gang declares a pod group and its pods, of 10 cpu each: g0, g1 ...
func (f *fixture) gang(key, q string, n int, edits ...func(*Pod)) (uids []UID) {
	f.t.Helper()
	f.ObservePodGroup(PodGroup{Key: "ns/" + key, MinMember: n})
	for i := range n {
		uid := UID(fmt.Sprint(key, i))
		f.pod(uid, q, append([]func(*Pod){asks(10, 4), ofGang(key), at(int64(len(f.pods)))}, edits...)...)
		uids = append(uids, uid)
	}
	return uids
}

// permit asks Permit and returns what it says: "wait", "bind" with those that are allowed, or "refused".
func (f *fixture) permit(uid UID) string {
	f.t.Helper()
	p, _, ok := f.Permit(uid, f.now)
	f.sound()
	switch {
	case !ok:
		return "refused"
	case p.Wait > 0:
		return "wait"
	}
	return fmt.Sprint("bind", p.Allow)
}

func (f *fixture) wantPermit(uid UID, want string) {
	f.t.Helper()
	if got := f.permit(uid); got != want {
		f.t.Errorf("Permit says to %s: %s, want %s", uid, got, want)
	}
}

func gangs(t *testing.T, edits ...func(*queue.Declaration)) *fixture {
	f := newFixture(t, Options{})
	f.declare("root.a", edits...)
	f.declare("root.b")
	return f
}

func TestAGangIsReleasedWholeAndBoundWhole(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 3)
	f.pod("late", "a", at(100), asks(1, 1), ofClass("late"))
	f.wantPods(f.choose(), "g0", "g1", "g2", "late")
	f.reserve("g0", "g1")
	f.wantPermit("g0", "wait")
	f.wantPermit("g1", "wait")
	f.reserve("g2")
	f.wantPermit("g2", "bind[g0 g1]")
	f.bindAll("g0", "g1", "g2")
	if got := f.PodGroups(); len(got) != 1 || !got[0].Whole || got[0].Bound != 3 || got[0].Since != f.now {
		t.Errorf("got %+v", got)
	}
	// What comes later, and what replaces a pod, is a pod like any other.
	f.pod("g3", "a", asks(10, 4), ofGang("g"), at(101))
	f.wantPods(f.choose(), "g3")
	f.reserve("g3")
	f.wantPermit("g3", "bind[]")
}

// The ledger hears of a pod that ended as of one that was deleted. Only the status of the group knows the difference, and says so later.
func TestTheReplacementOfTheLastPodsThatEndedStartsAlone(t *testing.T) {
	for _, status := range []bool{true, false} {
		f := gangs(t)
		uids := f.gang("g", "a", 2)
		f.wantPods(f.choose(), "g0", "g1")
		f.reserve(uids...)
		f.permit("g0")
		f.permit("g1")
		f.bindAll(uids...)
		for _, uid := range uids {
			f.ForgetPod(uid, f.now)
		}
		if f.PodGroups()[0].Whole {
			t.Error("without a pod, the group is whole by itself")
		}
		f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, Whole: true}) // it says Failed, or what it said before
		f.sound()
		f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, Whole: status})
		f.sound()
		f.pod("g2", "a", asks(10, 4), ofGang("g"), at(9))
		if status {
			f.wantPods(f.choose(), "g2")
		} else {
			f.wantPods(f.choose())
		}
		f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, Whole: !status}) // what comes late changes nothing while pods are there
		f.sound()
		if got := f.PodGroups()[0].Whole; got != status {
			t.Errorf("its status said %v, and it is whole: %v", status, got)
		}
	}
}

func TestAGangWaitsForAllItsPodsAndHoldsNothing(t *testing.T) {
	f := gangs(t, runs(1))
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 3})
	f.pod("g0", "a", ofGang("g"), at(1))
	f.pod("g1", "a", ofGang("g"), at(2))
	f.pod("other", "a", at(3)) // takes the only slot: the group holds none
	f.pod("lost", "a", ofGang("unknown"), at(4))
	f.wantPods(f.choose(), "other")
	f.wantWhy("g0", "GangIncomplete root.a 2/3+0")
	f.wantWhy("lost", "PodGroupNotFound root.a 0/0+0")
	f.pod("g2", "a", ofGang("g"), at(5))
	f.wantPods(f.choose())
	f.wantWhy("g0", "MaxRunningApplications root.a 1/1+0")
	f.forget("other")
	f.wantPods(f.choose(), "g0", "g1", "g2")
	f.edit("g1", terminating)
	f.wantPods(f.TakeWoken(f.now), "g0", "g2")
	f.wantWhy("g2", "GangIncomplete root.a 2/3+0")
	f.wantUsage("root.a", "")
}

func TestAGangThatDoesNotFitTakesNothing(t *testing.T) {
	f := gangs(t)
	f.pod("first", "b", asks(80, 4), ofClass("first"), at(0))
	f.run("first")
	f.gang("g", "a", 3)
	f.pod("small", "a", at(100), asks(1, 1), ofClass("small"))
	f.wantPods(f.choose(), "small")
	f.wantWhy("g0", "GangWaitsForRoom root.a 1/3+0") // 19 cpu are free
	f.forget("first")
	f.wantPods(f.choose(), "g0", "g1", "g2")
}

func TestAGangThatNeverFitsIsToldWithNumbers(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 12) // of 10 cpu each, on 100
	f.wantPods(f.choose())
	why, _ := f.Why("g0")
	if want := (reason.Reason{Code: reason.GangTooLarge, Queue: "root.a", PodGroup: "ns/g", Resource: "cpu", Asked: 120_000,
		Details: reason.Packing{Needed: 12, Fit: 10}}); why != want {
		t.Errorf("got %+v, want %+v", why, want)
	}
	f.ObserveNode(Node{Name: "more", Allocatable: amounts(20, 80), Usable: true})
	if got := len(f.choose()); got != 12 {
		t.Errorf("%d are released once they fit", got)
	}
	f.declare("root.b", maximum(amounts(25, 400)))
	f.gang("h", "b", 3)
	f.wantPods(f.choose())
	f.wantWhy("h0", "MaxResources root.b 0/25000+30000")
}

// Nodes are held for the first group that can make use of them. One that the cluster could not hold if it were empty stops no other.
func TestAGangThatNeverFitsStopsNoOtherFromHavingNodesHeld(t *testing.T) {
	f := gangs(t)
	f.pod("long", "b", asks(80, 4), ofClass("long"), at(0))
	f.run("long")
	f.gang("g", "a", 12) // the first in order, of 120 cpu on 100
	f.gang("h", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	if f.nodeHolds.For == nil || f.nodeHolds.For.group.Key != "ns/h" {
		t.Fatalf("nodes are held for %+v, want ns/h", f.nodeHolds.For)
	}
	f.now += gang.LongestHold
	f.ObserveNode(Node{Name: "more", Allocatable: amounts(40, 160), Usable: true})
	f.pod("there", "b", asks(40, 4), ofClass("there"), at(1), boundTo("more"))
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	if f.nodeHolds.For == nil || f.nodeHolds.For.group.Key != "ns/g" {
		t.Fatalf("nodes are held for %+v, want ns/g: the cluster could hold it by now", f.nodeHolds.For)
	}
}

// minResources can make a group too large for the cluster as well.
func TestNoNodesAreHeldForAGangWhoseMinResourcesNeverFit(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 2)
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: amounts(200, 0)})
	for range 3 {
		f.wantPods(f.choose())
		f.wantWhy("g0", "GangTooLarge root.a 100000/2+200000") // cpu
		f.now += gang.Patience
	}
	f.pod("other", "b", asks(90, 4), ofClass("other"))
	f.wantPods(f.choose(), "other")
}

// Where one pod fails, all go back: those that wait for it are rejected, those that were not tried are withdrawn.
func TestAGangGoesBackWhole(t *testing.T) {
	for name, c := range map[string]struct {
		fails     func(f *fixture) []UID
		withdrawn []UID
	}{
		"one fits nowhere": {func(f *fixture) []UID { return f.fail("g1", NoFit) }, []UID{"g2", "g1"}},
		"one has an error": {func(f *fixture) []UID { return f.fail("g1", Errored) }, []UID{"g2", "g1"}},
		"a rule refuses":   {func(f *fixture) []UID { return f.fail("g1", Refused) }, []UID{"g2", "g1"}},
		"one is deleted":   {func(f *fixture) []UID { f.forget("g1"); return f.TakeWoken(f.now) }, []UID{"g2"}},
		"the group is deleted": {func(f *fixture) []UID {
			f.ForgetPodGroup("ns/g")
			f.sound()
			return f.TakeWoken(f.now)
		}, []UID{"g1", "g2"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := gangs(t)
			f.gang("g", "a", 3)
			f.choose()
			f.reserve("g0")
			f.wantPermit("g0", "wait")
			withdrawn := c.fails(f)
			slices.Sort(withdrawn)
			slices.Sort(c.withdrawn)
			f.wantPods(withdrawn, c.withdrawn...)
			f.wantPods(f.ToReject(), "g0")
			if got := f.permit("g0"); got != "refused" {
				t.Errorf("Permit says %s to a pod that should be rejected", got)
			}
			f.fail("g0", Refused)
			f.wantPods(f.ToReject())
			f.wantUsage("root.a", "")
			f.wantPods(f.choose())
		})
	}
}

func TestAGangThatFailsBacksOffMoreEachTime(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 2)
	for _, pause := range []int64{1, 2, 4, 8, 16, 32, 60, 60} {
		f.wantPods(f.choose(), "g0", "g1")
		f.reserve("g0")
		f.fail("g1", NoFit)
		f.fail("g0", Refused)
		f.now += pause*sec - 1
		f.wantPods(f.choose())
		f.now++
	}
	f.wantPods(f.choose(), "g0", "g1")
	f.reserve("g0", "g1")
	f.wantPermit("g1", "bind[g0]")
	if got := f.groups.byKey["ns/g"].attempts; got != 0 {
		t.Errorf("%d failed attempts are remembered", got)
	}
}

// The attempt at a pod that waits in Permit goes on until somebody ends it, also where somebody else has bound the pod.
func TestAPodOfAGangThatIsBoundElsewhereStopsWaiting(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 3)
	f.wantPods(f.choose(), "g0", "g1", "g2")
	f.reserve("g0", "g1")
	f.edit("g0", boundTo("node"))
	f.wantPermit("g1", "wait")
	f.reserve("g2")
	f.wantPermit("g2", "bind[g0 g1]")
}

// Those that wait at Permit are let go as soon as nothing is left to wait for, whatever brought that about.
func TestPodsOfAGangThatHaveNothingToWaitForAreLetGo(t *testing.T) {
	smaller := func(n int) func(f *fixture) {
		return func(f *fixture) { f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: n}) }
	}
	for name, c := range map[string]struct {
		happens func(f *fixture)
		allowed []UID
	}{
		"nothing":                      {func(*fixture) {}, nil},
		"the group is still too large": {smaller(3), nil},
		"the group is small enough":    {smaller(2), []UID{"g0", "g1"}},
		"it is a group of one":         {smaller(1), []UID{"g0", "g1"}},
		"two have succeeded": {func(f *fixture) {
			f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 4, Succeeded: 2})
		}, []UID{"g0", "g1"}},
		"the others are bound elsewhere":    {func(f *fixture) { f.bindAll("g2", "g3") }, []UID{"g0", "g1"}},
		"one that waits is bound elsewhere": {func(f *fixture) { f.bindAll("g1") }, []UID{"g1"}},
		"one that waits leaves the group": {func(f *fixture) {
			f.edit("g1", func(p *Pod) { p.PodGroup = "" })
		}, []UID{"g1"}},
		"the group breaks, and is small enough later": {func(f *fixture) {
			f.forget("g3")
			smaller(2)(f)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := gangs(t)
			f.gang("g", "a", 4)
			f.wantPods(f.choose(), "g0", "g1", "g2", "g3")
			f.reserve("g0", "g1")
			f.wantPermit("g0", "wait")
			f.wantPermit("g1", "wait")
			c.happens(f)
			f.sound()
			f.wantPods(f.ToAllow(), c.allowed...)
			f.sound()
			if next, ok := f.NextRetry(f.now); len(c.allowed) > 1 && (!ok || next > f.now+sec) {
				t.Errorf("asked again at %d: a pod may not be known to wait yet", next)
			}
			f.bindAll(c.allowed...)
			f.ToAllow()
			f.wantPods(f.ToAllow())
		})
	}
}

// One group is on its way at a time: the next one waits for the room that it has, other pods do not.
func TestTwoGangsDoNotHoldWhatTheOtherNeeds(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 3)
	f.gang("h", "b", 3)
	f.wantPods(f.choose(), "g0", "g1", "g2")
	f.reserve("g0", "g1", "g2")
	f.wantPermit("g2", "bind[g0 g1]")
	f.wantPods(f.choose(), "h0", "h1", "h2")
}

// A group that waits is passed by what fits, but not for ever: then what comes after it in its queue waits, and nodes are held.
func TestAGangIsNotStarved(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(30, 400), Usable: true})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("long", "b", asks(90, 4), ofClass("long"), at(0))
	f.run("long")
	f.pod("short", "b", asks(20, 4), ofClass("short"), at(1))
	f.wantPods(f.choose(), "short")
	f.each([]UID{"short"}, func(uid UID) { f.Reserve(uid, "other", f.now) })
	f.edit("short", boundTo("other"))
	f.gang("g", "a", 3) // 30 cpu: on the other node alone, once it is empty
	f.wantPods(f.choose())
	f.pod("newcomer", "a", asks(1, 1), ofClass("n"), at(1000))
	f.wantPods(f.choose(), "newcomer")
	f.now += gang.Patience
	f.pod("newest", "a", asks(1, 1), ofClass("n"), at(1001))
	f.pod("elsewhere", "b", asks(10, 1), ofClass("e"), at(1002))
	f.choose() // now nodes are held
	if f.nodeHolds.For == nil || f.nodes.byName["other"].heldFor == nil {
		t.Fatalf("no node is held")
	}
	want := reason.Reason{Code: reason.BehindGang, Queue: "root.a", PodGroup: "ns/g", Details: reason.Turn{
		Since: f.nodeHolds.For.Since, Until: f.now + gang.LongestHold,
	}}
	if why, _ := f.Why("newest"); why != want {
		t.Errorf("got %+v, want %+v", why, want)
	}
	f.forget("short", "long")
	f.wantPods(f.choose(), "elsewhere", "g0", "g1", "g2")
	if f.nodeHolds.For != nil {
		t.Error("nodes are still held")
	}
}

// A node that goes while it is held, and comes back when the hold has ended, is not held any more.
func TestANodeThatComesBackIsNotHeldAnyMore(t *testing.T) {
	f := gangs(t)
	f.pod("long", "b", asks(80, 4), ofClass("long"), at(0))
	f.run("long")
	f.gang("g", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	held := *f.nodes.byName["node"] // it stays while "long" is bound there
	if held.heldFor == nil {
		t.Fatal("no node is held")
	}
	f.ForgetNode("node")
	f.now += gang.LongestHold
	f.wantPods(f.choose())
	f.ObserveNode(held.Node)
	if e := f.nodes.byName["node"]; e.heldFor != nil || f.nodeHolds.Held() {
		t.Errorf("it is held for %v, nodes are held for %v", e.heldFor, f.nodeHolds.For)
	}
	f.sound()
}

// A held node that is cordoned would not do even if it were empty. So it is given back, and another one is held at once.
func TestHeldNodesThatAreOfNoUseAreGivenBack(t *testing.T) {
	f := gangs(t)
	other := Node{Name: "other", Allocatable: amounts(100, 400), Usable: true}
	f.ObserveNode(other)
	f.pod("long", "b", boundTo("node"), asks(85, 4), at(0))
	f.pod("longer", "b", boundTo("other"), asks(95, 4), at(1))
	f.gang("g", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	held := func() (names []string) {
		for _, e := range f.nodes.all {
			if e.heldFor != nil {
				names = append(names, e.Name)
			}
		}
		return names
	}
	if got := held(); !slices.Equal(got, []string{"node"}) {
		t.Fatalf("%v are held", got)
	}
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400)})
	f.now += gang.ReviewEvery
	f.choose()
	if got := held(); !slices.Equal(got, []string{"other"}) {
		t.Errorf("%v are held", got)
	}
	f.sound()
}

func TestHeldNodesAreGivenBackInTime(t *testing.T) {
	f := gangs(t)
	f.pod("long", "b", asks(80, 4), ofClass("long"), at(0))
	f.run("long")
	f.gang("g", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	f.pod("other", "b", asks(1, 1), ofClass("other"))
	f.wantPods(f.choose())
	if open, some := f.NodesOpenTo("other"); !some || len(open) > 0 {
		t.Errorf("%v, %v are open to others", open, some)
	}
	if _, some := f.NodesOpenTo("g0"); some {
		t.Error("the group may not use all")
	}
	if next, ok := f.NextRetry(f.now); !ok || next > f.now+gang.LongestHold {
		t.Errorf("next at %d, %v", next, ok)
	}
	f.now += gang.LongestHold
	f.wantPods(f.choose(), "other")
	if f.nodeHolds.For != nil {
		t.Error("nodes are still held")
	}
}

// After a restart, or where a binding failed, a part of the group runs. The rest goes before anybody else.
func TestAGangInPartIsCompletedFirst(t *testing.T) {
	f := gangs(t)
	f.pod("before", "a", at(0), ofClass("before"))
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 3})
	f.pod("g0", "b", ofGang("g"), at(1), boundTo("node"))
	f.pod("g1", "b", ofGang("g"), at(2))
	f.pod("g2", "b", ofGang("g"), at(3))
	f.wantPods(f.choose(), "g1", "g2", "before")
	f.reserve("g1")
	f.wantPermit("g1", "wait")
	f.reserve("g2")
	f.wantPermit("g2", "bind[g1]")
}

// It is the first for which nodes are held, too.
func TestNodesAreHeldForAGangInPartFirst(t *testing.T) {
	f := gangs(t)
	f.pod("long", "b", asks(75, 4), ofClass("long"), at(0))
	f.run("long")
	f.gang("g", "b", 3) // would be the first in order
	f.ObservePodGroup(PodGroup{Key: "ns/h", MinMember: 2})
	f.pod("h0", "b", ofGang("h"), asks(10, 1), at(1), boundTo("node"))
	f.pod("h1", "b", ofGang("h"), asks(20, 1), at(2))
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	if f.nodeHolds.For == nil || f.nodeHolds.For.group.Key != "ns/h" {
		t.Errorf("nodes are held for %+v", f.nodeHolds.For)
	}
}

func TestAWholeGangStaysWholeOverARestart(t *testing.T) {
	f := gangs(t)
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 3, Whole: true})
	f.pod("g0", "a", ofGang("g"), at(1)) // two have ended, one is tried again
	f.wantPods(f.choose(), "g0")
}

func TestMinResourcesHoldAGangToo(t *testing.T) {
	f := gangs(t)
	f.pod("first", "b", asks(50, 4), ofClass("first"), at(0))
	f.run("first")
	f.gang("g", "a", 2)
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: amounts(60, 0)})
	f.wantPods(f.choose())
	why, _ := f.Why("g0")
	if want := (reason.Reason{Code: reason.GangWaitsForRoom, Queue: "root.a", PodGroup: "ns/g", Resource: "cpu",
		Details: reason.MinResources{Needed: 2, Stated: 60_000, Free: 50_000}}); why != want {
		t.Errorf("waits for %+v, want %+v", why, want)
	}
	f.forget("first")
	f.wantPods(f.choose(), "g0", "g1")
}

// What all nodes list is counted there, although they need not list it. Where one does not, there is no end to it.
func TestMinResourcesOfAResourceThatNodesNeedNotListAreCountedWhereTheyDo(t *testing.T) {
	const gpu resource.Name = "example.com/gpu"
	devices := func(n int64) resource.List { return resource.Of(resource.Entry{Name: gpu, Value: n}) }
	f := gangs(t)
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400).Add(devices(4)), Usable: true})
	f.ObserveUnlisted(map[resource.Name]bool{gpu: true})
	f.gang("g", "a", 2)
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: devices(8)})
	f.wantPods(f.choose())
	f.wantWhy("g0", "GangTooLarge root.a 4/2+8")
	f.ObserveNode(Node{Name: "plain", Allocatable: amounts(1, 4), Usable: true})
	f.wantPods(f.choose(), "g0", "g1")
}

// A group that waits for room and then asks for less is looked at again at once, although no node has gained any.
func TestAGangThatNeedsLessIsLookedAtAgain(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 2)
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: amounts(200, 0)})
	f.wantPods(f.choose())
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: amounts(100, 0)})
	f.wantPods(f.choose(), "g0", "g1")
	f.gang("h", "b", 12) // 80 cpu are free
	f.wantPods(f.choose())
	f.ObservePodGroup(PodGroup{Key: "ns/h", MinMember: 8})
	f.reserve("g0", "g1")
	f.wantPermit("g1", "bind[g0]")
	if got := len(f.choose()); got < 8 {
		t.Errorf("%d of 8 are released", got)
	}
}

// A group of two applications cannot pass a gate that lets one start. It is no demand for nodes: none would help.
func TestAGangThatAGateStopsShowsNoUnschedulable(t *testing.T) {
	for starting, want := range map[int64][]string{1: nil, 2: {"g0", "g1"}} {
		f := fullCluster(t, amounts(100, 400))
		f.declare("root.s", policy(queue.StateAware), driverShare(1000), starters(starting))
		f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2})
		f.pod("g0", "s", ofGang("g"), in("app1"), driver, at(1))
		f.pod("g1", "s", ofGang("g"), in("app2"), driver, at(2))
		f.wantPods(f.choose())
		f.wantLook(10)
		f.now += 10 * sec
		f.wantLook(10, want...)
	}
}

// A group for which nodes were held in vain is the last to have some held again, although it is the first in order.
func TestEveryGangHasItsTurn(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(30, 400), Usable: true})
	f.declare("root.a", policy(queue.FIFO))
	f.pod("long", "a", asks(95, 4), ofClass("long"), at(0))
	f.run("long")
	f.pod("longer", "a", asks(25, 4), ofClass("longer"), at(1))
	f.wantPods(f.choose(), "longer")
	f.Reserve("longer", "other", f.now)
	f.edit("longer", boundTo("other"))
	f.gang("g", "a", 3)
	f.gang("h", "a", 2)
	f.gang("i", "a", 2)
	f.wantPods(f.choose())
	for _, want := range []string{"ns/g", "ns/h", "ns/i", "ns/g", "ns/h", "ns/i"} {
		f.now += gang.Patience
		f.wantPods(f.choose())
		if f.nodeHolds.For == nil || f.nodeHolds.For.group.Key != want {
			t.Fatalf("nodes are held for %+v, want %s", f.nodeHolds.For, want)
		}
		if next, _ := f.NextRetry(f.now); next != f.now+gang.LongestHold {
			t.Errorf("next at %d", next)
		}
		f.now += gang.LongestHold - 1
		f.wantPods(f.choose())
		f.now++
		f.wantPods(f.choose())
	}
}

// The pod whose turn it is need not be one of those with which its group starts: it does not count beside them where a limit has no place.
func TestTheBacklogCountsOfAGangWhatStartsTogether(t *testing.T) {
	f := fullCluster(t, amounts(100, 400))
	f.ObserveNode(Node{Name: "tiny", Allocatable: amounts(1, 4), Usable: true})
	f.declare("root.p", maximum(amounts(25, 400)))
	f.declare("root.p.a")
	f.declare("root.p.b")
	f.pod("used", "p.a", ofClass("used"), at(0), boundTo("tiny"))
	f.gang("g", "p.a", 2)
	f.pod("g2", "p.b", asks(10, 4), ofGang("g"), at(100)) // the first in order: its queue uses nothing
	f.wantPods(f.choose())
	f.wantLook(10)
	f.now += 10 * sec
	f.wantLook(10, "g0", "g1")
}

// While those that a group needs are released, one more of it is a pod like any other to the backlog.
func TestTheBacklogOfAGangThatIsBeingReleased(t *testing.T) {
	f := newFixture(t, Options{Window: 2})
	f.declare("root.a")
	f.gang("g", "a", 2)
	f.pod("g2", "a", asks(90, 4), ofGang("g"), at(100))
	f.wantPods(f.choose(), "g0", "g1")
	f.wantLook(10)
}

// Pods of several sizes are placed together, the largest first.
func TestAGangOfSeveralSizesIsPlacedTogether(t *testing.T) {
	f := newFixture(t, Options{})
	f.ForgetNode("node")
	f.ObserveNode(Node{Name: "small", Allocatable: amounts(10, 400), Usable: true})
	f.ObserveNode(Node{Name: "large", Allocatable: amounts(30, 400), Usable: true})
	f.declare("root.a")
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 3})
	f.pod("driver", "a", ofGang("g"), asks(10, 1), at(1), ofClass("d"), driver)
	f.pod("g1", "a", ofGang("g"), asks(25, 1), at(2), ofClass("w"))
	f.pod("g2", "a", ofGang("g"), asks(5, 1), at(3), ofClass("s"))
	f.wantPods(f.choose(), "driver", "g1", "g2")
	if got := f.pods["g1"].assumedOn.Name; got != "large" {
		t.Errorf("the largest goes to %s", got)
	}
}

// A pod whose group has begun, and whose binding failed, is the next: what it gave back is for it, or the group would rest in part.
func TestAPodOfABegunGangWhoseBindingFailedGoesFirst(t *testing.T) {
	f := gangs(t, maximum(amounts(30, 400)))
	f.gang("g", "a", 3)
	f.wantPods(f.choose(), "g0", "g1", "g2")
	f.reserve("g0", "g1", "g2")
	f.wantPermit("g2", "bind[g0 g1]")
	f.pod("next", "a", asks(10, 4), ofClass("next"), func(p *Pod) { p.Priority = 100 })
	f.pod("elsewhere", "b", asks(1, 1), ofClass("elsewhere"))
	f.wantPods(f.choose(), "elsewhere")
	f.pod("later", "b", asks(1, 1), ofClass("later"))
	f.fail("g1", Errored)
	f.bindAll("g0", "g2")
	f.wantPods(f.choose())
	f.now += sec
	f.wantPods(f.choose(), "g1", "later")

	// It fails again: from then on it waits for its turn.
	f.reserve("g1")
	f.wantPermit("g1", "bind[]")
	f.fail("g1", Errored)
	f.wantPods(f.choose(), "next")
}

// It goes before the order of queues, and not past a gate: by now another application is starting.
func TestAPodOfABegunGangWhoseBindingFailedWaitsAtTheGate(t *testing.T) {
	f := gangs(t, policy(queue.StateAware), driverShare(1000), starters(2))
	f.gang("g", "a", 2, driver)
	f.edit("g1", in("other"))
	f.wantPods(f.choose(), "g0", "g1")
	f.reserve("g0", "g1")
	f.wantPermit("g1", "bind[g0]")
	f.bindAll("g0")
	f.fail("g1", Errored)
	f.declare("root.a", policy(queue.StateAware), driverShare(1000), starters(1))
	f.pod("later", "b", asks(1, 1), ofClass("later"))
	f.now += sec
	f.wantPods(f.choose(), "later")
	f.wantWhy("g1", "StateAware root.a 0/0+0")
	f.pod("executor", "a", ofGang("g"), asks(1, 1), boundTo("node"))
	f.wantPods(f.choose(), "g1")
}

// It goes before the order of queues, and does not take what its queue's max leaves to a nominated pod.
func TestAPodOfABegunGangWhoseBindingFailedTakesNoNominatedRoomUnderAMax(t *testing.T) {
	f := gangs(t, maximum(amounts(35, 400)))
	f.pod("runs", "b", asks(75, 4), boundTo("node"))
	f.gang("g", "a", 2, asks(10, 4))
	f.wantPods(f.choose(), "g0", "g1")
	f.reserve("g0", "g1")
	f.wantPermit("g1", "bind[g0]")
	f.bindAll("g0")
	f.fail("g1", Errored)
	f.pod("claims", "a", asks(20, 4), ofClass("claims"), at(1000), nominated) // 15 are free so far
	f.now += sec
	f.wantPods(f.choose())
	f.forget("runs")
	f.wantPods(f.choose(), "claims")
}

// It goes before the order of queues for the group that has begun without it, and not for another one that it belongs to by now.
func TestAPodWhoseBindingFailedAndThatLeavesItsGangStartsWithItsNewOne(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 3)
	f.wantPods(f.choose(), "g0", "g1", "g2")
	f.reserve("g0", "g1", "g2")
	f.wantPermit("g2", "bind[g0 g1]")
	f.bindAll("g0", "g2")
	f.fail("g1", Errored)
	f.gang("h", "a", 2)
	f.ObservePodGroup(PodGroup{Key: "ns/h", MinMember: 3})
	f.edit("g1", func(p *Pod) { p.PodGroup = "ns/h" })
	f.pod("other", "b", ofClass("other"))
	f.wantPods(f.choose(), "other")
	f.now += sec
	f.wantPods(f.choose(), "g1", "h0", "h1")
}

// A restart came between before it was written that the group was whole, and some of its pods have succeeded since: the others start without them.
func TestAGangOfWhichSomeHaveSucceededStartsWithTheRest(t *testing.T) {
	f := gangs(t)
	f.gang("g", "a", 3)
	f.forget("g0")
	f.wantPods(f.choose())
	f.wantWhy("g1", "GangIncomplete root.a 2/3+0")
	f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 3, Succeeded: 1})
	f.wantPods(f.choose(), "g1", "g2")
	f.reserve("g1")
	f.wantPermit("g1", "wait")
	f.reserve("g2")
	f.wantPermit("g2", "bind[g1]")
}
