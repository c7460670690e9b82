package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func single(p *Pod) { p.Single = true }
func starters(n int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.MaxStarting = queue.AtMost(n) }
}
func adaptive(d *queue.Declaration) { d.Spec.StartingTimeout.Adaptive = true }

// spark is a StateAware leaf with drivers of two applications, submitted one after the other.
func spark(t *testing.T, edits ...func(*queue.Declaration)) *fixture {
	f := newFixture(t, Options{})
	f.declare("root.s", append([]func(*queue.Declaration){policy(queue.StateAware), driverShare(1000)}, edits...)...)
	f.pod("D1", "s", in("app1"), driver, at(1))
	f.pod("D2", "s", in("app2"), driver, at(2))
	return f
}

// bind binds pods that were released, as of now.
func (f *fixture) bind(uids ...UID) {
	f.t.Helper()
	f.reserve(uids...)
	f.each(uids, func(uid UID) { f.bound(uid, func(p *Pod) { p.Bound = f.now }) })
}

func (f *fixture) wantStates(want ...string) {
	f.t.Helper()
	var got []string
	for _, a := range f.Applications() {
		got = append(got, a.Name+" "+a.State.String())
	}
	f.sound()
	if !slices.Equal(got, want) {
		f.t.Errorf("got %q, want %q", got, want)
	}
}

// The example of YuniKorn's document: while App1 starts, nothing of App2 is scheduled.
func TestTheGateLetsOneApplicationStartAtATime(t *testing.T) {
	f := spark(t)
	f.wantPods(f.choose(), "D1")
	f.wantStates("app1 Starting", "app2 Accepted")
	f.bind("D1")
	f.pod("E11", "s", in("app1"), at(3))
	f.pod("E12", "s", in("app1"), at(4))
	f.wantPods(f.choose(), "E11") // its own pods always pass
	f.reserve("E11")
	f.wantPods(f.choose(), "E12")
	f.wantStates("app1 Starting", "app2 Accepted")
	f.edit("E11", boundTo("node"))
	f.wantStates("app1 Running", "app2 Accepted")
	f.wantPods(f.choose(), "D2")
	f.bind("E12", "D2")
	f.pod("E21", "s", in("app2"), at(5))
	f.wantStates("app1 Running", "app2 Starting")
	f.wantPods(f.choose(), "E21")
	f.bind("E21")
	f.wantStates("app1 Running", "app2 Running")
}

func TestAnApplicationLeavesStartingEarly(t *testing.T) {
	for name, leave := range map[string]func(f *fixture){
		"its driver ends":       func(f *fixture) { f.forget("D1") },
		"its driver is deleted": func(f *fixture) { f.edit("D1", terminating) },
		"its timeout passes":    func(f *fixture) { f.now += 300 * sec },
		"maxStarting is raised": func(f *fixture) { f.declare("root.s", policy(queue.StateAware), driverShare(1000), starters(2)) },
		"its timeout is shortened": func(f *fixture) {
			f.declare("root.s", policy(queue.StateAware), driverShare(1000), func(d *queue.Declaration) { d.Spec.StartingTimeout.Nanoseconds = 30 * sec })
		},
		"the policy is changed": func(f *fixture) { f.declare("root.s", policy(queue.FIFO), driverShare(1000)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := spark(t)
			f.wantPods(f.choose(), "D1")
			f.bind("D1")
			f.now += 60 * sec
			f.wantPods(f.choose())
			if next, ok := f.NextRetry(f.now); !ok || next != f.now+240*sec {
				t.Errorf("next at %d, %v, want five minutes after the driver got its node", next, ok)
			}
			leave(f)
			f.wantPods(f.choose(), "D2")
		})
	}
}

func TestApplicationsOfOnePodNeitherStartNorWait(t *testing.T) {
	f := spark(t)
	f.pod("alone", "s", single, at(3))
	f.pod("another", "s", single, at(4))
	f.wantPods(f.choose(), "D1", "alone")
	f.bind("alone")
	f.wantPods(f.choose(), "another")
	f.bind("another")
	f.wantStates("app1 Starting", "app2 Accepted", "alone Running", "another Running")
	// An application that says so and comes with two pods is not believed.
	f.pod("one", "s", single, in("liar"), at(5))
	f.pod("two", "s", single, in("liar"), at(6))
	f.wantPods(f.choose())
	f.wantStates("app1 Starting", "app2 Accepted", "alone Running", "another Running", "liar Accepted")
}

// An open gate passes over what cannot start, and counts as demand only what it would let pass.
func TestTheGateDoesNotWaitForPodsThatCannotStart(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.s", policy(queue.StateAware), driverShare(1000))
	f.pod("large", "s", asks(101, 4), ofClass("large"), at(1))
	f.pod("small", "s", at(2))
	f.pod("more", "s", at(3))
	if got := f.queue("root.s").Demand; !got.Equal(amounts(101, 4)) {
		t.Errorf("demand %v, want that of the first in line", got)
	}
	f.wantPods(f.choose(), "large")
	if got := f.queue("root.s").Demand; !got.Equal(amounts(101, 4)) {
		t.Errorf("demand %v, want what is released", got)
	}
	f.fail("large", NoFit)
	f.wantPods(f.choose(), "small")
	if got := f.queue("root.s").Demand; !got.Equal(amounts(1, 4)) {
		t.Errorf("demand %v, want what is released", got)
	}
}

func TestAPodAtTheGateIsToldWhatItWaitsFor(t *testing.T) {
	f := spark(t)
	f.pod("D3", "s", in("app3"), driver, at(3))
	f.choose()
	f.bind("D1")
	f.now += 10 * sec
	want := reason.Reason{Code: reason.StateAware, Queue: "root.s", Details: reason.Start{Next: "app1",
		Most: 1, Position: 2, Since: 100 * sec, Until: 400 * sec,
	}}
	if why, _ := f.Why("D3"); why != want {
		t.Errorf("got %+v, want %+v", why, want)
	}
	f.Survey(10, f.now)
	told := f.TakeConditionUpdates(10)
	if len(told) != 2 || told[0].Reason.Code != reason.StateAware || told[1].Reason.Code != reason.StateAware {
		t.Errorf("told %+v", told)
	}
	f.Survey(10, f.now)
	if again := f.TakeConditionUpdates(10); len(again) > 0 {
		t.Errorf("told again: %+v", again)
	}
}

// Somebody else binds a driver while the one that passed the gate is on its way: that one is sent back.
func TestASecondStarterIsSentBack(t *testing.T) {
	f := spark(t)
	f.wantPods(f.choose(), "D1")
	f.edit("D2", func(p *Pod) { p.Node, p.Bound = "node", f.now })
	if why, ok := f.Recheck("D1"); ok || why.Code != reason.StateAware || reason.As[reason.Start](why).Next != "app2" {
		t.Errorf("got %+v, %v", why, ok)
	}
	f.fail("D1", Refused)
	f.wantPods(f.choose())
	f.wantStates("app1 Accepted", "app2 Starting")
	f.forget("D2")
	f.wantPods(f.choose(), "D1")
	f.reserve("D1")
	if _, ok := f.Recheck("D1"); !ok {
		t.Error("the only starter is refused")
	}
}

func TestTheTimeoutIsLearntFromTheLastStarts(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.s", policy(queue.StateAware), driverShare(1000), adaptive)
	for i := range 6 {
		d, e := UID(fmt.Sprint("D", i)), UID(fmt.Sprint("E", i))
		f.pod(d, "s", in(fmt.Sprint("app", i)), driver, at(int64(i)))
		f.wantPods(f.choose(), d)
		f.bind(d)
		want := 60 * sec
		if i > 0 {
			want = 12 * sec // three times the 95th percentile of starts of four seconds
		}
		if got := f.queue("root.s").Starts; got.Timeout != want || len(got.Starting) != 1 || got.Starting[0].Until != f.now+want {
			t.Errorf("start %d: %+v, want a timeout of %d", i, got, want)
		}
		f.now += 4 * sec
		f.pod(e, "s", in(fmt.Sprint("app", i)), at(int64(i)))
		f.wantPods(f.choose(), e)
		f.bind(e)
	}
	memory := f.queue("root.s").Starts.Memory
	if want := []int64{4 * sec, 4 * sec, 4 * sec, 4 * sec, 4 * sec, 4 * sec}; !slices.Equal(memory.Starts, want) {
		t.Errorf("remembers %v, want %v", memory.Starts, want)
	}
	f.pod("D6", "s", in("app6"), driver, at(6))
	f.pod("D7", "s", in("app7"), driver, at(7))
	f.wantPods(f.choose(), "D6")
	f.bind("D6")
	why, _ := f.Why("D7")
	if start := reason.As[reason.Start](why); start.Took != 4*sec || start.Until != f.now+12*sec {
		t.Errorf("the reason does not say what was learnt: %+v", why)
	}
}

// Pods that somebody else has bound move with the tree and with their labels. What their application has shown in another queue is no start of this
// one, however far apart its pods got their nodes.
func TestAStartElsewhereIsNotLearnt(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.s", policy(queue.StateAware), driverShare(1000), adaptive)
	f.declare("root.s.part")
	f.declare("root.b")
	f.choose()
	bindAt := func(uid, label, app string, edits ...func(*Pod)) {
		edits = append(edits, in(app), boundTo("node"), func(p *Pod) { p.Bound = f.now })
		f.pod(UID(uid), label, edits...)
	}
	learnt := func(want ...int64) {
		t.Helper()
		f.Settle(f.now)
		f.sound()
		if got := f.queue("root.s").Starts.Memory.Starts; !slices.Equal(got, want) {
			t.Errorf("learnt %v, want %v", got, want)
		}
	}
	bindAt("D1", "s.part", "app1", driver)
	bindAt("D2", "b", "app2", driver)
	f.now += 30 * sec
	bindAt("E1", "s.part", "app1")
	bindAt("E2", "b", "app2")
	bindAt("E3", "s.part", "app3", executor)
	f.ForgetQueue("root.s.part") // so root.s has a gate
	learnt()
	f.edit("D2", relabelled("s"))
	f.wantStates("app2 Running", "app1 Running", "app2 Starting", "app3 Running")
	f.edit("E2", relabelled("s"))
	learnt()
	f.wantStates("app1 Running", "app2 Running", "app3 Running")

	// A start that ends here with a pod that gets its node here is one of this queue.
	bindAt("D4", "b", "app4", driver)
	f.edit("D4", relabelled("s"))
	f.now += 4 * sec
	bindAt("E4", "s", "app4")
	learnt(4 * sec)
}

// The pods of an application whose executors are gone look as if it were starting. The queue's status tells.
func TestARestartRemembersStartedApplications(t *testing.T) {
	f := spark(t, starters(1))
	f.choose()
	f.bind("D1")
	f.pod("E11", "s", in("app1"), at(3))
	f.choose()
	f.bind("E11")
	f.forget("E11")
	f.wantStates("app1 Running", "app2 Accepted")
	memory := f.queue("root.s").Starts.Memory
	if !slices.Equal(memory.Started, []string{"app1"}) {
		t.Fatalf("remembers %v", memory.Started)
	}
	for name, c := range map[string]struct {
		memory queue.Memory
		want   []UID
	}{
		"with what the status says": {memory, []UID{"D2"}},
		"without":                   {queue.Memory{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newFixture(t, Options{})
			for _, uid := range []UID{"D2", "D1"} {
				s, _ := f.PodState(uid)
				g.observe(s.Pod)
			}
			g.declare("root.s", policy(queue.StateAware), driverShare(1000), func(d *queue.Declaration) { d.Memory = c.memory })
			g.wantPods(g.choose(), c.want...)
		})
	}
	f.now += 300 * sec // from then on the pods alone tell
	f.choose()
	if got := f.queue("root.s").Starts.Memory.Started; len(got) > 0 {
		t.Errorf("still remembers %v", got)
	}
}

// What a ledger that begins sees of it has been there for less long than the application has.
func TestItIsRememberedAsLongAsItsPodsLookLikeAStart(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.s", policy(queue.StateAware), driverShare(1000))
	f.pod("one", "s", in("app"), at(1))
	f.wantPods(f.choose(), "one")
	f.bind("one")
	f.now += 200 * sec
	f.pod("two", "s", in("app"), at(2))
	f.wantPods(f.choose(), "two")
	f.bind("two")
	f.forget("one")
	two := f.now
	for _, c := range []struct {
		after int64
		want  []string
	}{{100, []string{"app"}}, {299, []string{"app"}}, {300, nil}} {
		f.now = two + c.after*sec
		f.choose()
		if got := f.queue("root.s").Starts.Memory.Started; !slices.Equal(got, c.want) {
			t.Errorf("%d s after its second pod got a node: remembers %v, want %v", c.after, got, c.want)
		}
	}
}

// A pod is not taken for the only one of its application because it is seen first.
func TestARestartDoesNotDependOnWhichPodIsSeenFirst(t *testing.T) {
	for _, order := range [][]UID{{"liar", "other"}, {"other", "liar"}} {
		f := newFixture(t, Options{})
		f.declare("root.s", policy(queue.StateAware), driverShare(1000))
		for _, uid := range order {
			said := driver
			if uid == "liar" {
				said = func(p *Pod) { p.Single, p.Role = true, application.Driver }
			}
			f.pod(uid, "s", in("app"), said, boundTo("node"))
		}
		f.wantStates("app Starting")
	}
	// Once it has run as the only one, it has, whatever comes after it.
	f := newFixture(t, Options{})
	f.declare("root.s", policy(queue.StateAware), driverShare(1000))
	f.pod("only", "s", in("app"), single, boundTo("node"))
	f.wantStates("app Running")
	f.pod("after", "s", in("app"))
	f.wantStates("app Running")
}

// A binding that failed may have arrived all the same. Until the back-off is over the application is taken for one that is starting.
func TestABindingInDoubtKeepsTheGate(t *testing.T) {
	f := spark(t)
	f.wantPods(f.choose(), "D1")
	f.reserve("D1")
	f.fail("D1", Errored)
	f.wantPods(f.choose())
	f.wantStates("app1 Starting", "app2 Accepted")
	f.edit("D1", func(p *Pod) { p.Node, p.Bound = "node", f.now }) // and so it did
	f.wantPods(f.choose())
	f.wantStates("app1 Starting", "app2 Accepted")
}

// One that cannot be bound holds the gate no longer than for its first failure.
func TestAnApplicationThatCannotBeBoundLeavesTheGate(t *testing.T) {
	f := spark(t)
	f.wantPods(f.choose(), "D1")
	f.reserve("D1")
	f.fail("D1", Errored)
	f.wantPods(f.choose())
	f.now += sec
	f.wantPods(f.choose(), "D1")
	f.reserve("D1")
	f.fail("D1", Errored)
	f.wantStates("app1 Accepted", "app2 Accepted")
	f.wantPods(f.choose(), "D2")
	f.wantStates("app1 Accepted", "app2 Starting")
}

// What fails otherwise later is not in doubt for what failed before.
func TestOnlyTheLastFailureIsInDoubt(t *testing.T) {
	f := spark(t)
	f.wantPods(f.choose(), "D1")
	f.reserve("D1")
	f.fail("D1", Errored)
	f.now += sec
	f.wantPods(f.choose(), "D1")
	f.fail("D1", Errored) // before it had a node
	f.wantStates("app1 Accepted", "app2 Accepted")
}

func TestApplicationsAreCountedByStateOnEveryLevel(t *testing.T) {
	f := spark(t)
	f.declare("root.t")
	f.pod("x", "t", at(9))
	f.wantPods(f.choose(), "D1", "x")
	f.bind("D1", "x")
	f.edit("x", terminating)
	q := f.queue("root")
	if q.ApplicationsPending != 1 || q.ApplicationsStarting != 1 || q.ApplicationsRunning != 1 {
		t.Errorf("pending %d, starting %d, running %d", q.ApplicationsPending, q.ApplicationsStarting, q.ApplicationsRunning)
	}
	f.wantStates("app1 Starting", "app2 Accepted", "x Completing")
	if got := f.queues.accounts["root"].states[application.Completing]; got != 1 {
		t.Errorf("%d are Completing", got)
	}
}
