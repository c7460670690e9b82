package feed

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// PlacementPolicies is the handler for a dynamic informer of PlacementPolicies.
func (f *Feed) PlacementPolicies() cache.ResourceEventHandler {
	return handler(f.observePlacementPolicy, func(u *unstructured.Unstructured) {
		if u.GetName() == v1alpha1.PlacementPolicyName {
			f.Ledger.ObservePlacementPolicy(convert.PlacementPolicy(nil).Policy)
			f.Kick()
		}
	})
}

func (f *Feed) observePlacementPolicy(u *unstructured.Unstructured) {
	if u.GetName() == v1alpha1.PlacementPolicyName {
		f.Ledger.ObservePlacementPolicy(convert.PlacementPolicy(u).Policy)
		f.Kick()
	}
}
