package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestMaxHoldsAtEveryLevelOfThePath(t *testing.T) {
	for _, limited := range []queue.Path{"root", "root.a", "root.a.b", "root.a.b.c"} {
		t.Run(string(limited), func(t *testing.T) {
			f := newFixture(t, Options{})
			for _, q := range []queue.Path{"root", "root.a", "root.a.b", "root.a.b.c", "root.a.b.d"} {
				f.declare(q)
			}
			f.declare(limited, maximum(amounts(3, 400)))
			for i := range 5 {
				f.pod(UID(fmt.Sprintf("p%d", i)), "a.b.c")
			}
			f.run("p0", "p1", "p2")
			f.wantPods(f.choose())
			f.wantState("p3", "Waiting root.a.b.c")
			f.forget("p1")
			f.run("p3")
			f.wantPods(f.choose())
			f.declare(limited, maximum(amounts(4, 400)))
			f.run("p4")
		})
	}
}

func TestMaxOfAnAncestorHoldsForAClassThatAnotherChildMayRelease(t *testing.T) {
	// root leads to root.a by the small class and to root.b by the large one: that must not let a large pod of root.a through.
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(2, 400)), weight(100))
	f.declare("root.a.x")
	f.declare("root.b")
	f.pod("large-a", "a.x", asks(3, 1), ofClass("large"), in("x"), at(1))
	f.pod("small-a", "a.x", asks(1, 1), ofClass("small"), in("x"), at(2))
	f.pod("large-b", "b", asks(3, 1), ofClass("large"))
	f.run("small-a", "large-b")
	f.wantPods(f.choose())
}

func TestMaxTestsUsageAndRequestTogether(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(5, 400)))
	for i := range 3 {
		f.pod(UID(fmt.Sprintf("p%d", i)), "a", asks(2, 1))
	}
	f.run("p0", "p1")
	f.wantPods(f.choose()) // 4 of 5 are used, and 2 more are not 5
}

func TestMaxOfAResourceThePodDoesNotAskForHoldsItToo(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", asks(1, 8))
	f.pod("q", "a", request(resource.Of(resource.Entry{Name: resource.CPU, Value: 100})), ofClass("q"))
	f.run("p")
	f.declare("root.a", maximum(amounts(100, 4)))
	f.wantPods(f.choose())
}

func TestLoweredMaxStopsNothingThatRunsAndLetsNothingIn(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	for i := range 4 {
		f.pod(UID(fmt.Sprintf("p%d", i)), "a")
	}
	f.run("p0", "p1", "p2")
	f.declare("root.a", maximum(amounts(1, 400)))
	f.wantUsage("root.a", "cpu=3 memory=12Gi")
	f.wantPods(f.choose())
	f.forget("p0", "p1")
	f.wantPods(f.choose())
	f.forget("p2")
	f.run("p3")
}

func TestMaxThatAReleasedPodFillsIsFreeAgainWhenItFails(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(1, 400)))
	f.pod("p", "a", ofClass("p"), at(1))
	f.pod("q", "a", ofClass("q"), at(2))
	f.wantPods(f.choose(), "p")
	f.fail("p", NoFit)
	f.wantPods(f.choose(), "q")
}

func TestBlockedQueueDoesNotStopItsSiblings(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(0, 0)))
	f.declare("root.b")
	f.pod("p", "a")
	f.pod("q", "b")
	f.run("q")
	f.wantPods(f.choose())
}

func TestDemandIsCappedByMaxAtEachLevel(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b", maximum(amounts(2, 400)))
	f.declare("root.a.c")
	want := func(path queue.Path, demand string) {
		t.Helper()
		f.sound()
		if got := f.queue(path).Demand.String(); got != demand {
			t.Errorf("queue %s demands %s, want %s", path, got, demand)
		}
	}
	for i := range 4 {
		f.pod(UID(fmt.Sprintf("b%d", i)), "a.b")
	}
	f.pod("c", "a.c")
	want("root.a.b", "cpu=2 memory=16Gi")
	want("root.a", "cpu=3 memory=20Gi")
	f.forget("b0", "b1", "b2")
	want("root", "cpu=2 memory=8Gi")
	f.declare("root.a", maximum(amounts(1, 400)))
	want("root", "cpu=1 memory=8Gi")
	f.pod("held", "a.b", gatedBy("SchedulingGates")) // demands nothing: more than room holds it back
	want("root.a.b", "cpu=1 memory=4Gi")
}
