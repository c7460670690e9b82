package world

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Reservations is what is reserved in a queue and in those below it.
func (w *World) Reservations(top queue.Path) report.Reservations {
	f, result, found := convert.Follow(w.Objects.Queues, w.Objects.Reservations, w.Snapshot, w.Now)
	now := w.Now.Unix()
	of := map[queue.Path][]report.Reservation{}
	d := report.Reservations{}
	for _, object := range found {
		plan, planned := f.Plan(object.Queue)
		r := report.Reservation{Name: object.Key(), User: object.User, Status: result.Statuses[object.Key()]}
		for _, accepted := range plan.Accepted {
			if accepted.Name == r.Name {
				r.Now = accepted.At(now)
			}
		}
		switch {
		case !top.Contains(object.Queue):
		case planned:
			of[object.Queue] = append(of[object.Queue], r)
		default:
			d.Others = append(d.Others, r)
		}
	}
	for _, path := range f.Queues() {
		if plan, _ := f.Plan(path); top.Contains(path) {
			d.Plans = append(d.Plans, report.ReservationPlan{Queue: path, Capacity: plan.Capacity, Timeline: plan.Booked(now, plan.Until(now)), Reservations: of[path]})
		}
	}
	return d
}
