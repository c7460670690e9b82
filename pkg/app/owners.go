package app

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// ownerWatch watches what controls pods, for what it says of their number. It begins with the first StateAware queue.
//
// Jobs are watched by an informer of their own. kube-scheduler's factory would keep them whole, and the scheduler would not start before it
// may read them all: a cluster whose roles are older than this scheduler would have none. The other kinds kube-scheduler watches anyway,
// to spread pods by default, and waits for.
type ownerWatch struct {
	synced  atomic.Pointer[[]cache.InformerSynced] // nil: it has not begun
	refused atomic.Bool                            // Jobs may not be read, or are not served
	said    sync.Once
}

// start returns at once; stop ends it.
func (w *ownerWatch) start(ctx context.Context, c kubernetes.Interface, f informers.SharedInformerFactory, h cache.ResourceEventHandler) error {
	jobs := batchinformers.NewJobInformer(c, metav1.NamespaceAll, 0, nil)
	if err := jobs.SetTransform(ownerOnly); err != nil {
		return err
	}
	if err := jobs.SetWatchErrorHandlerWithContext(w.failed); err != nil {
		return err
	}
	var synced []cache.InformerSynced
	for _, i := range []cache.SharedIndexInformer{
		jobs, f.Apps().V1().ReplicaSets().Informer(), f.Apps().V1().StatefulSets().Informer(), f.Core().V1().ReplicationControllers().Informer(),
	} {
		r, err := i.AddEventHandler(h)
		if err != nil {
			return err
		}
		synced = append(synced, r.HasSynced)
	}
	of := synced[0]
	synced[0] = func() bool { return of() || w.refused.Load() }
	w.synced.Store(&synced)
	f.Start(ctx.Done())
	go jobs.RunWithContext(ctx)
	return nil
}

// hasSynced: what owners there were has been heard of, or nobody asks for it.
func (w *ownerWatch) hasSynced() bool {
	synced := w.synced.Load()
	if synced == nil {
		return true
	}
	for _, has := range *synced {
		if !has() {
			return false
		}
	}
	return true
}

// failed says once that Jobs may not be read. The informer goes on asking, every half a minute at last, so a permission that comes later counts.
func (w *ownerWatch) failed(ctx context.Context, r *cache.Reflector, err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		return
	}
	w.refused.Store(true)
	w.said.Do(func() {
		klog.FromContext(ctx).Info("Jobs cannot be read, so in StateAware queues those of one pod count as starting until startingTimeout; "+
			"the scheduler needs list and watch on jobs.batch, see manifests/rbac/scheduler.yaml", "err", err)
	})
}

// ownerOnly drops what is not asked for before it is kept: a Job is several kilobytes, and there may be as many as pods.
func ownerOnly(obj any) (any, error) {
	if o := convert.OwnerOf(obj); o != nil {
		return o, nil
	}
	return obj, nil
}
