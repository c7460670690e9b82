package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// afterPatience is the group for which nodes are held once groups have waited for long enough.
func (f *fixture) afterPatience() string {
	f.t.Helper()
	f.now += gang.Patience
	f.wantPods(f.choose())
	if f.nodeHolds.For == nil {
		return ""
	}
	return f.nodeHolds.For.group.Key
}

// Two queues have groups that are larger than their shares, beside a queue that is above its own and always waits. One of them has its turn, then the other.
func TestTwoGroupsAboveTheSharesOfTheirQueuesHaveTheirTurns(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
	for _, path := range []queue.Path{"root.a", "root.b", "root.stream"} { // each has a share of 67 cpu
		f.declare(path)
	}
	f.pod("long", "stream", boundTo("node"), asks(100, 4))
	f.pod("longer", "stream", boundTo("other"), asks(100, 4))
	f.pod("more", "stream", asks(30, 4), ofClass("more")) // larger than what the groups leave
	f.gang("h", "b", 9)
	g := f.gang("g", "a", 8)
	f.wantPods(f.choose(), "more")
	f.fail("more", NoFit)
	if got := f.afterPatience(); got != "ns/g" {
		t.Fatalf("nodes are held for %q, want the group that is closer to the share of its queue", got)
	}
	f.forget("long")
	f.wantPods(f.choose(), g...)
	f.reserve(g...)
	f.bindAll(g...)
	if got := f.afterPatience(); got != "ns/h" {
		t.Errorf("nodes are held for %q, want the other group", got)
	}
}

// The answer to why a pod of a group waits names the share that forbids to hold nodes for it. What pods show does not: its numbers move.
func TestWhyNamesTheShareThatForbidsToHoldNodes(t *testing.T) {
	forbids := reason.ShareForbids{
		Queue: "root.tiny", Resource: resource.CPU, Share: 1000, Usage: 100_000, Waiting: "root.team", Below: reason.BelowFairShare,
	}
	for name, c := range map[string]struct {
		minimum resource.List // that the group states
		waits   bool          // a pod in root.team does
		want    reason.Details
	}{
		"its pods do not fit":         {resource.List{}, true, reason.Packing{Needed: 8, Fit: 6, Forbids: forbids}},
		"nobody else waits":           {resource.List{}, false, reason.Packing{Needed: 8, Fit: 6}},
		"it states more than is free": {amounts(99, 0), true, reason.MinResources{Needed: 2, Stated: 99_000, Free: 60_000, Forbids: forbids}},
	} {
		f := newFixture(t, Options{})
		f.declare("root.tiny", weight(1))
		f.declare("root.team", weight(99))
		f.pod("runs", "team", boundTo("node"), asks(40, 4))
		f.gang("g", "tiny", 8)
		if c.minimum.Len() > 0 {
			f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 2, MinResources: c.minimum})
		}
		if c.waits {
			f.pod("waits", "team", asks(61, 4), ofClass("waits"))
			f.wantPods(f.choose(), "waits")
			f.fail("waits", NoFit)
		}
		f.wantPods(f.choose())
		if got := f.Rehearse().Stopped("g0"); got.Code != reason.GangWaitsForRoom || got.Details != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if shown, _ := f.Why("g0"); reason.As[reason.Packing](shown).Forbids != (reason.ShareForbids{}) ||
			reason.As[reason.MinResources](shown).Forbids != (reason.ShareForbids{}) {
			t.Errorf("%s: a pod shows %+v", name, shown)
		}
	}
}

// A pod that waits with its driver, which is of a group, is told what forbids to hold nodes for that one.
func TestWhyNamesTheShareThatForbidsToHoldNodesForADriver(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.tiny", weight(1), driverShare(1000))
	f.declare("root.team", weight(99))
	f.pod("runs", "team", boundTo("node"), asks(40, 4))
	f.pod("waits", "team", asks(61, 4), ofClass("waits"))
	f.gang("g", "tiny", 8)
	f.edit("g0", func(p *Pod) { p.Role, p.Application, p.Class = application.Driver, "app", "driver" })
	f.pod("worker", "tiny", in("app"), ofClass("worker"))
	f.wantPods(f.choose(), "waits")
	f.fail("waits", NoFit)
	why := f.Rehearse().Stopped("worker")
	if got := reason.As[reason.Packing](why.Cause()).Forbids.Waiting; why.Code != reason.WaitingForDriver || got != "root.team" {
		t.Errorf("got %+v", why)
	}
}

// While nodes are held for a group, no others are held, and no share has forbidden that.
func TestWhileNodesAreHeldNoShareForbidsIt(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("runs", "b", boundTo("node"), asks(40, 4))
	g := f.gang("g", "a", 8)
	h := f.gang("h", "a", 9)
	f.wantPods(f.choose())
	if got := f.afterPatience(); got == "" {
		t.Fatal("no nodes are held")
	}
	for _, uid := range []UID{g[0], h[0]} {
		if why := f.Rehearse().Stopped(uid); reason.As[reason.Packing](why).Forbids != (reason.ShareForbids{}) {
			t.Errorf("%s: %+v", uid, why)
		}
	}
}

// A group with most of its pods in a queue of a tiny share is not owed more since one small pod of it is in another queue, whose other pods wait.
func TestAGroupInTwoQueuesTakesNothingOfEither(t *testing.T) {
	for name, c := range map[string]struct {
		waits bool
		want  string
	}{
		"another pod waits below the share of its queue": {true, ""},
		"nobody else waits": {false, "ns/g"},
	} {
		f := newFixture(t, Options{})
		f.declare("root.tiny", weight(1))
		f.declare("root.team", weight(99))
		f.pod("runs", "team", boundTo("node"), asks(40, 4))
		f.gang("g", "tiny", 8)
		f.pod("g8", "team", asks(1, 4), ofGang("g"), ofClass("small"))
		f.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 9})
		if c.waits {
			f.pod("waits", "team", asks(50, 4), ofClass("waits"))
			f.pod("fills", "team", boundTo("node"), asks(15, 4))
			f.wantPods(f.choose(), "waits")
			f.fail("waits", NoFit)
		} else {
			f.wantPods(f.choose())
		}
		if got := f.afterPatience(); got != c.want {
			t.Errorf("%s: nodes are held for %q, want %q", name, got, c.want)
		}
	}
}

// A queue that is at its share, but has fewer GPUs than it is guaranteed and asks for, loses no more of them to a group.
func TestNoNodesAreHeldAboveAShareWhileAnotherQueueIsBelowItsGuarantee(t *testing.T) {
	for name, c := range map[string]struct {
		edits []func(*queue.Declaration)
		want  string
	}{
		"at its share":            {nil, "ns/g"},
		"and below its guarantee": {[]func(*queue.Declaration){guaranteed(gpus(2))}, ""},
	} {
		f := newFixture(t, Options{})
		f.ObserveNode(Node{Name: "node", Allocatable: withGPUs(100, 400, 4), Usable: true})
		f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
		f.declare("root.lab", c.edits...)
		f.declare("root.greedy")
		f.pod("fills", "lab", boundTo("other"), asks(100, 4))
		f.pod("beside", "lab", boundTo("node"), asks(10, 4))
		f.pod("hog", "greedy", boundTo("node"), request(withGPUs(90, 4, 4)))
		f.pod("waits", "lab", request(withGPUs(1, 4, 1)), ofClass("waits"))
		f.gang("g", "greedy", 9)
		f.wantPods(f.choose(), "waits")
		f.fail("waits", NoFit)
		if got := f.afterPatience(); got != c.want {
			t.Errorf("%s: nodes are held for %q, want %q", name, got, c.want)
		}
	}
}

// What is free on held nodes is as good as used: a claim makes no room for that again, and no clock begins. One that runs goes on, since the pods do not run yet.
func TestHeldNodesCountInStarvation(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", fairShareTimeout(1), guaranteed(amounts(60, 0)), guaranteedTimeout(1))
	f.declare("root.b")
	f.pod("long", "b", boundTo("node"), asks(30, 4))
	f.gang("g", "a", 8)
	f.wantPods(f.choose())
	f.clocks()
	f.now += 2 * sec
	f.clocks()
	if is := f.queue("root.a").Starvation; !is.Claiming || is.Owed.Get(resource.CPU) != 60_000 {
		t.Fatalf("before nodes are held: %+v", is)
	}
	f.pod("small", "b", boundTo("node"), asks(20, 4))
	if got := f.afterPatience(); got != "ns/g" {
		t.Fatalf("nodes are held for %q", got)
	}
	f.clocks()
	if is := f.queue("root.a").Starvation; !is.Claiming || is.Owed.Get(resource.CPU) != 10_000 {
		t.Errorf("50 cpu are free on held nodes, of 60: %+v", is)
	}
	f.forget("small")
	f.clocks()
	if is := f.queue("root.a").Starvation; !is.Claiming || is.Owed.Get(resource.CPU) != 0 {
		t.Errorf("70 cpu are free on held nodes: %+v", is)
	}
	f.declare("root.a", fairShareTimeout(1), guaranteedTimeout(1)) // without a guarantee, its share is 50 cpu
	f.clocks()
	if is := f.queue("root.a").Starvation; is.BelowGuaranteedSince != 0 || is.BelowFairShareSince == 0 {
		t.Fatalf("without a guarantee: %+v", is)
	}
	f.declare("root.a", fairShareTimeout(1), guaranteed(amounts(60, 0)), guaranteedTimeout(1))
	f.clocks()
	if is := f.queue("root.a").Starvation; is.BelowGuaranteedSince != 0 {
		t.Errorf("with 70 cpu held of 60 that are guaranteed, a clock begins: %+v", is)
	}
}

// 10,000 queues wait, and none is below its share: all are looked at. The rule is asked once a second while nodes are held, and for at most eight groups in
// a walk.
func BenchmarkMayHold(b *testing.B) {
	const parents, leaves, perNode = 100, 100, 25
	l := newLeader(Options{})
	nodes := 0
	add := func(prefix string, n int) {
		for i := range n {
			l.ObserveNode(Node{Name: fmt.Sprintf("%s-%03d", prefix, i), Allocatable: amounts(perNode, 4*perNode), Usable: true})
		}
		nodes += n
	}
	pod := func(uid, leaf, node string, edits ...func(*Pod)) {
		p := Pod{UID: UID(uid), Name: uid, Namespace: "default", Queue: leaf, Application: uid, Class: "c", Request: amounts(1, 4), Node: node}
		for _, edit := range edits {
			edit(&p)
		}
		l.ObservePod(p, 0)
	}
	declare := func(path string, weight int64) {
		d := queue.Declaration{Path: queue.Path(path), Spec: queue.DefaultSpec()}
		d.Spec.Weight = weight
		l.ObserveQueue(d)
	}
	add("greedy", 4)
	add("node", parents*leaves/perNode)
	declare("root.greedy", 1)
	for p := range parents {
		declare(fmt.Sprintf("root.p%02d", p), 1000)
		for q := range leaves {
			path := fmt.Sprintf("p%02d.l%02d", p, q)
			declare("root."+path, 1000)
			pod("runs-"+path, path, fmt.Sprintf("node-%03d", (p*leaves+q)/perNode), func(p *Pod) { p.Request = amounts(2, 4) }) // more than its share
			pod("waits-"+path, path, "")
		}
	}
	for i := range 4 * perNode {
		pod(fmt.Sprintf("greedy-%03d", i), "greedy", fmt.Sprintf("greedy-%03d", i/perNode))
	}
	l.ObservePodGroup(PodGroup{Key: "ns/g", MinMember: 4})
	for i := range 4 {
		pod(fmt.Sprintf("g%d", i), "greedy", "", asks(20, 4), ofGang("g"))
	}
	l.Settle(0)
	g := l.groups.byKey["ns/g"]
	pods := g.next(g.Need())
	held := l.nodes.nodesToHold(packingOf(g, pods, l.shares.total), nil)
	if len(held) != 4 {
		b.Fatalf("%d nodes would be held", len(held))
	}
	b.ReportAllocs()
	for b.Loop() {
		l.mayHold(pods, held)
	}
}
