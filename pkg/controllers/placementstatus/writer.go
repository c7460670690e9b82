package placementstatus

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
)

// writesPerSecond bounds what somebody can cause who changes the policy all the time.
const writesPerSecond = 2

// Options of a Writer.
type Options struct {
	// Policies is the store of an informer of PlacementPolicies (unstructured), which is only read.
	Policies cache.Store
	// Clock is for tests; nil is the real one.
	Clock clock.WithTicker
}

// Writer keeps the status of the PlacementPolicy up to date.
type Writer struct {
	client   dynamic.ResourceInterface
	policies cache.Store
	loop     *writing.Loop
	retry    writing.Retry
	seen     *unstructured.Unstructured // as the informer or the answer to our last write shows it, whichever is newer
}

// New returns a writer.
func New(client dynamic.Interface, o Options) *Writer {
	return &Writer{client: client.Resource(v1alpha1.PlacementPolicyResource), policies: o.Policies, loop: writing.NewLoop(writesPerSecond, o.Clock)}
}

// Run writes until the context ends. It must be called once, by the process that leads.
func (w *Writer) Run(ctx context.Context) {
	w.loop.Run(writing.Named(ctx, "placement-policy-status"), w.pass)
}

// pass writes the status if it should say something else.
func (w *Writer) pass(ctx context.Context) {
	now := w.loop.Clock.Now()
	if !w.look() || !w.retry.Due(now) {
		return
	}
	desired := Status(w.seen, metav1.NewTime(now))
	if equality.Semantic.DeepEqual(desired, statusOf(w.seen)) || !w.loop.AdmitOne() {
		return
	}
	answer, err := w.apply(ctx, desired)
	if err == nil {
		w.seen, w.retry = answer, writing.Retry{}
		return
	}
	w.retry.Postpone(now)
	if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // else it is gone or has changed, and the informer will show it
		w.loop.Complain(ctx, err, "The status of the placement policy cannot be written; it is tried again")
	}
}

// look takes in what the informer shows, if that is news, and reports whether there is a policy.
func (w *Writer) look() bool {
	stored, ok, err := w.policies.GetByKey(v1alpha1.PlacementPolicyName)
	object, is := stored.(*unstructured.Unstructured)
	if err != nil || !ok || !is {
		w.seen = nil
		return false
	}
	if w.seen != nil {
		order, err := resourceversion.CompareResourceVersion(object.GetResourceVersion(), w.seen.GetResourceVersion())
		if err == nil && order <= 0 {
			return true
		}
	}
	w.seen, w.retry = object, writing.Retry{}
	return true
}

func (w *Writer) apply(ctx context.Context, status v1alpha1.PlacementPolicyStatus) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		return nil, err
	}
	return writing.ApplyStatus(ctx, w.client, v1alpha1.GroupVersion.WithKind("PlacementPolicy"), w.seen, fields)
}
