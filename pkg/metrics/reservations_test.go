package metrics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestReservationsAreShown(t *testing.T) {
	l := newLedger()
	declare(l, "root.plan")
	declare(l, "root.a")
	declare(l, "root.a.deep")
	r := New(l, Options{MaxQueues: 3}) // root, root.a, root.plan
	lead(r)
	phase := func(name string) string { return fmt.Sprintf("fairway_reservations{phase=%q}", name) }
	decided := func(name string) string {
		return fmt.Sprintf("fairway_reservation_decisions_total{decision=%q}", name)
	}
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		phase("Pending"): 0, phase("Accepted"): 0, phase("Rejected"): 0, phase("Active"): 0, phase("Ended"): 0, phase("Cancelled"): 0,
		decided("accepted"): 0, decided("rejected"): 0, decided("update_rejected"): 0, decided("cancelled"): 0,
	})
	r.Followed(Reservations{Phases: map[string]int{"Active": 2, "Ended": 1}, Now: map[queue.Path]resource.List{
		"root.plan": amounts(2500, 4096), "root.a.deep": amounts(1000, 0),
	}})
	for _, d := range []string{"accepted", "cancelled", "accepted"} {
		r.Decided(d)
	}
	_, got = scrape(t, r)
	wantSeries(t, got, map[string]float64{
		phase("Active"): 2, phase("Ended"): 1, phase("Accepted"): 0, decided("accepted"): 2, decided("cancelled"): 1, decided("rejected"): 0,
		`fairway_queue_reserved{queue="root.plan",resource="cpu"}`: 2.5, `fairway_queue_reserved{queue="root.plan",resource="memory"}`: 4096,
	})
	r.Followed(Reservations{Phases: map[string]int{"Ended": 3}})
	_, got = scrape(t, r)
	wantSeries(t, got, map[string]float64{phase("Active"): 0, phase("Ended"): 3})
	for name := range got {
		if strings.HasPrefix(name, "fairway_queue_reserved") {
			t.Errorf("%s is there, and nothing is reserved", name)
		}
	}
}
