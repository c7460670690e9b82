package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func TestWaitingPodsSayWhyNoQueueTakesThem(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b")
	f.declare("root.orphan.x")
	f.declare("root.old", deleting)
	f.ObserveBadQueue("root.unreadable", "weight: not a number")
	for q, want := range map[string]string{
		"a":           "Waiting - QueueNotLeaf",
		"root":        "Waiting - QueueNotLeaf",
		"a.c":         "Waiting - QueueNotFound",
		"":            "Waiting - QueueNotFound", // root.default, which nobody declared
		"A_b":         "Waiting - QueueNameInvalid",
		"orphan.x":    "Waiting - QueueNotReady",
		"orphan":      "Waiting - QueueNotFound",
		"old":         "Waiting - QueueDeleted",
		"unreadable":  "Waiting - QueueNotReady",
		"root.a.b":    "Waiting root.a.b",
		"a.b":         "Waiting root.a.b",
		"root-of-all": "Waiting - QueueNotFound",
	} {
		f.pod("p", q)
		f.wantState("p", want)
		f.forget("p")
	}
}

func TestWaitingPodsAreLetGoWhenTheirQueueAppears(t *testing.T) {
	f := newFixture(t, Options{})
	f.pod("p", "a.b")
	f.pod("q", "")
	f.wantPods(f.choose())
	f.declare("root.a.b")
	f.wantState("p", "Waiting - QueueNotReady")
	f.declare("root.a")
	f.wantState("p", "Waiting root.a.b")
	f.declare("root.default")
	f.run("p", "q")
}

func TestQueueThatCannotBeReadKeepsItsLastGoodState(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", weight(3))
	f.ObserveBadQueue("root.a", "weight: not a number")
	f.pod("p", "a")
	f.wantState("p", "Waiting root.a")
	q := f.queue("root.a")
	if len(q.Problems) != 1 || q.Problems[0].Code != reason.SpecInvalid || q.Spec.Weight != 3000 {
		t.Errorf("got %+v", q)
	}
	f.declare("root.a", weight(2))
	if q := f.queue("root.a"); len(q.Problems) != 0 || q.Spec.Weight != 2000 {
		t.Errorf("got %+v", q)
	}
	f.ObserveBadQueue("root.b", "weight: not a number")
	f.ForgetQueue("root.b")
	f.pod("q", "b")
	f.wantState("q", "Waiting - QueueNotFound")
}

func TestBoundPodsOfUndeclaredQueuesCountInAncestors(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", placedIn("root.a.gone.deep"), boundTo("node"))
	for _, q := range []queue.Path{"root", "root.a", "root.a.gone", "root.a.gone.deep"} {
		f.wantUsage(q, "cpu=1 memory=4Gi")
	}
	undeclared := f.queue("root.a.gone")
	if undeclared.Declared || !undeclared.InTree || undeclared.Spec.Weight != 0 {
		t.Errorf("got %+v", undeclared)
	}
	f.pod("q", "a.gone.deep")
	f.wantState("q", "Waiting - QueueNotFound")
	f.pod("r", "a")
	f.wantState("r", "Waiting - QueueNotLeaf")
	f.forget("p")
	f.wantState("r", "Waiting root.a") // the undeclared queues left with their last pod
	for _, q := range f.Snapshot().Queues {
		if !q.Declared && q.Path != queue.Root {
			t.Errorf("undeclared %s stays", q.Path)
		}
	}
}

func TestBoundPodWhoseQueueIsNoNameCountsAtTheRoot(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "No_Queue", boundTo("node"))
	f.wantUsage("root", "cpu=1 memory=4Gi")
	f.wantUsage("root.a", "")
	f.declare("root.b") // and keeps nothing from being declared
	f.pod("q", "b")
	f.run("q")
}

func TestAChildUnderAQueueWithPodsStaysOutUntilItDrains(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", created(10))
	f.pod("running", "a", at(20))
	f.pod("waiting", "a", at(25))
	f.run("running")
	f.declare("root.a.b", created(30))
	f.pod("p", "a.b", at(40))
	f.wantState("p", "Waiting - QueueNotReady")
	if q := f.queue("root.a.b"); q.InTree || len(q.Problems) != 1 || q.Problems[0].Code != reason.ParentHasPods {
		t.Errorf("got %+v", q)
	}
	f.run("waiting") // meanwhile the parent works on as a leaf
	f.forget("running", "waiting")
	f.wantState("p", "Waiting root.a.b")
	f.pod("late", "a", at(50))
	f.wantState("late", "Waiting - QueueNotLeaf")
	f.run("p")
}

func TestAChildStaysOutForOlderWaitingPodsInWhateverOrderTheyAreSeen(t *testing.T) {
	for name, observe := range map[string][]func(*fixture){
		"pods first": {
			func(f *fixture) { f.pod("old", "a", at(20)) },
			func(f *fixture) { f.pod("young", "a", at(40)) },
			func(f *fixture) { f.declare("root.a.b", created(30)) },
		},
		"child first": {
			func(f *fixture) { f.declare("root.a.b", created(30)) },
			func(f *fixture) { f.pod("young", "a", at(40)) },
			func(f *fixture) { f.pod("old", "a", at(20)) },
		},
		"child between": {
			func(f *fixture) { f.pod("young", "a", at(40)) },
			func(f *fixture) { f.declare("root.a.b", created(30)) },
			func(f *fixture) { f.pod("old", "a", at(20)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			for _, o := range observe {
				o(f)
			}
			f.pod("p", "a.b", at(50))
			f.wantState("old", "Waiting root.a")
			f.wantState("young", "Waiting root.a")
			f.wantState("p", "Waiting - QueueNotReady")
			f.forget("old")
			f.wantState("young", "Waiting - QueueNotLeaf") // it asked for a queue that had a child already
			f.wantState("p", "Waiting root.a.b")
		})
	}
}

func TestQueueThatOnlyItsPodsKeepInTheTreeLeavesWithThem(t *testing.T) {
	for name, ancestor := range map[string]func(*fixture){
		"its parent is deleted":    func(f *fixture) { f.ForgetQueue("root.a") },
		"its parent is given pods": func(f *fixture) { f.pod("in-parent", "a", placedIn("root.a"), boundTo("node"), at(40)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a", created(10))
			f.declare("root.a.b", created(30))
			f.pod("p", "a.b")
			f.pod("q", "a.b", in("p"))
			f.run("p")
			ancestor(f)
			f.wantState("q", "Waiting root.a.b")
			f.wantUsage("root.a.b", "cpu=1 memory=4Gi")
			f.forget("p")
			f.wantState("q", "Waiting - QueueNotReady")
		})
	}
}

func TestQueueDeletedWithRunningPodsStaysUndeclared(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b", maximum(amounts(1, 4)))
	for _, uid := range []UID{"running", "released", "waiting"} {
		f.pod(uid, "a.b", ofClass(string(uid)))
	}
	f.run("released")
	f.declare("root.a.b")
	f.run("running")
	f.bindAll("released", "running")
	f.pod("in-flight", "a.b", prioritised(5), ofClass("in-flight"))
	f.declare("root.a.b", deleting)
	f.wantState("waiting", "Waiting - QueueDeleted")
	f.ForgetQueue("root.a.b")
	f.wantState("waiting", "Waiting - QueueNotFound")
	f.wantUsage("root.a.b", "cpu=2 memory=8Gi")
	f.forget("running")
	f.wantUsage("root.a.b", "cpu=1 memory=4Gi")
	f.declare("root.a.b") // it comes back, with its charges
	f.wantUsage("root.a.b", "cpu=1 memory=4Gi")
	f.wantState("waiting", "Waiting root.a.b")
}

func TestParkedPodOfADeletedQueueIsWokenAndOpensItsClass(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("p", "a")
	f.pod("q", "b")
	f.wantPods(f.choose(), "p")
	f.fail("p", NoFit)
	f.wantPods(f.choose())
	f.ForgetQueue("root.a")
	f.wantPods(f.TakeWoken(f.now), "p")
	f.wantState("p", "Waiting - QueueNotFound")
	f.wantPods(f.choose(), "q")
}

func TestParkedPodThatIsRelabelledLeavesItsQueueAtOnce(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("p", "a")
	f.wantPods(f.choose(), "p")
	f.fail("p", NoFit)
	f.edit("p", relabelled("b"))
	f.ForgetQueue("root.a")
	f.sound()
	f.wantPods(f.TakeWoken(f.now), "p")
	f.sound()
	f.wantState("p", "Waiting root.b")
}

func TestChangeOfPolicyOrWeightReordersWhatWaits(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", policy(queue.FIFO))
	f.pod("old-1", "a", in("old"), at(10))
	f.pod("old-2", "a", in("old"), at(11))
	f.pod("young", "a", in("young"), at(20))
	f.run("old-1")
	f.declare("root.a") // shares decide now
	f.run("young")
	f.declare("root.a", policy(queue.FIFO))
	f.run("old-2")

	f.declare("root.b")
	f.pod("b", "b")
	f.pod("a", "a", asks(2, 8))
	f.declare("root.b", weight(0))
	f.run("a")
}

func TestApplicationsInsideALeafGoDriversThenPriorityThenAge(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("1-young", "a", in("x"), at(30))
	f.pod("2-old", "a", in("x"), at(20))
	f.pod("3-urgent", "a", in("x"), at(40), prioritised(7))
	f.pod("4-driver", "a", in("x"), at(50), func(p *Pod) { p.Role = application.Driver })
	f.run("4-driver", "3-urgent", "2-old", "1-young")
}

func TestApplicationsOfALeafGoByShareThenPriorityThenSubmission(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("1-young", "a", in("1"), at(30))
	f.pod("2-old", "a", in("2"), at(20))
	f.pod("3-urgent", "a", in("3"), at(40), prioritised(7))
	f.pod("4-running", "a", in("4"), at(1), prioritised(9), boundTo("node"))
	f.pod("4-waiting", "a", in("4"), at(2), prioritised(9))
	f.run("3-urgent", "2-old", "1-young", "4-waiting")
}

func TestQueueBelowItsGuaranteeGoesFirstAsFarAsItDemands(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b", guaranteed(amounts(50, 200)))
	for _, uid := range []UID{"b0", "b1", "b2"} {
		f.pod(uid, "b", asks(20, 80))
	}
	f.pod("a0", "a", asks(1, 4), ofClass("a"))
	f.run("b0", "b1", "b2", "a0") // with 40 of 100 cpu, root.b is still below its 50

	f.declare("root.c", guaranteed(amounts(50, 200)))
	f.pod("c0", "c", asks(2, 8), ofClass("a"))
	f.run("c0")
	f.pod("a1", "a", asks(1, 4), ofClass("a"))
	f.pod("c1", "c", gatedBy("SchedulingGates"), ofClass("a"))
	f.run("a1") // the rest of root.c's guarantee is asked for by nobody who could use it
}

func TestSnapshotCountsPodsAndApplicationsOfTheSubtree(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b")
	f.declare("root.idle")
	f.pod("p", "a.b", in("x"))
	f.pod("q", "a.b", in("x"))
	f.pod("r", "a.b", in("y"))
	f.run("p")
	for _, path := range []queue.Path{"root", "root.a", "root.a.b"} {
		q := f.queue(path)
		if q.PodsPending != 2 || q.PodsRunning != 1 || q.ApplicationsPending != 1 || q.ApplicationsRunning != 1 || !q.Active {
			t.Errorf("got %+v", q)
		}
		if got := q.Demand.String(); got != "cpu=3 memory=12Gi" {
			t.Errorf("queue %s demands %s", path, got)
		}
	}
	if q := f.queue("root.idle"); q.Active || !q.FairShare.IsZero() || q.SteadyFairShare.IsZero() {
		t.Errorf("got %+v", q)
	}
}

func TestSameObjectsAgainChangeNothing(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	f.pod("other", "b", foreignOn("node"))
	f.run("p")
	f.sound()
	before, room := f.Version(), f.nodes.roomChanges
	f.declare("root.a")
	f.pod("other", "b", foreignOn("node"))
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400), Usable: true})
	f.edit("p", func(*Pod) {})
	f.sound()
	if after := f.Version(); after != before || f.nodes.roomChanges != room {
		t.Errorf("version went from %d to %d, room changed %d times", before, after, f.nodes.roomChanges-room)
	}
}

// A pod that is on its way to a node stays in the queue to which it is charged, whatever it asks for by then. It keeps no children out of the queue that
// it names, unless it comes back to wait for that.
func TestAChargedPodKeepsNoChildrenOutOfTheQueueThatItNamesByNow(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.p", created(9))
	f.declare("root.p.c", created(10))
	f.pod("old", "a", at(5))
	f.pod("child", "p.c", at(20), ofClass("d"))
	f.wantPods(f.choose(), "old", "child")
	f.reserve("old")
	f.fail("child", Refused)
	f.edit("old", relabelled("p"))
	f.wantPods(f.choose(), "child")
	f.wantState("child", "Released root.p.c")
	f.fail("child", Refused)
	f.fail("old", Refused)
	f.wantPods(f.choose(), "old") // it is older than the child
	f.wantState("child", "Waiting - QueueNotReady")
	f.edit("old", relabelled("a"))
	f.fail("old", Refused)
	f.wantPods(f.choose(), "old", "child")
}
