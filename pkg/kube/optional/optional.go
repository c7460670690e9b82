// Package optional follows a kind of object that a cluster may lack: a custom resource that is not installed, or a kind
// behind a feature gate.
//
// In: a client, a kind, and handlers for its objects. Out: what an informer gives, from the moment the kind is served. A plain informer
// of a kind that is not served never syncs, and a program that waits for it never starts. The package writes nothing.
package optional

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// While a kind is not served, the server is asked for it after absentEvery, and each time after twice as long, up to most. While no
// server answers, it is every unknownEvery, since other informers may wait for the answer; the server that comes back may be
// another one, so it is asked as at the beginning. Both are one small request. Watching the definitions instead would need the
// permission to read all of them, and would miss kinds that a feature gate brings.
const (
	absentEvery  = 10 * time.Second
	most         = 2 * time.Minute
	unknownEvery = time.Second
)

// Informer is an informer of a kind that may be missing. It hands over untyped objects.
type Informer struct {
	kind     schema.GroupVersionResource
	client   dynamic.NamespaceableResourceInterface
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
	clock    clock.Clock

	answered atomic.Bool // a server said whether the kind is there
	served   atomic.Bool
}

// New returns an informer that calls h. The clock is for tests; nil is the real one.
func New(client dynamic.Interface, kind schema.GroupVersionResource, h cache.ResourceEventHandler, c clock.Clock) (*Informer, error) {
	if c == nil {
		c = clock.RealClock{}
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, kind, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	handler, err := informer.AddEventHandler(h)
	return &Informer{kind: kind, client: client.Resource(kind), informer: informer, handler: handler, clock: c}, err
}

// HasSynced reports whether all objects of the kind were handed over, or the kind is known to be missing.
func (i *Informer) HasSynced() bool {
	return i.answered.Load() && (!i.served.Load() || i.handler.HasSynced())
}

// GetStore returns the objects as last seen, to be read only. It is empty while the kind is missing.
func (i *Informer) GetStore() cache.Store { return i.informer.GetStore() }

// Run waits for the kind and then follows it until the context ends. If the kind disappears, its objects are reported as
// deleted, and Run waits for the kind again.
func (i *Informer) Run(ctx context.Context) {
	logger := klog.FromContext(ctx).WithValues("kind", i.kind.GroupResource())
	said, absent := "", absentEvery
	for ctx.Err() == nil {
		_, err := i.client.List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil {
			i.served.Store(true)
			i.answered.Store(true)
			logger.Info("The cluster serves an optional kind")
			i.informer.Run(ctx.Done())
			return
		}
		every := unknownEvery
		if refused(err) {
			every, absent = absent, min(2*absent, most)
			i.answered.Store(true)
		} else {
			absent = absentEvery
		}
		if ctx.Err() == nil && !apierrors.IsNotFound(err) && said != err.Error() {
			said = err.Error()
			logger.Error(err, "An optional kind cannot be read; it is tried again")
		}
		select {
		case <-ctx.Done():
		case <-i.clock.After(every):
		}
	}
}

// refused reports whether a server has answered no: the kind may not be read, or the server cannot read it. A failure
// that passes by itself is no answer.
func refused(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsTooManyRequests(err) &&
		!apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err)
}
