package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// MaxPodResources reports whether a pod requests more than a single pod may, and the reason for the first such
// resource in name order. from returns the queue that states the limit of a resource. YARN FairScheduler:
// maxContainerAllocation.
func MaxPodResources(request, most resource.List, from func(resource.Name) string) (reason.Reason, bool) {
	for i := range request.Len() {
		e := request.At(i)
		if limit, stated := most.Lookup(e.Name); stated && e.Value > limit {
			return reason.Reason{Code: reason.MaxPodResources, Queue: from(e.Name), Resource: e.Name, Limit: limit, Asked: e.Value}, true
		}
	}
	return reason.Reason{}, false
}
