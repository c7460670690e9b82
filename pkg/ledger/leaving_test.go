package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func (f *fixture) wantLeaving(want ...Leaving) {
	f.t.Helper()
	got, _ := f.Leaving()
	if diff := cmp.Diff(want, got); diff != "" {
		f.t.Errorf("leaving (-want +got):\n%s", diff)
	}
}

func TestLeavingCountsChargedPodsAndQueuesBelow(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.a")
	f.declare("root.a.b")
	f.declare("root.a.c")
	f.declare("root.a.d.e") // its parent is missing: not directly below root.a
	f.ObserveBadQueue("root.a.unreadable", "spec.weight: cannot be read")
	f.pod("released", "a.b", request(none)) // asks for nothing, and is charged all the same
	f.wantPods(f.choose(), "released")
	f.pod("bound", "a.b", placedIn("root.a.b"), boundTo("node"))
	f.pod("undeclared", "a.gone", placedIn("root.a.gone"), boundTo("node"))
	f.pod("others", "a.b", boundTo("node")) // not by this scheduler: it keeps no Queue
	f.wantLeaving()

	f.declare("root.a", deleting)
	f.declare("root.a.b", deleting)
	f.pod("waiting", "a.b")
	f.wantState("waiting", "Waiting - QueueDeleted")
	f.pod("next-door", "a.c")
	f.wantPods(f.choose(), "next-door") // deleting the parent stops no child
	f.wantLeaving(Leaving{Path: "root.a", Pods: 4, Children: 3}, Leaving{Path: "root.a.b", Pods: 2})
	if _, busy := f.Leaving(); !busy {
		t.Error("pods are released and not bound, and it does not count as busy")
	}
	f.forget("released", "bound")
	f.wantLeaving(Leaving{Path: "root.a", Pods: 2, Children: 3}, Leaving{Path: "root.a.b"})
	f.ForgetQueue("root.a.b")
	f.ForgetQueue("root.a.c") // undeclared from here on, with the pod next door
	f.ForgetQueue("root.a.unreadable")
	f.wantLeaving(Leaving{Path: "root.a", Pods: 2})
	f.forget("next-door", "undeclared")
	f.wantLeaving(Leaving{Path: "root.a"})
	if _, busy := f.Leaving(); busy {
		t.Error("nothing is under way, and it counts as busy")
	}
}

func TestWhatKeepsADeletedQueueIsItsFirstProblem(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b")
	f.declare("root.orphan.x", deleting)
	f.pod("p", "a.b", placedIn("root.a.b"), boundTo("node"))
	f.declare("root.a", deleting)
	q := f.queue("root.a")
	want := []reason.Reason{{Code: reason.Deleting, Queue: "root.a", Details: reason.Leftovers{Pods: 1, Children: 1}}}
	if diff := cmp.Diff(want, q.Problems); diff != "" {
		t.Error(diff)
	}
	want = []reason.Reason{
		{Code: reason.Deleting, Queue: "root.orphan.x", Details: reason.Leftovers{}},
		{Code: reason.ParentMissing, Queue: "root.orphan.x", Details: reason.Parent{Path: "root.orphan"}},
	}
	if diff := cmp.Diff(want, f.queue("root.orphan.x").Problems); diff != "" {
		t.Error(diff)
	}
}

func TestAQueueThatCannotBeReadIsRetired(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.good", weight(3))
	f.pod("p", "good", placedIn("root.good"), boundTo("node"))
	f.RetireQueue("root.good") // it can be read: what it declares says whether it is being deleted
	f.wantLeaving()
	f.ObserveBadQueue("root.good", "spec.weight: cannot be read")
	f.ObserveBadQueue("root.never", "spec.weight: cannot be read")
	f.pod("q", "good")
	f.wantState("q", "Waiting root.good")
	before := f.Version()
	f.RetireQueue("root.good")
	f.RetireQueue("root.never")
	if f.Version() == before {
		t.Error("the version stands still, so nobody looks")
	}
	f.wantState("q", "Waiting - QueueDeleted")
	f.pod("r", "never")
	f.wantState("r", "Waiting - QueueDeleted")
	if q := f.queue("root.good"); q.Spec.Weight != 3000 || !q.Declared {
		t.Errorf("its last good state is not in force: %+v", q)
	}
	if q := f.queue("root.never"); len(q.Problems) != 2 || q.Problems[0].Code != reason.Deleting || q.Problems[1].Code != reason.SpecInvalid {
		t.Errorf("got %+v", q.Problems)
	}
	f.wantLeaving(Leaving{Path: "root.good", Pods: 1}, Leaving{Path: "root.never"})

	f.declare("root.never", deleting) // mended
	f.wantLeaving(Leaving{Path: "root.good", Pods: 1}, Leaving{Path: "root.never"})
	f.ForgetQueue("root.never")
	f.ForgetQueue("root.good")
	f.wantLeaving()
	f.ObserveBadQueue("root.never", "spec.weight: cannot be read") // made again
	f.wantLeaving()
	f.wantState("r", "Waiting - QueueNotReady")
}
