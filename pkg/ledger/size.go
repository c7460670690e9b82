package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// inheritMaxPod sets what a single pod may ask for in the queue: its own statement, and for what it does not name its parent's.
func (a *queueAccount) inheritMaxPod() {
	a.maxPod = a.spec.MaxPod
	if a.parent == nil || a.parent.maxPod.Len() == 0 {
		return
	}
	entries := make([]resource.Entry, 0, a.parent.maxPod.Len()+a.spec.MaxPod.Len())
	for i := range a.spec.MaxPod.Len() {
		entries = append(entries, a.spec.MaxPod.At(i))
	}
	for i := range a.parent.maxPod.Len() {
		e := a.parent.maxPod.At(i)
		if _, own := a.spec.MaxPod.Lookup(e.Name); !own {
			entries = append(entries, e)
		}
	}
	a.maxPod = resource.Of(entries...)
}

// tooLarge says whether the pod is larger than the leaf takes, and which queue says so.
func (r *record) tooLarge(leaf *queueAccount) (reason.Reason, bool) {
	return limit.MaxPodResources(r.Request, leaf.maxPod, func(n resource.Name) string {
		from := leaf
		for _, own := from.spec.MaxPod.Lookup(n); !own; _, own = from.spec.MaxPod.Lookup(n) {
			from = from.parent
		}
		return string(from.path)
	})
}
