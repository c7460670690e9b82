package metrics

import (
	"sync"

	"k8s.io/component-base/metrics"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

var (
	reservationsIn = desc("reservations", "Reservations there are, by phase.", "phase")
	decisions      = desc("reservation_decisions_total", "Decisions on reservations: accepted (updates, too), rejected, update_rejected (the old one stays in force) or cancelled.",
		"decision")
	reserved = desc("queue_reserved", "What reservations of a reservable queue have at this moment:"+units, "queue", "resource")
)

func reservationDescs() []*metrics.Desc { return []*metrics.Desc{reservationsIn, decisions, reserved} }

// The phases of Reservations and the decisions on them. All have a series, also with 0.
var (
	phasesShown    = []string{"Pending", "Accepted", "Rejected", "Active", "Ended", "Cancelled"}
	decisionsShown = []string{"accepted", "rejected", "update_rejected", "cancelled"}
)

// Reservations is what the leader found when it looked last.
type Reservations struct {
	Phases map[string]int               // how many Reservations are in each
	Now    map[queue.Path]resource.List // what is reserved in each reservable queue at this moment
}

// followed is what was recorded of reservations.
type followed struct {
	mu        sync.Mutex
	last      Reservations
	decisions map[string]uint64
}

// Followed records what the leader has found. Nobody may change it afterwards.
func (r *Recorder) Followed(found Reservations) {
	r.followed.mu.Lock()
	defer r.followed.mu.Unlock()
	r.followed.last = found
}

// Decided counts a decision on a reservation.
func (r *Recorder) Decided(decision string) {
	r.followed.mu.Lock()
	defer r.followed.mu.Unlock()
	if r.followed.decisions == nil {
		r.followed.decisions = map[string]uint64{}
	}
	r.followed.decisions[decision]++
}

// reservations publishes what was recorded. No series is of one reservation: there may be any number of them.
func (s sink) reservations(f *followed, seen shown) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, phase := range phasesShown {
		s.gauge(reservationsIn, float64(f.last.Phases[phase]), phase)
	}
	for _, decision := range decisionsShown {
		s.counter(decisions, float64(f.decisions[decision]), decision)
	}
	for path, amounts := range f.last.Now { // each a series of its own: order does not matter
		if seen.paths[path] {
			s.amounts(reserved, string(path), amounts)
		}
	}
}
