package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const patience = 60 * sec

// passing is a cluster of so many nodes of 16 cpu, each full of two pods of 8 (s0 and s1 on n0), and a pod of 16 cpu in queue b that fitted
// none of them.
func passing(t *testing.T, nodes int, edits ...func(*queue.Declaration)) *fixture {
	f := newFixture(t, Options{LargePodPatience: patience})
	f.ForgetNode("node")
	f.declare("root.a")
	f.declare("root.b", edits...)
	for i := range nodes {
		name := fmt.Sprint("n", i)
		f.ObserveNode(Node{Name: name, Allocatable: amounts(16, 400), Usable: true})
		f.small(fmt.Sprint("s", 2*i), boundTo(name), at(int64(i)))
		f.small(fmt.Sprint("s", 2*i+1), boundTo(name), at(int64(i)))
	}
	f.large("large")
	return f
}

// holdingForLarge is passing with two nodes, of which n0 is held for the large pod: s1 still runs there, and x0 may not take what s0 left.
func holdingForLarge(t *testing.T) *fixture {
	t.Helper()
	f := passing(t, 2)
	f.now += patience
	f.end("s0")
	f.small("x0")
	f.wantPods(f.place())
	f.wantHeld("n0")
	return f
}

func (f *fixture) small(name string, edits ...func(*Pod)) {
	f.t.Helper()
	f.pod(UID(name), "a", append([]func(*Pod){asks(8, 4), ofClass("small"), at(f.now)}, edits...)...)
}

// large has one more pod of 16 cpu wait.
func (f *fixture) large(uid UID, edits ...func(*Pod)) {
	f.t.Helper()
	f.pod(uid, "b", append([]func(*Pod){asks(16, 4), ofClass("large"), at(f.now)}, edits...)...)
	for _, chosen := range f.choose() {
		f.fail(chosen, NoFit)
	}
	f.wake()
}

// wake has kube-scheduler ask about every parked pod, as when a pod ends.
func (f *fixture) wake() {
	f.t.Helper()
	for _, uid := range sortedKeys(f.pods) {
		f.Admitted(uid)
	}
	f.TakeWoken(f.now)
	f.sound()
}

// place releases what may start, and binds it where its room is. What has none was released to show that.
func (f *fixture) place() (all []UID) {
	f.t.Helper()
	for c, ok := f.Choose(f.now); ok; c, ok = f.Choose(f.now) {
		e := f.pods[c.UID].assumedOn
		if e == nil {
			f.fail(c.UID, NoFit)
			f.wake()
			continue
		}
		f.Reserve(c.UID, e.Name, f.now)
		f.edit(c.UID, func(p *Pod) { p.Node, p.Placed = e.Name, string(c.Queue) })
		all = append(all, c.UID)
	}
	return all
}

// end ends pods, and tells kube-scheduler.
func (f *fixture) end(uids ...UID) {
	f.t.Helper()
	f.forget(uids...)
	f.wake()
}

func (f *fixture) wantHeld(names ...string) {
	f.t.Helper()
	var held []string
	for _, e := range f.nodes.all {
		if e.heldFor != nil {
			held = append(held, e.Name)
		}
	}
	slices.Sort(held)
	if !slices.Equal(held, names) {
		f.t.Errorf("%v are held, want %v", held, names)
	}
}

// Smaller pods pass a large one for its patience, and no longer: then the node with the most room is held for it.
func TestALargePodIsNotPassedForEver(t *testing.T) {
	f := passing(t, 2)
	f.end("s0")
	f.small("s4")
	f.wantPods(f.place(), "s4")
	f.now += patience
	f.end("s2")
	f.small("s5")
	f.wantPods(f.place())
	f.wantHeld("n1") // s3 alone has to end there
	f.end("s1")
	f.wantPods(f.place(), "s5") // on the other node
	f.end("s3")
	f.wantPods(f.place(), "large")
	f.wantHeld()
	f.wantState("large", "Bound root.b")
}

// Nothing is held for a pod that nothing passes, that is passed by pods of its own size, or whose turn comes later.
func TestNoNodeIsHeldForAPodThatIsNotPassed(t *testing.T) {
	f := passing(t, 2)
	f.now += 2 * patience
	f.wantPods(f.place())
	f.wantHeld()

	f = passing(t, 2)
	f.now += 2 * patience
	f.end("s0")
	f.pod("other", "a", request(resource.Of(resource.Entry{Name: resource.CPU, Value: 8000}, resource.Entry{Name: resource.Memory, Value: 5 << 30})), ofClass("other"))
	f.wantPods(f.place(), "other") // more memory than the large one
	f.wantHeld()

	f = passing(t, 2, weight(0))
	f.now += 2 * patience
	f.end("s0")
	f.small("s4")
	f.wantPods(f.place(), "s4") // a queue of weight 0 comes last
	f.wantHeld()
}

// It must have waited itself, not only others of its class.
func TestALargePodThatJustCameHasNoNodeHeld(t *testing.T) {
	f := passing(t, 20)
	f.now += patience
	f.large("second")
	f.end("s0")
	f.small("x0")
	f.wantPods(f.place())
	f.wantHeld("n0")
	f.now += sec
	f.end("s2")
	f.small("x1")
	f.wantPods(f.place(), "x0")
	f.wantHeld("n0")
	f.now += patience
	f.end("s4")
	f.wantPods(f.place()) // x1 passes the second
	f.wantHeld("n0", "n2")
	f.end("s1", "s5")
	f.wantPods(f.place(), "large", "second")
	f.wantHeld()
}

// One of ten nodes may be held, whatever waits.
func TestATenthOfTheNodesIsHeldForLargePods(t *testing.T) {
	f := passing(t, 19)
	f.large("second")
	f.now += patience
	for i := range 3 {
		f.now += sec
		f.end(UID(fmt.Sprint("s", 2*i)))
		f.small(fmt.Sprint("x", i))
		f.place()
	}
	f.wantHeld("n0")
}

// After five minutes the node is open to all, and the pod has its patience again.
func TestANodeIsHeldForALargePodForFiveMinutes(t *testing.T) {
	f := holdingForLarge(t)
	if at, _ := f.NextRetry(f.now); at > f.now+gang.LongestHold {
		t.Errorf("the next look is in %d s", (at-f.now)/sec)
	}
	f.now += gang.LongestHold
	f.wantPods(f.place(), "x0")
	f.wantHeld()
	f.now += patience - 1
	f.end("s1")
	f.small("x1")
	f.wantPods(f.place(), "x1")
	f.now += sec
	f.end("s2")
	f.small("x2")
	f.wantPods(f.place())
	f.wantHeld("n1")
}

// Of nodes whose pods say for how long they run, that one is held which is free first.
func TestTheNodeThatIsFreeFirstIsHeld(t *testing.T) {
	f := passing(t, 3)
	for uid, lasts := range map[UID]int64{"s0": 0, "s1": 0, "s2": 200 * sec, "s3": 250 * sec, "s4": 200 * sec, "s5": 220 * sec} {
		f.edit(uid, func(p *Pod) { p.Lasts, p.Bound = lasts, f.now })
	}
	f.now += patience
	f.end("s0")
	f.small("x0")
	f.wantPods(f.place(), "x0")
	f.wantHeld("n2")
}

// A node is given back when the pods for which it is held are gone, or when it could not hold one even if it were empty.
func TestNodesThatAreOfNoUseToLargePodsAreGivenBack(t *testing.T) {
	for name, edit := range map[string]func(*fixture){
		"the pod is deleted":   func(f *fixture) { f.forget("large") },
		"the node is cordoned": func(f *fixture) { f.ObserveNode(Node{Name: "n0", Allocatable: amounts(16, 400)}) },
		"the node goes":        func(f *fixture) { f.ForgetNode("n0") },
		"a foreign pod comes":  func(f *fixture) { f.pod("foreign", "", foreignOn("n0")) },
		"the queue is limited": func(f *fixture) { f.declare("root.b", maximum(amounts(8, 400))) },
	} {
		f := holdingForLarge(t)
		edit(f)
		f.now += sec
		f.choose()
		if f.nodes.byName["n0"] != nil && f.nodes.byName["n0"].heldFor != nil {
			t.Errorf("%s: n0 is still held", name)
		}
		f.sound()
	}
}

// Held room counts for the queue, and is not kept for one that would be above its share while another waits below its own.
func TestALargePodThatItsQueueIsNotOwedHasNoNodeHeld(t *testing.T) {
	f := passing(t, 2)
	f.declare("root.b", weight(1))
	f.declare("root.a", weight(31)) // 31 of 32 cpu
	f.now += patience
	f.end("s0")
	f.small("x0")
	f.small("x1")
	f.wantPods(f.place(), "x0")
	f.wantHeld()
	f.forget("x1") // nobody waits below its share any more
	f.now += gang.Patience
	f.end("s2")
	f.small("x2")
	f.place()
	f.wantUsage("root.b", "")
}

// A parked pod for which nodes have room is refused by a filter: a node of its own would not help, and no attempt is made for it.
func TestAPodThatAFilterRefusesIsNotWoken(t *testing.T) {
	f := passing(t, 2)
	f.ObserveNode(Node{Name: "empty", Allocatable: amounts(16, 400), Usable: true})
	f.wantPods(f.choose(), "large")
	f.fail("large", NoFit)
	f.now += 2 * patience
	f.small("s4")
	f.wantPods(f.choose(), "s4")
	f.wantPods(f.TakeWoken(f.now))
	f.wantState("large", "Parked root.b")
	f.wantHeld()
}

// A parked pod takes no part in the order, until it is passed for its patience.
func TestAParkedPodThatIsPassedIsWoken(t *testing.T) {
	f := passing(t, 2)
	f.now += 2 * patience
	f.pod("larger", "b", asks(12, 4), ofClass("larger"), at(0))
	f.wantPods(f.choose(), "larger")
	f.fail("larger", NoFit)
	f.forget("large")
	f.now += patience
	f.forget("s0")
	f.small("s4")
	f.wantPods(f.choose(), "s4")
	f.wantPods(f.TakeWoken(f.now), "larger")
}

// A cluster in which no class lacks room for long does nothing for large pods: a look allocates nothing.
func TestWithoutLargePodsThatWaitNothingIsDone(t *testing.T) {
	f := passing(t, 2)
	r := f.pods["large"]
	if n := testing.AllocsPerRun(100, func() { f.holdForPassed(r, f.now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
