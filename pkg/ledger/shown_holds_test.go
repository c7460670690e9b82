package ledger

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// heldWorld has node held for group g, which lacks 10 of its 30 cpu there; s would fit, and n came to the queue of g after it.
func heldWorld(t *testing.T) *fixture {
	t.Helper()
	f := gangs(t)
	f.pod("long", "b", asks(80, 4), ofClass("long"), at(0))
	f.run("long")
	f.gang("g", "a", 3)
	f.wantPods(f.choose())
	f.now += gang.Patience
	f.wantPods(f.choose())
	f.pod("s", "b", asks(1, 1), ofClass("s"), at(1000))
	f.pod("n", "a", asks(1, 1), ofClass("s"), at(1001))
	f.wantPods(f.choose())
	return f
}

// onlooker is a ledger of one that knows what the objects say, with these holds in the status of root.a.
func (f *fixture) onlooker(holds []queue.Hold, edit func(*Ledger)) *Ledger {
	return f.onlookerOf("root.a", holds, edit)
}

func (f *fixture) onlookerOf(shown queue.Path, holds []queue.Hold, edit func(*Ledger)) *Ledger {
	l := New(Options{})
	for _, d := range f.queues.declared {
		if d.Path == shown {
			d.Memory.Holds = holds
		}
		l.ObserveQueue(d)
	}
	for _, g := range f.groups.byKey {
		l.ObservePodGroup(g.PodGroup)
	}
	for _, e := range f.nodes.all {
		l.ObserveNode(e.Node)
	}
	for _, r := range f.pods {
		l.ObservePod(r.Pod, f.now)
	}
	if edit != nil {
		edit(l)
	}
	l.Lead(f.now)
	l.RestoreHolds(f.now)
	for _, w := range l.Check() {
		f.t.Error(w)
	}
	return l
}

func TestHeldNodesAreShownInTheQueueOfThePods(t *testing.T) {
	f := heldWorld(t)
	began := f.now
	want := []queue.Hold{{PodGroup: "ns/g", Nodes: []string{"node"}, Since: began - gang.Patience, Until: began + gang.LongestHold}}
	if got := f.queue("root.a").Holds; !queue.SameHolds(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, other := range []queue.Path{"root", "root.b"} {
		if got := f.queue(other).Holds; got != nil {
			t.Errorf("%s shows %+v", other, got)
		}
	}
	before := f.Version()
	f.now += gang.LongestHold
	f.choose()
	if got := f.queue("root.a").Holds; got != nil || f.Version() == before {
		t.Errorf("it shows %+v after the hold has ended, at version %d after %d", got, f.Version(), before)
	}
}

func TestAnOnlookerKnowsWhatIsHeld(t *testing.T) {
	f := heldWorld(t)
	l := f.onlooker(f.queue("root.a").Holds, nil)
	is, told := f.Rehearse(), l.Rehearse()
	for uid, code := range map[UID]reason.Code{"g0": reason.GangWaitsForRoom, "s": reason.WaitingForRoom, "n": reason.BehindGang} {
		want, got := is.Stopped(uid), told.Stopped(uid)
		if got != want || got.Code != code {
			t.Errorf("%s: %+v, and the scheduler says %+v", uid, got, want)
		}
	}
	if c, some := told.Next(false, false); some {
		t.Errorf("%s is released", c.UID)
	}
}

// Without the status an onlooker would say that s is next.
func TestOfNoUseIsNotHeldAgain(t *testing.T) {
	f := heldWorld(t)
	held := f.queue("root.a").Holds[0]
	for what, tc := range map[string]struct {
		hold func(*queue.Hold)
		edit func(*Ledger)
	}{
		"its time is over":       {hold: func(h *queue.Hold) { h.Until = f.now }},
		"no such group":          {hold: func(h *queue.Hold) { h.PodGroup = "ns/other" }},
		"no such node":           {hold: func(h *queue.Hold) { h.Nodes = []string{"gone"} }},
		"no node":                {hold: func(h *queue.Hold) { h.Nodes = nil }},
		"a pod of it is missing": {edit: func(l *Ledger) { l.ForgetPod("g1", f.now) }},
		"the group is gone":      {edit: func(l *Ledger) { l.ForgetPodGroup("ns/g") }},
	} {
		h := held
		h.Nodes = slices.Clone(held.Nodes)
		if tc.hold != nil {
			tc.hold(&h)
		}
		l := f.onlooker([]queue.Hold{h}, tc.edit)
		if c, _ := l.Rehearse().Next(false, false); c.UID != "n" && c.UID != "s" || l.nodeHolds.Held() {
			t.Errorf("%s: %q is next, %v held", what, c.UID, l.nodeHolds.nodes)
		}
	}
}

// Only an onlooker takes holds back: one that leads makes up its own mind.
func TestARestartHoldsNoNodes(t *testing.T) {
	f := heldWorld(t)
	l := f.onlooker(nil, func(l *Ledger) {
		d := f.queues.declared["root.a"]
		d.Memory.Holds = f.queue("root.a").Holds
		l.ObserveQueue(d)
		l.Lead(f.now)
		if l.nodeHolds.Held() {
			t.Error("nodes are held")
		}
	})
	if !l.nodeHolds.Held() { // the same status, taken back
		t.Error("no nodes are held")
	}
}

// In a rehearsal the hold ends when the group has started, and is there again when that is undone.
func TestARehearsedStartEndsTheHold(t *testing.T) {
	f := heldWorld(t)
	l := f.onlooker(f.queue("root.a").Holds, nil)
	h := l.Rehearse()
	for range 2 {
		h.AddNode(Node{Name: "other", Allocatable: amounts(30, 400), Usable: true})
		var released []UID
		for c, some := h.Next(false, false); some; c, some = h.Next(false, false) {
			released = append(released, c.UID)
		}
		f.wantPods(released, "g0", "g1", "g2", "n", "s") // 30 cpu of a, 80 of b: n comes first
		if l.nodeHolds.Held() {
			t.Error("nodes are still held")
		}
		h.Back(3) // the group stays
		if l.nodeHolds.Held() {
			t.Error("nodes are held for a group that has started")
		}
		h.Back(2)
		if !l.nodeHolds.Held() || l.nodeHolds.Until != f.now+gang.LongestHold {
			t.Errorf("held: %v, until %d", l.nodeHolds.nodes, l.nodeHolds.Until)
		}
		h.Back(0)
		h.RemoveNode("other")
		for _, w := range l.Check() {
			t.Error(w)
		}
		if c, some := h.Next(false, false); some {
			t.Errorf("%s is released", c.UID)
		}
	}
}

// While nodes are held, no pod is tried without room. So one of a class that was never tried waits for room, not for its turn, and autoscalers hear of it.
func TestAPodThatIsNotTriedBesideHeldNodesSaysThatItLacksRoom(t *testing.T) {
	f := heldWorld(t)
	why, _ := f.Why("s")
	if want := (reason.Kept{Held: 1, PodGroup: "ns/g", Until: f.now + gang.LongestHold}); why.Code != reason.WaitingForRoom || reason.As[reason.Room](why).Kept != want {
		t.Errorf("got %+v, want %s with %+v", why, reason.WaitingForRoom, want)
	}
	if n := f.WaitingPods(); n[reason.WaitingForRoom] != 4 || n[reason.WaitingTurn] != 0 { // with the three of the group
		t.Errorf("%v", n)
	}
	f.now += gang.LongestHold
	f.wantPods(f.choose(), "n") // the first of the class goes alone
}

// The same for a node that is held for a large pod: its queue shows the node and the pod, an onlooker keeps it from others, and in a rehearsal it is open
// once that pod has started there.
func TestANodeThatIsHeldForALargePodIsShown(t *testing.T) {
	f := holdingForLarge(t)
	began := f.now
	want := []queue.Hold{{Pod: "default/large", Nodes: []string{"n0"}, Since: 100 * sec, Until: began + gang.LongestHold}}
	shown := f.queue("root.b").Holds
	if !queue.SameHolds(shown, want) {
		t.Fatalf("got %+v, want %+v", shown, want)
	}
	l := f.onlookerOf("root.b", shown, nil)
	h := l.Rehearse()
	if c, some := h.Next(false, false); some {
		t.Errorf("%s is released", c.UID)
	}
	got, is := h.Stopped("x0"), f.Rehearse().Stopped("x0")
	if got != is || got.Code != reason.WaitingForRoom || reason.As[reason.Room](got).Kept.LargeOf != "root.b" {
		t.Errorf("%+v, and the scheduler says %+v", got, is)
	}
	for range 2 {
		h.AddNode(Node{Name: "more", Allocatable: amounts(16, 400), Usable: true})
		var released []UID
		for c, some := h.Next(false, false); some; c, some = h.Next(false, false) {
			released = append(released, c.UID)
		}
		if !slices.Contains(released, "large") {
			t.Errorf("%v are released", released)
		}
		h.Back(0)
		h.RemoveNode("more")
		if got := l.Snapshot(); !queue.SameHolds(got.Queues[len(got.Queues)-1].Holds, want) || len(l.Check()) > 0 {
			t.Errorf("it holds %+v again, %v", got.Queues[len(got.Queues)-1].Holds, l.Check())
		}
	}
	l.ForgetPod("s1", f.now)
	if c, _ := h.Next(false, false); c.UID != "large" || l.nodeHolds.Held() {
		t.Errorf("%s is next, and %v is held", c.UID, l.nodeHolds.nodes)
	}
	if h.Back(0); !l.nodeHolds.Held() || l.nodeHolds.Until != want[0].Until {
		t.Errorf("%v is held until %d", l.nodeHolds.nodes, l.nodeHolds.Until)
	}
}
