package queuestatus

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
)

// root is what the writer knows of the Queue root. The ledger does not need the object, but an administrator should find
// the queue that holds all others, and its status, beside the others.
type root struct {
	missing bool
	retry   writing.Retry
}

// seen notes whether the ledger knows the Queue.
func (r *root) seen(there bool) {
	r.missing = !there
	if there {
		r.retry = writing.Retry{}
	}
}

// due reports whether to create the Queue now. After a success too some time must pass: the ledger has yet to hear of it.
func (r *root) due(now time.Time) bool { return r.missing && r.retry.Due(now) }

func (w *Writer) makeRoot(ctx context.Context, now time.Time) {
	w.root.retry.Postpone(now)
	limited, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	create := func(name string) error {
		_, err := w.client.Create(limited, queueObject(name), metav1.CreateOptions{FieldManager: writing.FieldManager})
		if err == nil {
			klog.FromContext(ctx).Info("Created a queue that every tree starts with", "queue", name)
		}
		return err
	}
	err := create(v1alpha1.RootQueue)
	if err == nil {
		// root.default, the queue of pods that name no queue, is created only together with a new root. If it is deleted
		// later, it stays deleted.
		err = create(v1alpha1.DefaultQueue)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		w.loop.Complain(ctx, err, "A queue that every tree starts with cannot be created; it is tried again", "queue", v1alpha1.RootQueue)
	}
}
