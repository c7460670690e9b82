package convert

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	corepreemption "github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// defaultGrace is how long a pod that is evicted may take to stop, if it does not say.
const defaultGrace = 30 * time.Second

// Plans returns the reservable ones of some Queues, with what they are entitled to. The order is that of the Queues. One that is being deleted is not
// reservable any more: the queues below it would keep it for ever.
func Plans(queues []*v1alpha1.Queue, s ledger.Snapshot) []reservations.Queue {
	states := make(map[queue.Path]*ledger.QueueState, len(s.Queues))
	for i := range s.Queues {
		states[s.Queues[i].Path] = &s.Queues[i]
	}
	var out []reservations.Queue
	for _, q := range queues {
		if q.Spec.Reservable == nil || !*q.Spec.Reservable || q.DeletionTimestamp != nil {
			continue
		}
		path := queue.Path(q.Name)
		plan := reservations.Queue{Path: path}
		var err error
		if plan.Policy, _, err = SharingPolicy(q); err != nil {
			continue
		}
		if state := states[path]; state != nil && state.InTree {
			plan.InForce, plan.Capacity = true, state.SteadyFairShare
			plan.Lead = int64(leadTime(path, states) / time.Second)
		}
		out = append(out, plan)
	}
	return out
}

// Follow has the follower of the scheduler look once at these Queues and Reservations, without writing anything.
func Follow(queues, booked []*unstructured.Unstructured, s ledger.Snapshot, now time.Time) (*reservations.Follower, reservations.Result, []reservations.Object) {
	var plans []*v1alpha1.Queue
	for _, u := range queues {
		if q, err := DecodeQueue(u); err == nil {
			plans = append(plans, q)
		}
	}
	found := make([]reservations.Object, len(booked))
	for i, u := range booked {
		found[i] = ReservationObject(u)
	}
	f := reservations.New()
	return f, f.Step(now.UnixNano(), Plans(plans, s), found), found
}

// leadTime is how long before a step of a plan room must begin to be made for it; 0 if no pods are preempted for a guarantee. It is twice the time from the
// beginning of a claim until its victims are gone: room that is made at the cost of a queue which is owed it comes back from those that borrow, by a claim of
// that queue.
func leadTime(path queue.Path, states map[queue.Path]*ledger.QueueState) time.Duration {
	var is queue.Preemption
	for _, p := range append(path.Ancestors(), path) {
		if state := states[p]; state != nil {
			is = state.Spec.Preemption.Under(is, state.Spec.Capacity.Stated)
			if p == queue.Root {
				is = state.Spec.Preemption
			}
		}
	}
	if !is.GuaranteedTimeout.InForce() || is.ObserveOnly {
		return 0
	}
	settings := corepreemption.SettingsOf(is)
	claim := time.Duration(is.GuaranteedTimeout.Nanoseconds+settings.Interval+settings.MaxWaitBeforeKill) + defaultGrace
	return 2 * (claim + time.Second - 1).Truncate(time.Second)
}
