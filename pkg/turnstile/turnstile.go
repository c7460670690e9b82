// Package turnstile stands between the pod informer and kube-scheduler. It passes on assigned and foreign pods
// at once and withholds our waiting pods until the dispatcher releases them.
//
// Input is a SharedInformerFactory, which Factory wraps for scheduler.New, and an Observer that sees every pod
// first. Output is the events that kube-scheduler's own handler would have seen, without the waiting pods.
// Gating all waiting pods by PreEnqueue instead would be too slow: kube-scheduler walks its gated pods at
// every cluster event (about 90 ns per pod and event; 80% of its CPU with 46,000 waiting pods).
//
// The package decides nothing: the ledger says whether a pod may be inside, and the dispatcher passes that on.
package turnstile

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/dispatch"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Observer sees every pod before kube-scheduler does. Only the end of a pod it sees after: kube-scheduler must
// have freed the room before the ledger gives it to another pod.
type Observer interface {
	// ObservePod takes in the newest object. It returns true if the pod is ours.
	ObservePod(pod *v1.Pod) (ours bool)
	ForgetPod(pod *v1.Pod)
	// Changed is called after each event, outside the delivery lock: a round may be due.
	Changed()
}

// Turnstile is a pod event handler that wraps kube-scheduler's own.
//
// Lock order: delivery, then kube-scheduler's queue, then the ledger. Every informer callback and every
// release holds delivery, so that the newest object is delivered: no stale copy follows an update, no add
// follows a delete.
type Turnstile struct {
	observer Observer
	inside   func(ledger.UID) bool // the pod is in kube-scheduler's queue, or in a running attempt

	delivery sync.Mutex
	inner    cache.ResourceEventHandler
	pods     map[types.UID]*passage
	owned    map[types.UID]*passage // for each owner, one of its pods
}

// passage is what the turnstile knows of a pod: the newest object, and the object that kube-scheduler got last
// (nil: none).
type passage struct {
	newest    *v1.Pod
	delivered *v1.Pod
	ours      bool

	// The pods of ours that one owner controls are linked in a ring; owner is "" for a pod that is in no ring.
	owner          types.UID
	before, behind *passage
	// admitted: it was let in at least once. kube-scheduler may have put it back by itself, after an attempt
	// that was still running when the pod was withdrawn.
	admitted bool
}

// New returns a turnstile without a scheduler behind it; Factory connects one.
func New(o Observer, inside func(ledger.UID) bool) *Turnstile {
	return &Turnstile{observer: o, inside: inside, pods: map[types.UID]*passage{}, owned: map[types.UID]*passage{}}
}

// OnAdd implements cache.ResourceEventHandler.
func (t *Turnstile) OnAdd(obj any, initial bool) {
	if pod, ok := obj.(*v1.Pod); ok {
		t.deliver(func() { t.upsert(pod, initial) })
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (t *Turnstile) OnUpdate(oldObj, newObj any) {
	before, ok1 := oldObj.(*v1.Pod)
	pod, ok2 := newObj.(*v1.Pod)
	if !ok1 || !ok2 {
		return
	}
	t.deliver(func() {
		if before.UID != pod.UID { // deleted and created again between two events of the informer
			t.remove(before.UID, before)
		}
		t.upsert(pod, false)
	})
}

// OnDelete implements cache.ResourceEventHandler.
func (t *Turnstile) OnDelete(obj any) {
	if tomb, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tomb.Obj
	}
	if pod, ok := obj.(*v1.Pod); ok {
		t.deliver(func() { t.remove(pod.UID, pod) })
	}
}

func (t *Turnstile) deliver(f func()) {
	t.delivery.Lock()
	f()
	t.delivery.Unlock()
	t.observer.Changed()
}

func (t *Turnstile) upsert(pod *v1.Pod, initial bool) {
	p := t.pods[pod.UID]
	if p == nil {
		p = &passage{}
		t.pods[pod.UID] = p
	}
	p.newest = pod
	p.ours = t.observer.ObservePod(pod)
	t.follow(p)
	switch {
	case p.delivered != nil:
		before := p.delivered
		p.delivered = pod
		t.inner.OnUpdate(before, pod)
	case pod.Spec.NodeName != "":
		p.delivered = pod
		t.inner.OnAdd(pod, initial)
	}
}

func (t *Turnstile) remove(uid types.UID, last *v1.Pod) {
	p := t.pods[uid]
	if p == nil {
		return
	}
	delete(t.pods, uid)
	t.disown(p)
	if p.delivered != nil {
		t.inner.OnDelete(p.delivered)
	} else if p.admitted {
		t.inner.OnDelete(p.newest)
	}
	t.observer.ForgetPod(last)
}

// Exclusive implements dispatch.Port.
func (t *Turnstile) Exclusive(f func(dispatch.Gate)) {
	t.delivery.Lock()
	defer t.delivery.Unlock()
	f((*gate)(t))
}

// Holds implements dispatch.Port.
func (t *Turnstile) Holds(uid ledger.UID) bool { return t.inside(uid) }

// Reobserve shows the observer every unbound pod of ours that wanted selects, as if it had changed, because
// something outside the pod's object changed (a resource claim, the visibility of labels).
func (t *Turnstile) Reobserve(wanted func(*v1.Pod) bool) {
	t.deliver(func() {
		for _, p := range t.pods { // each pod on its own: order does not matter
			if p.ours && p.newest.Spec.NodeName == "" && wanted(p.newest) {
				t.observer.ObservePod(p.newest)
			}
		}
	})
}

// gate is the turnstile while the delivery lock is held.
type gate Turnstile

func (g *gate) Admit(uid ledger.UID) {
	p := g.pods[types.UID(uid)]
	if p == nil || p.newest.Spec.NodeName != "" {
		return
	}
	g.Withdraw(uid) // an add for a pod that is still in would be ignored
	p.delivered, p.admitted = p.newest, true
	g.inner.OnAdd(p.newest, false)
}

func (g *gate) Withdraw(uid ledger.UID) {
	p := g.pods[types.UID(uid)]
	switch {
	case p == nil || !p.admitted || p.newest.Spec.NodeName != "":
		return
	case p.delivered != nil:
		g.inner.OnDelete(p.delivered)
	default:
		g.inner.OnDelete(p.newest)
	}
	p.delivered = nil
}
