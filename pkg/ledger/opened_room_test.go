package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
)

// Nodes are held for a group while a pod is tried, and given back before its attempt fails. The attempt found them held, and no event of the cluster
// tells kube-scheduler that they are not any more.
func TestAPodThatFoundNodesHeldIsTriedAgainWhenTheyAreGivenBackMeanwhile(t *testing.T) {
	f := gangs(t)
	f.pod("long", "b", asks(80, 4), ofClass("long"), at(0))
	f.run("long")
	f.pod("short", "b", ofClass("short"), at(1))
	f.wantPods(f.choose(), "short")
	f.gang("g", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	if !f.nodeHolds.Held() {
		t.Fatal("no node is held")
	}
	f.forget("g0")
	f.wantPods(f.fail("short", NoFit))
	f.wantPods(f.TakeWoken(f.now), "short")
	f.wantPods(f.choose(), "short")

	// What follows has seen the node open.
	f.fail("short", NoFit)
	f.wantPods(f.TakeWoken(f.now))
	f.wantPods(f.choose())
}

// Likewise with room that was taken for a nominated pod.
func TestAPodThatFoundRoomTakenIsTriedAgainWhenTheNominationEndsMeanwhile(t *testing.T) {
	for size, woken := range map[int64][]UID{20: {"tried"}, 60: nil} {
		f := newFixture(t, Options{})
		f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
		f.declare("root.a")
		f.declare("root.b")
		f.pod("low", "b", boundTo("node"), asks(60, 4), ofClass("low"))
		f.pod("tried", "b", asks(size, 4), ofClass("tried"))
		f.wantPods(f.choose(), "tried")
		f.pod("high", "a", asks(100, 4), ofClass("high"), nominated)
		f.forget("high")
		f.fail("tried", NoFit)
		f.wantPods(f.TakeWoken(f.now), woken...)
	}
}

// A pod that gets another node than the one to which it was nominated leaves its room there to others. A parked pod may have found it taken.
func TestAPodThatGetsAnotherNodeThanItsNominationGivesRoomBack(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("low", "b", boundTo("node"), asks(50, 4), ofClass("low"))
	f.pod("parked", "b", asks(20, 4), ofClass("parked"))
	f.wantPods(f.choose(), "parked")
	f.fail("parked", NoFit)
	f.pod("high", "a", asks(50, 4), ofClass("high"), nominated)
	f.wantPods(f.choose(), "high")
	f.wantPods(f.TakeWoken(f.now))
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(60, 4), Usable: true})
	f.Reserve("high", "other", f.now)
	f.sound()
	f.wantPods(f.TakeWoken(f.now), "parked")
}
