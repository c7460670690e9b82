package app

import (
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/resource"
	resourceinformersv1 "k8s.io/client-go/informers/resource/v1"
	"k8s.io/client-go/tools/cache"
)

// A pod may wait for a resource claim, which is not part of the pod: no pod event says that the claim is made. So when a claim
// changes, the pods that may mean it are shown to the ledger anew, which asks PreEnqueue plugin DynamicResources about each. That plugin
// looks into a cache of its own, which follows the informer by a handler: a handler of ours beside it could ask before the cache knows
// the claim, and nobody would ask again. Ours therefore runs behind the one that feeds the cache, in its registration.

// claimChanged shows the ledger anew the unbound pods of the claim's namespace that use claims.
func (s *Scheduler) claimChanged(obj any) {
	if tomb, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tomb.Obj
	}
	if claim, ok := obj.(*resourcev1.ResourceClaim); ok {
		s.turnstile.Reobserve(func(p *v1.Pod) bool { return p.Namespace == claim.Namespace && len(p.Spec.ResourceClaims) > 0 })
	}
}

// The types below are the path informerFactory.Resource().V1().ResourceClaims().Informer() with one method each replaced.
type (
	claimFactory struct {
		informers.SharedInformerFactory
		after func(claim any)
	}
	claimGroup struct {
		resource.Interface
		after func(claim any)
	}
	claimVersion struct {
		resourceinformersv1.Interface
		after func(claim any)
	}
	claims struct {
		resourceinformersv1.ResourceClaimInformer
		after func(claim any)
	}
	claimInformer struct {
		cache.SharedIndexInformer
		after func(claim any)
	}
	// claimHandler is somebody's handler, and what is called behind it.
	claimHandler struct {
		cache.ResourceEventHandler
		after func(claim any)
	}
)

func (f claimFactory) Resource() resource.Interface {
	return claimGroup{f.SharedInformerFactory.Resource(), f.after}
}

func (g claimGroup) V1() resourceinformersv1.Interface {
	return claimVersion{g.Interface.V1(), g.after}
}

func (v claimVersion) ResourceClaims() resourceinformersv1.ResourceClaimInformer {
	return claims{v.Interface.ResourceClaims(), v.after}
}

func (c claims) Informer() cache.SharedIndexInformer {
	return claimInformer{c.ResourceClaimInformer.Informer(), c.after}
}

func (i claimInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(claimHandler{h, i.after})
}

func (h claimHandler) OnAdd(obj any, initial bool) {
	h.ResourceEventHandler.OnAdd(obj, initial)
	h.after(obj)
}

func (h claimHandler) OnUpdate(before, obj any) {
	h.ResourceEventHandler.OnUpdate(before, obj)
	h.after(obj)
}

func (h claimHandler) OnDelete(obj any) {
	h.ResourceEventHandler.OnDelete(obj)
	h.after(obj)
}
