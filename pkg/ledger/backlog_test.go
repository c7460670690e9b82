package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const misfit = "0/1 nodes are available: 1 Insufficient cpu."

// fullCluster has its only node taken by one pod, and a queue of the given max, in order of submission.
func fullCluster(t *testing.T, most resource.List) *fixture {
	t.Helper()
	f := newFixture(t, Options{})
	f.declare("root.full")
	f.pod("big", "full", asks(100, 400), ofClass("big"))
	f.run("big")
	f.declare("root.m", policy(queue.FIFO), maximum(most))
	return f
}

// waiting observes so many pods of 1 cpu, each younger than the one before.
func (f *fixture) waiting(prefix, q string, n int, edits ...func(*Pod)) {
	f.t.Helper()
	for i := range n {
		f.pod(UID(fmt.Sprint(prefix, i)), q, append([]func(*Pod){at(int64(i))}, edits...)...)
	}
}

// probe has the pod tried for nothing, and shows what upstream's handler writes then.
func (f *fixture) probe(uid UID) {
	f.t.Helper()
	f.wantPods(f.choose(), uid)
	f.fail(uid, NoFit)
	f.shows(misfit, uid)
}

func (f *fixture) shows(message string, uids ...UID) {
	f.t.Helper()
	for _, uid := range uids {
		f.edit(uid, func(p *Pod) { p.Unschedulable = message })
	}
}

// look asks for the backlog after five seconds, and says "p" of a pod that is to show it and "-p" of one that is to lose it.
func (f *fixture) look(n int) (said []string) {
	f.t.Helper()
	show, unshow := f.Backlog(n, 5*sec, f.now)
	f.sound()
	for _, b := range show {
		said = append(said, b.Name)
	}
	for _, b := range unshow {
		said = append(said, "-"+b.Name)
	}
	slices.Sort(said[len(show):])
	return said
}

func (f *fixture) wantLook(n int, want ...string) {
	f.t.Helper()
	if got := f.look(n); !slices.Equal(got, want) {
		f.t.Errorf("got %q, want %q", got, want)
	}
}

func TestBacklogIsWhatLimitsLetRunTogether(t *testing.T) {
	f := fullCluster(t, amounts(3, 100))
	f.waiting("p", "m", 10)
	f.probe("p0")
	f.wantLook(1000) // p0 says it already, the others wait for no time yet
	f.now += 5*sec - 1
	f.wantLook(1000)
	f.now++
	show, _ := f.Backlog(1000, 5*sec, f.now)
	want := []Backlogged{{UID: "p1", Namespace: "default", Name: "p1", Message: misfit}, {UID: "p2", Namespace: "default", Name: "p2", Message: misfit}}
	if diff := cmp.Diff(want, show); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	f.shows(misfit, "p1", "p2")
	f.wantLook(1000)

	f.declare("root.m", policy(queue.FIFO), maximum(amounts(1, 100)))
	f.wantLook(1000, "-p1", "-p2")
	f.shows("", "p1", "p2")
	f.declare("root.m", policy(queue.FIFO), maximum(amounts(5, 100)))
	f.wantLook(1000)
	f.now += 5 * sec
	f.wantLook(1000, "p1", "p2", "p3", "p4")
	f.wantLook(4, "p1", "p2")
}

// Each of many classes has its probe, which shows what upstream wrote; a look has no place for others then.
func TestALookIsBoundedWhereManyClassesAreParked(t *testing.T) {
	f := fullCluster(t, amounts(50, 400))
	for i := range 5 {
		f.pod(UID(fmt.Sprint("p", i)), "m", ofClass(fmt.Sprint(i)), at(int64(i)))
		f.probe(UID(fmt.Sprint("p", i)))
	}
	f.pod("q", "m", ofClass("0"), at(9))
	f.look(4)
	f.now += 5 * sec
	f.wantLook(4)
	f.declare("root.m", maximum(amounts(0, 0)))
	f.wantLook(4, "-p0", "-p1", "-p2", "-p3", "-p4")
	f.declare("root.m", maximum(amounts(6, 100)))
	f.wantLook(11)
	f.now += 5 * sec
	f.wantLook(11, "q")
}

// The parked pod itself keeps what upstream wrote only while limits would let it run.
func TestTheProbeKeepsTheSameLimits(t *testing.T) {
	f := fullCluster(t, amounts(3, 100))
	f.waiting("p", "m", 2)
	f.probe("p0")
	f.declare("root.m", maximum(amounts(0, 100)))
	f.wantState("p0", "Parked root.m")
	f.wantLook(1000, "-p0")
	f.shows("", "p0")
	f.declare("root.m", maximum(amounts(1, 100)))
	f.wantLook(1000)
	f.now += 5 * sec
	f.wantLook(1000, "p0")
}

// Under root.t at most 4 cpu; a has weight 1 and b weight 3. Nobody uses anything: a by name, then b until it has three times as much.
func TestBacklogIsChargedInTheOrderOfTheDispatch(t *testing.T) {
	f := fullCluster(t, amounts(0, 0))
	f.declare("root.t", maximum(amounts(4, 100)))
	f.declare("root.t.a")
	f.declare("root.t.b", weight(3))
	f.waiting("a", "t.a", 5)
	f.waiting("b", "t.b", 5)
	f.probe("a0")
	f.look(1000)
	f.now += 5 * sec
	f.wantLook(1000, "b0", "b1", "b2")
	f.wantLook(3, "b0")
}

func TestPodsBeyondALookKeepWhatTheyShowUnlessSomethingHoldsThem(t *testing.T) {
	f := fullCluster(t, amounts(5, 100))
	f.waiting("p", "m", 8)
	f.probe("p0")
	f.shows(misfit, "p4", "p6")
	f.wantLook(3)
	f.wantLook(1000, "-p6")
	f.edit("p4", relabelled("nowhere"))
	f.wantLook(3, "-p4")
	f.shows("", "p4")
	f.pod("other", "m", asks(6, 4), ofClass("d"), at(-1)) // larger than all that the queue may use
	f.shows(misfit, "other")
	f.wantLook(2, "-other")
}

func TestPodsThatARuleBlocksAreNoBacklog(t *testing.T) {
	f := fullCluster(t, amounts(50, 400))
	f.declare("root.one", func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(1) })
	f.pod("p0", "one", at(1))
	f.probe("p0")
	f.pod("p1", "one", at(2))
	f.pod("lost", "nowhere")
	f.pod("gated", "m", gatedBy("SchedulingGates"))
	f.pod("p2", "m")
	f.look(1000)
	f.now += 5 * sec
	f.wantLook(1000, "p2")
	f.shows(misfit, "p1", "p2", "lost", "gated")
	f.wantLook(1000, "-gated", "-lost", "-p1")
	f.edit("p0", relabelled("nowhere")) // the probe: taken out of kube-scheduler's queue, and p1 has its slot
	f.wantLook(1000, "-gated", "-lost", "-p0")
	f.TakeWoken(f.now)
	f.wantLook(1000, "-gated", "-lost", "-p0")
	f.shows("", "p0", "lost")
	f.forget("gated")
	f.wantLook(1000)
}

func TestAPodForWhichThereIsRoomIsNoBacklog(t *testing.T) {
	f := fullCluster(t, amounts(3, 100))
	f.waiting("p", "m", 3)
	f.look(1000)
	f.now += 5 * sec
	f.wantLook(1000) // the class was never tried
	f.probe("p0")
	f.look(1000)
	f.now += 5 * sec
	f.ObserveNode(Node{Name: "new", Allocatable: amounts(1, 4), Usable: true})
	f.wantLook(1000, "p1", "p2") // still behind the probe
	f.Admitted("p0")
	f.TakeWoken(f.now)
	f.wantLook(1000)
	f.wantPods(f.choose(), "p0")
	f.wantLook(1000) // p0 took the room: the time begins
	f.now += 5*sec - 1
	f.wantLook(1000)
	f.now++
	f.wantLook(1000, "p1", "p2")
	if why, ok := f.Reserve("p0", "new", f.now); !ok {
		t.Fatal(why.Text())
	}
	f.edit("p0", boundTo("new"))
	f.wantLook(1000, "p1", "p2")
	f.ObserveNode(Node{Name: "newer", Allocatable: amounts(1, 4), Usable: true})
	f.wantLook(1000)
}

// What is in kube-scheduler's hands, or waits out a refusal, takes its place among the limits and is not spoken to.
func TestPodsInFlightAndInBackOffTakeTheirPlace(t *testing.T) {
	f := fullCluster(t, amounts(3, 100))
	f.ObserveNode(Node{Name: "new", Allocatable: amounts(1, 4), Usable: true})
	f.waiting("p", "m", 5)
	f.wantPods(f.choose(), "p0")
	f.reserve("p0")
	if r, ok := f.Choose(f.now); !ok || r.UID != "p1" {
		t.Fatalf("released %q", r.UID)
	}
	f.fail("p1", NoFit)
	f.fail("p0", NoFit) // somebody else's Permit
	f.wantState("p0", "Waiting root.m BackOff")
	f.shows(misfit, "p0", "p1")
	f.look(1000)
	f.now += 5 * sec
	f.wantLook(1000, "p2")
	f.wantState("p0", "Waiting root.m BackOff")
	if at, ok := f.NextRetry(100 * sec); !ok || at != 101*sec {
		t.Errorf("next retry at %d, %v", at, ok)
	}
	f.declare("root.m", policy(queue.FIFO), maximum(amounts(1, 100)))
	f.wantLook(1000, "-p1")
	f.declare("root.m", policy(queue.FIFO), maximum(amounts(0, 100)))
	f.wantLook(1000, "-p0", "-p1")
}

// A pod that was told of a limit says so until it is let go. Waiting for room is being let go as far as limits are concerned.
func TestAPodOfTheBacklogIsNotBlockedByALimitAnyMore(t *testing.T) {
	f := fullCluster(t, amounts(1, 100))
	f.waiting("p", "m", 2)
	f.probe("p0")
	f.declare("root.m", policy(queue.FIFO), maximum(amounts(0, 100)))
	f.now += tellAfter
	f.Survey(10, f.now)
	if got := f.updates(); !slices.Equal(got, []string{"p1 MaxResources"}) {
		t.Errorf("told %q", got)
	}
	f.wantLook(1000, "-p0")
	if got := len(f.conditions.pending); got != 0 {
		t.Errorf("the look put %d pods on the list of those to tell", got)
	}
	f.declare("root.m", policy(queue.FIFO), maximum(amounts(2, 100)))
	f.look(1000)
	if r := f.Ledger.pods["p1"]; r.limitShown.Code == "" || len(f.conditions.pending) != 0 {
		t.Errorf("limited by %q after a look that shows nothing, %d pods to tell", r.limitShown.Code, len(f.conditions.pending))
	}
	f.now += 5 * sec
	f.wantLook(1000, "p1")
	if got := f.updates(); !slices.Equal(got, []string{"p1"}) {
		t.Errorf("told %q", got)
	}
	f.Survey(10, f.now)
	if got := f.updates(); len(got) != 0 {
		t.Errorf("told %q", got)
	}
}

// Where the pod that failed last says nothing, what another of its class said counts: it may be bound by now.
func TestTheMessageIsWhatTheClassSays(t *testing.T) {
	f := fullCluster(t, amounts(3, 100))
	f.waiting("p", "m", 3)
	f.probe("p0")
	f.shows("older", "p2")
	f.look(1000)
	f.now += 5 * sec
	message := func(uid UID, want string) {
		t.Helper()
		show, _ := f.Backlog(1000, 5*sec, f.now)
		i := slices.IndexFunc(show, func(b Backlogged) bool { return b.UID == uid })
		if i < 0 || show[i].Message != want {
			t.Errorf("got %+v, want %s of %s", show, want, uid)
		}
	}
	message("p1", misfit)
	f.edit("p0", func(p *Pod) { p.Node, p.Unschedulable = "node", "" })
	message("p1", "older")
}

func TestShortageCountsAsKubeSchedulerDoes(t *testing.T) {
	f := fullCluster(t, amounts(9, 100))
	f.ObserveNode(Node{Name: "no-cpu", Allocatable: amounts(0, 400), Usable: true})
	f.ObserveNode(Node{Name: "nothing", Usable: true})
	f.ObserveNode(Node{Name: "cordoned"})
	f.ObserveNode(Node{Name: "one", Allocatable: amounts(8, 8), Usable: true, Pods: 1})
	f.pod("foreign", "", foreignOn("one"))
	f.pod("p", "m")
	got, ok := f.Shortage("p")
	want := Shortage{Nodes: 5, TooMany: 1, Lacking: []Lack{{resource.CPU, 3}, {resource.Memory, 2}}}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v, -want +got:\n%s", ok, diff)
	}
	for _, uid := range []UID{"big", "nobody"} { // one that runs has no class any more
		if _, ok := f.Shortage(uid); ok {
			t.Errorf("%s is short of something", uid)
		}
	}
}
