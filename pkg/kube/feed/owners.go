package feed

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// owners are those that say they have one pod, by UID: an owner that was replaced by a new one with the same name has
// other pods.
type owners struct {
	mu     sync.RWMutex
	onePod map[types.UID]struct{}
	wanted sync.Once
}

// Owners is the handler for informers of objects that control pods, of any kind (see convert.OwnerOf).
func (f *Feed) Owners() cache.ResourceEventHandler {
	return renewing(func(o metav1.Object) {
		if owner := convert.OwnerOf(o); owner != nil {
			f.owner(owner.UID, owner.OnePod())
		}
	}, func(o metav1.Object) { f.owner(o.GetUID(), false) })
}

// owner notes what an owner says. If that is new, its pods are observed again.
func (f *Feed) owner(uid types.UID, onePod bool) {
	o := &f.owners
	o.mu.Lock()
	_, before := o.onePod[uid]
	switch {
	case onePod == before:
	case onePod:
		if o.onePod == nil {
			o.onePod = map[types.UID]struct{}{}
		}
		o.onePod[uid] = struct{}{}
	default:
		delete(o.onePod, uid)
	}
	o.mu.Unlock()
	if onePod != before && f.Resized != nil {
		f.Resized(uid)
	}
}

func (f *Feed) onePod(owner types.UID) bool {
	f.owners.mu.RLock()
	defer f.owners.mu.RUnlock()
	_, ok := f.owners.onePod[owner]
	return ok
}

// wantOwners asks for owners once there is a StateAware queue, or one that was StateAware when it was last readable.
func (f *Feed) wantOwners(d queue.Declaration) {
	if f.WantOwners != nil && (d.Spec.Policy == queue.StateAware || d.PolicyInForce == queue.StateAware) {
		f.owners.wanted.Do(f.WantOwners)
	}
}
