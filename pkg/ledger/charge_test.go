package ledger

import (
	"math"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestChargeIsMadeAtReleaseAndTakenBackOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		end   func(*fixture)
		state string
	}{
		"an attempt fails because no node fits":      {func(f *fixture) { f.fail("p", NoFit) }, "Parked root.a.b"},
		"an attempt fails with an error":             {func(f *fixture) { f.fail("p", Errored) }, "Waiting root.a.b BackOff"},
		"a rule of ours refuses":                     {func(f *fixture) { f.fail("p", Refused) }, "Waiting root.a.b"},
		"the failure is reported twice":              {func(f *fixture) { f.fail("p", NoFit); f.fail("p", NoFit) }, "Parked root.a.b"},
		"the bind fails":                             {func(f *fixture) { f.reserve("p"); f.fail("p", Errored) }, "Waiting root.a.b BackOff"},
		"the pod is deleted":                         {func(f *fixture) { f.forget("p") }, "unknown"},
		"the pod is deleted while it is being bound": {func(f *fixture) { f.reserve("p"); f.forget("p") }, "unknown"},
		"the pod is to be deleted":                   {func(f *fixture) { f.edit("p", terminating) }, "Gone -"},
		"the pod is to be deleted, then it is":       {func(f *fixture) { f.edit("p", terminating); f.forget("p") }, "unknown"},
		"it is deleted and its attempt fails":        {func(f *fixture) { f.forget("p"); f.fail("p", NoFit) }, "unknown"},
		"it is to be deleted and its attempt fails":  {func(f *fixture) { f.edit("p", terminating); f.fail("p", NoFit) }, "Gone -"},
		"its sibling parks": {func(f *fixture) {
			f.pod("q", "a.b", ofClass("other"))
			f.choose()
			f.fail("q", NoFit)
			f.fail("p", NoFit)
		}, "Waiting root.a.b"},
		"kube-scheduler lost it and the sweeper came": {func(f *fixture) { f.Repair("p", f.now) }, "Waiting root.a.b"},
		"the bound pod ends":                          {func(f *fixture) { f.reserve("p"); f.bindAll("p"); f.forget("p") }, "unknown"},
		"another scheduler takes it over":             {func(f *fixture) { f.edit("p", func(p *Pod) { p.Foreign = true }) }, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.declare("root.a.b")
			f.pod("p", "a.b")
			f.wantUsage("root", "")
			f.wantPods(f.choose(), "p")
			for _, q := range []queue.Path{"root", "root.a", "root.a.b"} {
				f.wantUsage(q, "cpu=1 memory=4Gi")
			}
			tc.end(f)
			f.sound()
			for _, q := range []queue.Path{"root", "root.a", "root.a.b"} {
				f.wantUsage(q, "")
			}
			if s := f.Snapshot(); s.InWindow != 0 {
				t.Errorf("%d pods are left in the window", s.InWindow)
			}
			f.wantState("p", tc.state)
		})
	}
}

func TestBoundPodStaysChargedUntilItIsGone(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	f.run("p")
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.edit("p", terminating) // it runs until its grace period ends
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	if withdraw := f.fail("p", Errored); len(withdraw) != 1 { // the bind was said to fail, and did not
		t.Errorf("withdraw %q", withdraw)
	}
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.forget("p")
	f.wantUsage("root.a", "")
}

func TestLabelChangedAfterTheChargeDoesNotMoveIt(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("p", "a")
	f.wantPods(f.choose(), "p")
	f.edit("p", relabelled("b"))
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.reserve("p")
	f.edit("p", relabelled("a.no-such-queue"))
	f.bindAll("p")
	f.edit("p", relabelled("b"))
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.wantUsage("root.b", "")
	f.forget("p")
	f.wantUsage("root.a", "")
}

func TestPodRelabelledWhileReleasedGoesToItsNewQueueWhenTheAttemptFails(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("p", "a")
	f.wantPods(f.choose(), "p")
	f.edit("p", relabelled("b"))
	f.wantPods(f.fail("p", NoFit), "p") // no probe for its old queue: it must be tried as a pod of the new one
	f.wantState("p", "Waiting root.b BackOff")
	f.wantUsage("root.a", "")
}

func TestPodRelabelledWhileWaitingMoves(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("p", "a")
	f.edit("p", relabelled("b"))
	f.wantState("p", "Waiting root.b")
	f.run("p")
	f.wantUsage("root.b", "cpu=1 memory=4Gi")
}

func TestInPlaceResizeMovesTheChargeAlsoOverALimit(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(2, 100)))
	f.pod("p", "a", asks(2, 4))
	f.pod("q", "a")
	f.run("p")
	f.edit("p", asks(5, 8))
	f.wantUsage("root", "cpu=5 memory=8Gi")
	want := reason.Reason{Code: reason.OverLimit, Queue: "root.a", Resource: resource.CPU, Limit: 2000, Used: 5000}
	if problems := f.queue("root.a").Problems; len(problems) != 1 || problems[0] != want {
		t.Errorf("problems %+v, want %+v", problems, want)
	}
	f.wantPods(f.choose())
	f.edit("p", asks(1, 4))
	f.wantPods(f.choose(), "q")
}

func TestPodBoundBySomebodyElseIsChargedWhereItWasPlaced(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("p", "a", boundTo("node"), placedIn("root.b"))
	f.pod("q", "a", boundTo("node"))
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.wantUsage("root.b", "cpu=1 memory=4Gi")
	f.forget("p")
	f.wantUsage("root.b", "")
}

func TestWaitingPodThatSomebodyElseBindsLeavesTheOrder(t *testing.T) {
	// A bind that was said to fail and did not looks the same.
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(10, 40)))
	f.pod("p", "a")
	f.pod("q", "a")
	f.bindAll("p")
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.wantPods(f.choose(), "q")
}

func TestParkedPodThatSomebodyElseBindsOpensItsClass(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	f.pod("q", "a")
	f.wantPods(f.choose(), "p")
	f.fail("p", NoFit)
	f.bindAll("p")
	f.wantPods(f.choose(), "q")
}

func TestHugeRequestsSaturateAndAreTakenBackExactly(t *testing.T) {
	const huge = math.MaxInt64/2 + 1 // 2^62
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b", maximum(resource.Of(resource.Entry{Name: resource.CPU, Value: 1})))
	f.declare("root.a.c")
	memory := request(resource.Of(resource.Entry{Name: resource.Memory, Value: huge}))
	for _, uid := range []UID{"p", "q", "r"} {
		f.pod(uid, "a.c", memory)
		f.pod(uid+"-limited", "a.b", memory, ofClass("l"))
	}
	f.declare("root.a.d") // a change of the tree sums all up again
	for _, uid := range []UID{"p", "q", "r"} {
		f.bindAll(uid)
	}
	if got := f.queue("root").Allocated.Get(resource.Memory); got != math.MaxInt64 {
		t.Errorf("root is charged %d", got)
	}
	f.forget("p", "q", "p-limited")
	if got := f.queue("root").Allocated.Get(resource.Memory); got != huge {
		t.Errorf("root is charged %d, want %d", got, int64(huge))
	}
	f.forget("r", "q-limited", "r-limited")
	f.wantUsage("root", "")
	if got := f.queue("root").Demand; !got.IsZero() {
		t.Errorf("root demands %v of nobody", got)
	}
}

func TestRecheckSaysWhyAReleasedPodMayNotGoOn(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*fixture)
		want   reason.Code
	}{
		"nothing changed":                  {func(*fixture) {}, ""},
		"max was lowered":                  {func(f *fixture) { f.declare("root.a", maximum(amounts(0, 400))) }, reason.MaxResources},
		"max of an ancestor was lowered":   {func(f *fixture) { f.declare("root", maximum(amounts(100, 3))) }, reason.MaxResources},
		"the queue is being deleted":       {func(f *fixture) { f.declare("root.a", deleting) }, reason.QueueDeleted},
		"the queue is gone":                {func(f *fixture) { f.ForgetQueue("root.a") }, reason.QueueNotFound},
		"the pod is to be deleted":         {func(f *fixture) { f.edit("p", terminating) }, reason.WaitingTurn},
		"the pod was taken back":           {func(f *fixture) { f.fail("p", Refused) }, reason.WaitingTurn},
		"another child of root was edited": {func(f *fixture) { f.declare("root.b", maximum(amounts(0, 0))) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.pod("p", "a")
			f.wantPods(f.choose(), "p")
			tc.change(f)
			if why, ok := f.Recheck("p"); why.Code != tc.want || ok != (tc.want == "") {
				t.Errorf("PreFilter: %v %+v, want %q", ok, why, tc.want)
			}
			if why, ok := f.Reserve("p", "node", f.now); why.Code != tc.want || ok != (tc.want == "") {
				t.Errorf("Reserve: %v %+v, want %q", ok, why, tc.want)
			}
			f.sound()
		})
	}
}

func TestReserveIsGrantedOnceAndToReleasedPodsOnly(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	if _, ok := f.Reserve("p", "node", f.now); ok {
		t.Error("a waiting pod was reserved")
	}
	if _, ok := f.Reserve("nobody", "node", f.now); ok {
		t.Error("an unknown pod was reserved")
	}
	f.wantPods(f.choose(), "p")
	f.reserve("p")
	if _, ok := f.Reserve("p", "node", f.now); ok {
		t.Error("a pod was reserved twice")
	}
	f.wantUsage("root", "cpu=1 memory=4Gi")
}

func TestWindowBoundsWhatIsReleasedAndNotBound(t *testing.T) {
	f := newFixture(t, Options{Window: 2})
	f.declare("root.a")
	for _, uid := range []UID{"p", "q", "r", "s"} {
		f.pod(uid, "a", ofClass(string(uid)))
	}
	f.wantPods(f.choose(), "p", "q")
	f.reserve("p", "q")
	f.wantPods(f.choose())
	f.bindAll("p")
	f.wantPods(f.choose(), "r")
	f.forget("q")
	f.wantPods(f.choose(), "s")
}

func TestTicketsGrowAndAreKept(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", ofClass("p"))
	f.pod("q", "a", ofClass("q"))
	f.wantPods(f.choose(), "p", "q")
	p, q := f.Ticket("p"), f.Ticket("q")
	if p == 0 || q <= p {
		t.Errorf("tickets %d and %d", p, q)
	}
	f.edit("p", relabelled("b"))
	if f.Ticket("p") != p {
		t.Error("a released pod's ticket changed")
	}
	if f.Ticket("nobody") != 0 {
		t.Error("an unknown pod has a ticket")
	}
}

func TestSweeperRepairsOnlyWhatIsReleasedAndOverdue(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	for _, uid := range []UID{"p", "q", "r"} {
		f.pod(uid, "a", ofClass(string(uid)))
	}
	f.wantPods(f.choose(), "p", "q", "r")
	f.reserve("q")
	f.wantPods(f.Overdue(f.now))
	f.wantPods(f.Overdue(f.now+1), "p", "r")
	f.Repair("p", f.now)
	f.Repair("q", f.now)
	f.wantState("p", "Waiting root.a")
	f.wantState("q", "Reserved root.a")
	if f.Repairs() != 1 {
		t.Errorf("%d repairs", f.Repairs())
	}
}
