package ledger

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func executor(p *Pod) { p.Role = application.Executor }

// Half of 100 cpu is for drivers. d2 waits for its part, and its workers wait with it, whichever came first.
func TestOtherPodsWaitWithTheDriver(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("d1", "a", driver, in("one"), asks(40, 4), at(0))
	f.pod("w2", "a", executor, in("two"), ofClass("w"), at(1))
	f.pod("d2", "a", driver, in("two"), asks(40, 4), ofClass("d"), at(2))
	f.pod("x2", "a", in("two"), ofClass("w"), at(3)) // a pod without a role does, too
	f.pod("w1", "a", executor, in("one"), ofClass("w"), at(4))
	f.run("d1", "w1")
	f.wantPods(f.choose())
	f.wantWhy("w2", "WaitingForDriver root.a 0/0+0")
	if why := f.why(f.Ledger.pods["w2"]); reason.As[reason.Driver](why).Pod != "d2" || why.Cause().Code != reason.MaxDriverShare {
		t.Errorf("w2 waits since %+v", why)
	}
	f.forget("d1")
	f.run("d2", "w2", "x2")
}

// A driver that is refused in PreFilter takes the workers that were released after it with it.
func TestWorkersOfARefusedDriverAreRefused(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("d", "a", driver, in("one"), ofClass("d"), at(0))
	f.pod("w", "a", executor, in("one"), ofClass("w"), at(1))
	f.wantPods(f.choose(), "d", "w")
	f.fail("d", Refused)
	if why, ok := f.Recheck("w"); ok || why.Code != reason.WaitingForDriver {
		t.Errorf("w may go on: %v, %s", ok, why.Code)
	}
	f.fail("w", Refused)
	f.run("d", "w")
}

// If a driver fits on no node, none of its workers takes what it needs; and it is tried again before them.
func TestAParkedDriverKeepsItsWorkersBack(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("other", "a", asks(90, 4), at(0))
	f.run("other")
	f.pod("d", "a", driver, in("one"), asks(40, 4), ofClass("d"), at(1))
	f.pod("w", "a", executor, in("one"), ofClass("w"), at(2))
	f.wantPods(f.choose(), "d", "w") // the first of a class is tried, whatever room there is
	f.wantPods(f.fail("d", NoFit), "w")
	f.wantPods(f.choose())
	f.wantState("w", "Waiting root.a")
	f.forget("d")
	f.run("w")
}

// All drivers of an application are too large: the others are blocked, ask for nothing, and take no slot.
func TestAStuckDriverBlocksItsWorkers(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("w", "a", executor, in("one"), ofClass("w"), at(0))
	f.pod("d", "a", driver, in("one"), gatedBy("SchedulingGates"), ofClass("d"), at(1))
	f.wantPods(f.choose())
	f.wantState("w", "Waiting root.a WaitingForDriver")
	if q := f.queue("root.a"); !q.Demand.IsZero() || q.Active {
		t.Errorf("demand %v, active %v", q.Demand, q.Active)
	}
	f.pod("d2", "a", driver, in("one"), ofClass("d"), at(2))
	f.run("d2", "w")
	f.forget("d2")
	f.pod("w2", "a", executor, in("one"), ofClass("w"), at(3))
	f.wantPods(f.choose())
	f.forget("d")
	f.run("w2")
}

// Each pod is told once, after two seconds, and not again when numbers move.
func TestPodsAreToldWithWhichDriverTheyWait(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("d1", "a", driver, in("one"), asks(40, 4), at(0))
	f.pod("d2", "a", driver, in("two"), asks(40, 4), ofClass("d"), at(1))
	f.pod("w2", "a", executor, in("two"), ofClass("w"), at(2))
	f.pod("d3", "a", driver, in("three"), gatedBy("SchedulingGates"), at(3))
	f.pod("w3", "a", executor, in("three"), ofClass("w"), at(4))
	f.run("d1")
	survey := func(want ...string) {
		t.Helper()
		f.Survey(10, f.now)
		got := f.updates()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	survey()
	f.now += tellAfter
	survey("d2 MaxDriverShare", "w2 WaitingForDriver", "w3 WaitingForDriver")
	f.pod("d4", "a", driver, in("four"), asks(1, 1), ofClass("small"), at(5))
	f.run("d4") // moves what drivers use
	survey()
	f.forget("d1")
	f.run("d2", "w2")
	survey("d2", "w2")
}

// Half of 100 cpu is for drivers, and the two of this gang ask for 80. One application may always start, so they do where no driver runs; also the rest of
// them, after a restart that found one bound. Where another driver runs they wait, with the reason.
func TestAGangStartsWithAllOfItsDrivers(t *testing.T) {
	grouped := func(p *Pod) { p.PodGroup = "default/g" }
	for name, c := range map[string]struct {
		other, bound bool
		want         []UID
	}{
		"no driver runs":      {false, false, []UID{"d1", "d2", "w"}},
		"one of them runs":    {false, true, []UID{"d2", "w"}},
		"another driver runs": {true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.ObservePodGroup(PodGroup{Key: "default/g", MinMember: 3})
			if c.other {
				f.pod("other", "a", driver, ofClass("other"), boundTo("node"))
			}
			f.pod("w", "a", executor, in("g"), grouped, ofClass("w"), at(0))
			f.pod("d1", "a", driver, in("g"), grouped, asks(40, 4), ofClass("d"), at(1))
			f.pod("d2", "a", driver, in("g"), grouped, asks(40, 4), ofClass("d"), at(2))
			if c.bound {
				f.bindAll("d1")
			}
			f.wantPods(f.choose(), c.want...)
			f.reserve(c.want...)
			if c.other {
				f.wantWhy("d1", "MaxDriverShare root.a 1000/50000+80000")
				f.forget("other")
				f.wantPods(f.choose(), "d1", "d2", "w")
			}
		})
	}
}
