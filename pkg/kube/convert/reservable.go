package convert

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
)

// deepestPlan is the lowest level of a queue that may be reservable: its pods go to queues below it.
const deepestPlan = 11

// reservable reads whether capacity of a queue can be reserved. The rest of the spec has been read. What is for leaves holds in the queues below, where the
// pods are.
func reservable(q *v1alpha1.Queue, d *queue.Declaration) error {
	if _, _, err := SharingPolicy(q); err != nil {
		return err
	}
	d.Reservable = q.Spec.Reservable != nil && *q.Spec.Reservable
	switch {
	case !d.Reservable && q.Spec.Reservations != nil:
		return refusal(q.Name, "spec.reservations", errors.New("is for queues that state reservable: true"))
	case !d.Reservable:
		return nil
	case d.Path == queue.Root || d.Path.Depth() > deepestPlan:
		return refusal(q.Name, "spec.reservable", fmt.Errorf("is for queues below root, at most %d levels deep, root included", deepestPlan))
	case q.Spec.Children != nil:
		return refusal(q.Name, "spec.children", errors.New("a reservable queue is for pods: remove children"))
	}
	d.Parent = true
	s := &d.Spec
	s.MaxDriverShare, s.DefaultPriority, s.Users, s.MaxStarting, s.StartingTimeout = queue.Limit{}, 0, queue.Users{}, queue.Limit{}, queue.StartingTimeout{}
	s.Strict = false
	if s.Policy.ByAge() {
		s.Policy = queue.Unstated
	}
	return nil
}

// SharingPolicy returns how much of a reservable queue may be reserved, and whether pods that outlive their reservation run on.
func SharingPolicy(q *v1alpha1.Queue) (p reservation.Policy, moveOnExpiry bool, err error) {
	p = reservation.DefaultPolicy()
	r := q.Spec.Reservations
	if r == nil {
		return p, true, nil
	}
	for _, field := range []struct {
		name, stated string
		to           *int64
		least        time.Duration
	}{{"window", r.Window, &p.Window, time.Minute}, {"enforcementWindow", r.EnforcementWindow, &p.EnforcementWindow, 0}} {
		if field.stated == "" {
			continue
		}
		d, err := duration(field.stated, field.least, longestWindow)
		if err != nil {
			return p, true, refusal(q.Name, "spec.reservations."+field.name, fmt.Errorf("%q is not %w", field.stated, err))
		}
		*field.to = int64(d / time.Second)
	}
	for _, field := range []struct {
		name   string
		stated v1alpha1.Percentage
		to     *int64
	}{{"averageShare", r.AverageShare, &p.AverageShare}, {"instantaneousShare", r.InstantaneousShare, &p.InstantaneousShare}} {
		if field.stated == "" {
			continue
		}
		if *field.to, err = partOfParent(string(field.stated)); err != nil {
			return p, true, refusal(q.Name, "spec.reservations."+field.name, err)
		}
	}
	return p, r.MoveOnExpiry == nil || *r.MoveOnExpiry, nil
}

// longestWindow bounds how far averages look back, and how far ahead reservations go.
const longestWindow = 2160 * time.Hour
