package queuestatus

import (
	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// capacity writes what is in force of a queue that shares by capacity. That is read back after a restart, so it outlives
// the time in which the queue is not in the tree.
func capacity(q ledger.QueueState, previous, status *v1alpha1.QueueStatus) {
	switch spec := &q.Spec; {
	case !q.InTree:
		status.Capacity, status.MaxCapacity = previous.Capacity, previous.MaxCapacity
	case spec.Capacity.Stated:
		most := queue.Whole
		if spec.MaxCapacity.Stated {
			most = spec.MaxCapacity.Most
		}
		status.Capacity, status.MaxCapacity = resource.Decimal(spec.Capacity.Most)+"%", resource.Decimal(most)+"%"
		status.AbsoluteCapacity, status.AbsoluteMaxCapacity = resource.Percent(q.Absolute.Capacity), resource.Percent(q.Absolute.Max)
	}
}
