package limit

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// MaxPodResources returns the first resource, in name order, of which a pod asks for more
// than one pod may, and whether there is one. YARN FairScheduler: maxContainerAllocation.
func MaxPodResources(request, most resource.List) (resource.Name, bool) {
	for i := range request.Len() {
		e := request.At(i)
		if limit, stated := most.Lookup(e.Name); stated && e.Value > limit {
			return e.Name, true
		}
	}
	return "", false
}
