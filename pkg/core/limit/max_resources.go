// Package limit holds the hard limits of a queue, one file for each.
//
// A limit is a test of one queue: what it uses now, what a pod asks for, and what the
// queue allows. The caller tests every level of the path, because a limit covers the
// whole subtree. A limit that was lowered stops nothing that runs; it only lets
// nothing more in.
//
// The package must not change what it is given, and does not look for room on nodes.
package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// MaxResources says that with this request the queue would use more than its max, of
// the first such resource in name order, and whether it would. A resource absent from
// limits is unlimited.
//
// What is tested is usage and request together: YARN once tested the usage before
// the container alone and overshot by one container (YARN-3126). All resources of
// limits are tested, also those the pod does not ask for: a queue that is above any
// of its maxima starts nothing.
func MaxResources(queue string, usage *resource.Sum, request, limits resource.List) (reason.Reason, bool) {
	max, over := exceeded(usage, request, limits)
	if !over {
		return reason.Reason{}, false
	}
	return reason.Reason{
		Code: reason.MaxResources, Queue: queue, Resource: max.Name, Limit: max.Value, Used: usage.Get(max.Name), Asked: request.Get(max.Name),
	}, true
}

// ExceedsMax is the verdict of MaxResources alone. A release tests every level of a
// path with it, and a reason is not small.
func ExceedsMax(usage *resource.Sum, request, limits resource.List) bool {
	_, over := exceeded(usage, request, limits)
	return over
}

func exceeded(usage *resource.Sum, request, limits resource.List) (resource.Entry, bool) {
	for i := range limits.Len() {
		limit := limits.At(i)
		if resource.SatAdd(usage.Get(limit.Name), request.Get(limit.Name)) > limit.Value {
			return limit, true
		}
	}
	return resource.Entry{}, false
}
