package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
)

// heldWithRoom is a cluster in which n0 is held for a large pod, and has 8 of 16 cpu free until s1 ends there in 200 seconds.
func heldWithRoom(t *testing.T) *fixture {
	f := passing(t, 2)
	f.now += patience
	f.edit("s1", func(p *Pod) { p.Lasts, p.Bound = 200*sec, f.now })
	f.end("s0")
	f.small("x0")
	f.wantPods(f.place())
	f.wantHeld("n0")
	if groups, large := f.HeldNodes(); groups != 0 || large != 1 {
		t.Errorf("%d nodes are held for groups, %d for large pods", groups, large)
	}
	return f
}

func lasts(d int64) func(*Pod) { return func(p *Pod) { p.Lasts = d } }

// A pod that ends before the large one could start uses the room that is held for it, also one of no other queue.
func TestAPodThatEndsInTimeUsesHeldRoom(t *testing.T) {
	f := heldWithRoom(t)
	f.small("unsaid", ofClass("unsaid"))
	f.small("late", ofClass("late"), lasts(200*sec+1))
	f.wantPods(f.place())
	f.small("brief", ofClass("brief"), lasts(200*sec))
	f.small("second", ofClass("brief"), lasts(sec)) // there is no more room
	f.wantPods(f.place(), "brief")
	if s, _ := f.PodState("brief"); s.Node != "n0" || !s.Backfills {
		t.Errorf("brief is on %q, %v", s.Node, s.Backfills)
	}
	f.wantHeld("n0")
	f.now += 200 * sec
	f.end("brief", "s1")
	f.wantPods(f.place(), "large")
	f.wantHeld()
}

// Its attempt is made on the held node, too; those of other pods are not.
func TestTheHeldNodeIsOpenToAPodThatEndsInTime(t *testing.T) {
	f := heldWithRoom(t)
	f.small("brief", ofClass("brief"), lasts(100*sec))
	f.wantPods(f.choose(), "brief")
	if open, some := f.NodesOpenTo("brief"); !some || len(open) != 2 {
		t.Errorf("%v, %v", open, some)
	}
	if open, some := f.NodesOpenTo("x0"); !some || len(open) != 1 || open[0] != "n1" {
		t.Errorf("%v, %v", open, some)
	}
	f.end("s2") // there is other room meanwhile, and kube-scheduler takes that
	f.Reserve("brief", "n1", f.now)
	if s, _ := f.PodState("brief"); s.Backfills {
		t.Error("it uses no held room")
	}
	f.sound()
}

// Nobody knows when the other pods of the node end, so none ends before them for sure.
func TestNoPodUsesHeldRoomIfTheLargeOneMayStartAtAnyTime(t *testing.T) {
	f := holdingForLarge(t)
	f.small("brief", ofClass("brief"), lasts(sec))
	f.wantPods(f.place())
	f.wantHeld("n0")
}

// Nodes that are held for a group are of no use to others meanwhile: it may start as soon as all of them have room.
func TestNoPodUsesNodesHeldForAGroup(t *testing.T) {
	f := gangs(t)
	f.pod("long", "b", asks(80, 4), ofClass("long"), at(0), lasts(1000*sec))
	f.run("long")
	f.gang("g", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	if groups, large := f.HeldNodes(); groups != 1 || large != 0 {
		t.Errorf("%d nodes are held for groups, %d for large pods", groups, large)
	}
	f.pod("brief", "b", asks(1, 1), ofClass("brief"), lasts(sec))
	f.wantPods(f.choose())
}
