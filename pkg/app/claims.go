package app

import (
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/resource"
	resourceinformersv1 "k8s.io/client-go/informers/resource/v1"
	"k8s.io/client-go/tools/cache"
)

// A pod may wait for a resource claim, which is another object: no pod event says that the claim was created.
// So when a claim changes, the ledger observes the pods that may use it again, and asks PreEnqueue plugin
// DynamicResources about each. That plugin reads its own cache, which a handler of the informer fills. A
// separate handler of ours could ask before that cache has the claim, and nothing would ask again. So ours
// runs in the same registration, after the handler that fills the cache.

// claimChanged makes the ledger observe again the unbound pods in the claim's namespace that use claims.
func (s *Scheduler) claimChanged(obj any) {
	if tomb, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tomb.Obj
	}
	if claim, ok := obj.(*resourcev1.ResourceClaim); ok {
		s.turnstile.Reobserve(func(p *v1.Pod) bool { return p.Namespace == claim.Namespace && len(p.Spec.ResourceClaims) > 0 })
	}
}

// The types below are the path informerFactory.Resource().V1().ResourceClaims().Informer(), each with one
// method replaced.
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
	// claimHandler is another handler, and what is called after it.
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
