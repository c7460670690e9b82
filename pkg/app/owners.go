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

// ownerWatch watches the controllers of pods, to know how many pods they will have. It starts with the first
// StateAware queue.
//
// Jobs have an informer of their own. kube-scheduler's factory would keep them whole, and the scheduler would
// not start before it may list Jobs: with roles older than this scheduler, it never would. kube-scheduler
// watches the other kinds anyway, for default spreading, and waits for them.
type ownerWatch struct {
	synced  atomic.Pointer[[]cache.InformerSynced] // nil: it has not started
	refused atomic.Bool                            // Jobs may not be listed, or are not served
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

// hasSynced reports whether all existing owners are known, or nothing needs them.
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

// failed logs once that Jobs may not be listed. The informer tries again, in the end every half minute, so a
// later permission takes effect.
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

// ownerOnly drops what is not needed before the object is stored: a Job is several kilobytes, and there may be
// as many Jobs as pods.
func ownerOnly(obj any) (any, error) {
	if o := convert.OwnerOf(obj); o != nil {
		return o, nil
	}
	return obj, nil
}
