package convert

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
)

// shortestRecurrence bounds how often a reservation may recur: the plan has a step for each time.
const shortestRecurrence = 15 * time.Minute

// Reservation returns the queue of a Reservation and what is to be reserved there. The error names the object and all fields that are wrong.
func Reservation(r *v1alpha1.Reservation) (queue.Path, reservation.Definition, error) {
	var problems []error
	check := func(field string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", field, err))
		}
	}
	path, err := queue.ParseRequest(r.Spec.Queue)
	check("spec.queue", err)
	d := reservation.Definition{Arrival: r.Spec.Arrival.Unix(), Deadline: r.Spec.Deadline.Unix()}
	if d.Deadline <= d.Arrival {
		check("spec.deadline", errors.New("must be after arrival"))
	}
	if r.Spec.Interpreter != "" { // All is the zero one
		d.Interpreter, err = reservation.ParseInterpreter(r.Spec.Interpreter)
		check("spec.interpreter", err)
	}
	if r.Spec.Recurrence != "" {
		d.Recurrence, err = wholeSeconds(r.Spec.Recurrence, shortestRecurrence)
		check("spec.recurrence", err)
	}
	for i := range r.Spec.Requests {
		request, problem := reservationRequest(&r.Spec.Requests[i])
		check(fmt.Sprintf("spec.requests[%d]", i), problem)
		d.Requests = append(d.Requests, request)
	}
	if problems != nil {
		return "", reservation.Definition{}, fmt.Errorf("reservation %s/%s: %w", r.Namespace, r.Name, errors.Join(problems...))
	}
	return path, d, nil
}

func reservationRequest(r *v1alpha1.ReservationRequest) (reservation.Request, error) {
	out := reservation.Request{Pods: r.Pods, Resources: Amounts(r.Resources), Concurrency: max(r.Concurrency, 1)}
	for name, q := range r.Resources {
		if name == corev1.ResourcePods {
			return out, errors.New("resources: pods: their number is a limit of each node and is not reserved")
		}
		if q.Sign() < 0 {
			return out, fmt.Errorf("resources: %s: must be at least 0, not %s", name, q.String())
		}
	}
	var err error
	if out.Duration, err = wholeSeconds(r.Duration, time.Second); err != nil {
		return out, fmt.Errorf("duration: %w", err)
	}
	return out, nil
}

// wholeSeconds reads a duration of at least so much.
func wholeSeconds(text string, least time.Duration) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d%time.Second != 0 {
		return 0, fmt.Errorf("%q is no duration in hours, minutes and seconds, such as 90s, 10m or 24h", text)
	}
	if d < least {
		return 0, fmt.Errorf("must be at least %s, not %s", least, d)
	}
	return int64(d / time.Second), nil
}
