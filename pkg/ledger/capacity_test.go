package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func byCapacity(thousandths int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Capacity = queue.AtMost(thousandths) }
}

func remembers(thousandths int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) {
		d.InForce = queue.Division{Known: true, Capacity: queue.AtMost(thousandths)}
	}
}

func (f *fixture) wantCapacity(path queue.Path, thousandths int64, problem reason.Code) {
	f.t.Helper()
	q := f.queue(path)
	if q.Spec.Capacity != queue.AtMost(thousandths) {
		f.t.Errorf("%s has a capacity of %+v in force, want %d", path, q.Spec.Capacity, thousandths)
	}
	if problem == "" && len(q.Problems) > 0 || problem != "" && (len(q.Problems) != 1 || q.Problems[0].Code != problem) {
		f.t.Errorf("%s has problems %+v, want %q", path, q.Problems, problem)
	}
}

// While this process runs it knows what was in force, whatever a status says, which is written later than it is true. A new
// process asks the status.
func TestTheLastGoodCapacities(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", byCapacity(60_000), remembers(1000))
	f.declare("root.b", byCapacity(40_000))
	f.Settle(f.now)
	f.wantCapacity("root.a", 60_000, "")
	f.declare("root.a", byCapacity(70_000), remembers(1000))
	f.Settle(f.now)
	f.wantCapacity("root.a", 60_000, reason.CapacitySumInvalid)
	f.wantCapacity("root.b", 40_000, reason.CapacitySumInvalid)
	f.declare("root.b", byCapacity(30_000))
	f.Settle(f.now)
	f.wantCapacity("root.a", 70_000, "")
	f.wantCapacity("root.b", 30_000, "")
	f.wantShares()

	f = newFixture(t, Options{})
	f.declare("root.a", byCapacity(70_000), remembers(60_000))
	f.declare("root.b", byCapacity(40_000), remembers(40_000))
	f.declare("root.c", byCapacity(5000))
	f.Settle(f.now)
	f.wantCapacity("root.a", 60_000, reason.CapacitySumInvalid)
	f.wantCapacity("root.b", 40_000, reason.CapacitySumInvalid)
	f.wantCapacity("root.c", 0, reason.CapacitySumInvalid)
	f.wantShares()
}

// Shares follow the nodes and who is active.
func TestSharesOfCapacities(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", byCapacity(60_000))
	f.declare("root.a.x", byCapacity(50_000))
	f.declare("root.a.y", byCapacity(50_000), func(d *queue.Declaration) { d.Spec.MaxCapacity = queue.AtMost(75_000) })
	f.declare("root.b", byCapacity(40_000))
	f.declare("root.b.v")
	f.declare("root.b.w")
	f.wantShares()
	f.pod("p", "root.a.x")
	f.pod("q", "root.b.w")
	f.wantShares()
	f.run("p", "q")
	f.wantShares()
	f.forget("p")
	f.wantShares()
}
