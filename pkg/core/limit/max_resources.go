// Package limit holds the hard limits of a queue, one file for each.
//
// A limit is a test of one queue: what it uses now, what a pod requests, and what the queue allows. The caller
// tests every level of the path, because a limit covers the whole subtree. Lowering a limit stops nothing that
// runs; it only stops new pods.
//
// The package must not change its inputs, and does not look for room on nodes. docs/developing.md has recipes for a new
// limit and for a limit per user.
package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// MaxResources reports whether this request would raise the queue's usage above its max, and the reason for
// the first such resource in name order. A resource absent from limits is unlimited.
//
// It tests usage and request together: YARN once tested the usage before the container alone and overshot by
// one container (YARN-3126). It tests all resources of limits, also those the pod does not request: a queue
// that is above any of its maxima starts nothing.
func MaxResources(queue string, usage *resource.Sum, request, limits resource.List) (reason.Reason, bool) {
	limit, over := exceeded(usage, request, limits)
	if !over {
		return reason.Reason{}, false
	}
	return reason.Reason{
		Code: reason.MaxResources, Queue: queue, Resource: limit.Name, Limit: limit.Value, Used: usage.Get(limit.Name), Asked: request.Get(limit.Name),
	}, true
}

// ExceedsMax is MaxResources without the reason: a release tests every level of a path, and a reason is a
// large value.
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
