package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func (f *fixture) wantDemand(want string, paths ...string) {
	f.t.Helper()
	f.sound()
	for _, p := range paths {
		q := f.queue(queue.Path(p))
		if got := q.Demand.String(); got != want {
			f.t.Errorf("demand of %s is %s, want %s", p, got, want)
		}
		if !q.Allocated.Fits(q.Demand) {
			f.t.Errorf("%s has %s, more than its demand of %s", p, q.Allocated, q.Demand)
		}
	}
}

// All of the application is being deleted, so its next pod waits at the gate. That pod asks for nothing yet, but what runs still counts.
func TestDemandHoldsWhatAnApplicationAtTheGateStillUses(t *testing.T) {
	f := spark(t)
	f.edit("D1", func(p *Pod) { p.Request = amounts(2, 2) })
	f.run("D1")
	f.edit("D1", terminating)
	f.pod("E1", "s", in("app1"), at(3), asks(4, 4))
	f.wantStates("app1 Accepted", "app2 Accepted")
	f.wantPods(f.choose(), "E1") // app1 is first in line, so its pod counts
	f.wantDemand("cpu=6 memory=6Gi", "root.s", "root")
	f.reserve("E1")
	f.fail("E1", Refused)
	f.pod("D0", "s", in("app0"), at(0), driver, asks(1, 1)) // before app1
	f.wantDemand("cpu=3 memory=3Gi", "root.s", "root")      // D0, and D1 while it ends
	f.forget("D1")
	f.wantDemand("cpu=1 memory=1Gi", "root.s", "root")
}

// A max that is lowered below what runs stops nothing, so the demand follows the usage, and no further.
func TestDemandIsNeverBelowTheUsage(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.x")
	for _, uid := range []UID{"p1", "p2", "p3"} {
		f.pod(uid, "a.x", asks(4, 4))
	}
	f.run("p1", "p2", "p3")
	f.pod("p4", "a.x", asks(4, 4))
	f.wantDemand("cpu=16 memory=16Gi", "root.a.x", "root.a", "root")
	f.declare("root.a.x", maximum(amounts(6, 100)))
	f.wantDemand("cpu=12 memory=16Gi", "root.a.x", "root.a", "root")
	f.edit("p1", func(p *Pod) { p.Request = amounts(5, 4) }) // resized in place
	f.wantDemand("cpu=13 memory=16Gi", "root.a.x", "root.a", "root")
	f.forget("p1")
	f.wantDemand("cpu=8 memory=12Gi", "root.a.x", "root.a", "root")
	f.forget("p2")
	f.wantDemand("cpu=6 memory=8Gi", "root.a.x", "root.a", "root")
}
