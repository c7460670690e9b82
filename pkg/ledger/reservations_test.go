package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func reservable(d *queue.Declaration) { d.Parent, d.Reservable = true, true }

func forReservation(name string) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Origin = queue.Origin{Reservation: true, For: name} }
}

func naming(why reason.Reason) func(*Pod) {
	return func(p *Pod) { p.Reservation = &why }
}

func TestPodsOfAReservableQueueAreInItsDefault(t *testing.T) {
	f := newFixture(t, Options{})
	for _, policy := range []bool{false, true} {
		f.declare("root.plan", reservable)
		if policy {
			f.placeBy(rule("Specified", withoutCreate), rule("Reject"))
		}
		f.pod("p", "plan")
		f.wantState("p", "Waiting - QueueNotReady")
		f.declare("root.plan.default", forReservation(""))
		f.wantState("p", "Waiting root.plan.default")
		f.declare("root.plan", func(d *queue.Declaration) { reservable(d); d.Deleting = true })
		f.wantState("p", "Waiting - QueueDeleted")
		f.forget("p")
		f.ForgetQueue("root.plan.default")
		f.sound()
	}
}

// What runs in a queue keeps it a leaf, so the queues below it have to wait.
func TestALeafThatBecomesReservableWaitsForItsPods(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.plan")
	f.pod("old", "plan")
	f.run("old")
	f.pod("new", "plan")
	f.declare("root.plan", reservable)
	f.declare("root.plan.default", forReservation(""))
	f.wantState("new", "Waiting - QueueNotReady")
	f.wantState("old", "Bound root.plan")
	f.forget("old")
	f.wantState("new", "Waiting root.plan.default")
}

func TestOnlyPodsOfAReservationAreInItsQueue(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.plan", reservable)
	f.declare("root.plan.default", forReservation(""))
	f.declare("root.plan.ns-night", forReservation("ns/night"))
	f.pod("stranger", "plan.ns-night")
	f.wantState("stranger", "Waiting - QueueReserved")
	f.pod("p", "root.plan.ns-night", naming(reason.Reason{}))
	f.wantState("p", "Waiting root.plan.ns-night")
	f.declare("root.plan.ns-night")
	f.edit("stranger", func(p *Pod) { p.User = "ann" })
	f.wantState("stranger", "Waiting root.plan.ns-night")
}

// The rules of placement are not asked where a reservation decides.
func TestAReservationComesBeforeThePlacementPolicy(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.ann")
	f.declare("root.plan", reservable)
	f.placeBy(rule("User"))
	early := reason.Reason{Code: reason.ReservationNotStarted, Details: reason.Reserved{Name: "ns/night", At: 5e9}}
	f.pod("p", "", of("ann"), naming(early))
	f.wantState("p", "Waiting - ReservationNotStarted")
	s, _ := f.PodState("p")
	if text := s.BlockedBy.Text(); text != "reservation ns/night has not begun; it begins at 1970-01-01T00:00:05Z" {
		t.Error(text)
	}
	f.declare("root.plan.ns-night", forReservation("ns/night"))
	f.edit("p", func(p *Pod) { p.Queue, p.Reservation = "root.plan.ns-night", &reason.Reason{} })
	f.wantState("p", "Waiting root.plan.ns-night")
	f.edit("p", func(p *Pod) { p.Queue, p.Reservation = "", nil })
	f.wantState("p", "Waiting root.ann")
	f.edit("p", func(p *Pod) { p.Reservation = &early })
	f.placeBy()
	f.wantState("p", "Waiting - ReservationNotStarted")
}

// At the end of a reservation the leader writes another queue on pods that run on. All that they hold counts there from then on.
func TestTheLeaderMovesABoundPod(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.plan", reservable)
	f.declare("root.plan.default", forReservation(""))
	f.declare("root.plan.ns-night", forReservation("ns/night"))
	for _, uid := range []UID{"p", "q"} {
		f.pod(uid, "root.plan.ns-night", naming(reason.Reason{}), in("night"), asks(2, 0))
	}
	f.run("p", "q")
	f.edit("p", func(p *Pod) { p.Placed = "root.plan.default" })
	f.wantState("p", "Bound root.plan.default")
	f.wantUsage("root.plan.default", "cpu=2")
	f.wantUsage("root.plan.ns-night", "cpu=2")
	f.edit("q", func(p *Pod) { p.Placed = "root.plan.gone" })
	f.wantState("q", "Bound root.plan.ns-night")
	f.edit("q", func(p *Pod) { p.Placed = "root.plan" })
	f.wantState("q", "Bound root.plan.ns-night")
	f.edit("q", func(p *Pod) { p.Placed = "root.plan.default" })
	f.wantUsage("root.plan.ns-night", "")
	f.wantUsage("root.plan", "cpu=4")
	f.forget("p", "q")
	f.wantUsage("root.plan", "")
}

// Another change of that annotation moves no charge.
func TestOnlyThoseOfAReservationMove(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.plan", reservable)
	f.declare("root.plan.default", forReservation(""))
	f.declare("root.plan.ns-night", forReservation("ns/night"))
	f.declare("root.a")
	f.pod("a", "a", asks(2, 0))
	f.pod("other", "plan", asks(2, 0))
	f.run("a", "other")
	f.edit("a", func(p *Pod) { p.Placed = "root.plan.default" })
	f.wantState("a", "Bound root.a")
	f.edit("other", func(p *Pod) { p.Placed = "root.plan.ns-night" })
	f.wantState("other", "Bound root.plan.default")
	f.edit("other", func(p *Pod) { p.Placed = "root.a" })
	f.wantState("other", "Bound root.plan.default")
}
