package reservations

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// task is a Queue to create, to change or to delete.
type task struct {
	name   string
	kind   string
	object *unstructured.Unstructured // as it is to be; nil: it is to be deleted
	seen   *unstructured.Unstructured // as it is; nil: it is to be created
	retry  writing.Retry
}

const (
	toCreate = "create"
	toChange = "change"
	toDelete = "delete"
)

// writeQueues makes the Queues below the reservable ones what they are to be. Those that are not needed any more keep no guarantee, and go when no pod is in
// them.
func (c *Controller) writeQueues(ctx context.Context, children []reservations.Child, plans []*v1alpha1.Queue, ours map[string]*unstructured.Unstructured) {
	above := make(map[string]*v1alpha1.Queue, len(plans))
	for _, q := range plans {
		above[q.Name] = q
	}
	before := c.tasks
	c.tasks = map[string]*task{}
	var due []*task
	enter := func(t *task) {
		if old := before[t.name]; old != nil && old.kind == t.kind && sameVersion(old.seen, t.seen) {
			t.retry = old.retry
		}
		if c.tasks[t.name] = t; t.retry.Due(c.loop.Clock.Now()) {
			due = append(due, t)
		}
	}
	needed := make(map[string]bool, len(children))
	for i := range children {
		child := &children[i]
		name := string(child.Path)
		needed[name] = true
		if t := c.taskFor(ctx, name, specOf(child, above[parent(name)]), child.For); t != nil {
			enter(t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		seen := ours[name]
		if needed[name] || seen.GetDeletionTimestamp() != nil {
			continue
		}
		plan := above[parent(name)]
		switch {
		case plan == nil || !c.holdsPods(seen):
			enter(&task{name: name, kind: toDelete, seen: seen})
		default:
			drained := reservations.Child{For: seen.GetAnnotations()[v1alpha1.KeyCreatedFor]}
			if t := c.taskFor(ctx, name, specOf(&drained, plan), drained.For); t != nil {
				enter(t)
			}
		}
	}
	writing.Send(ctx, due[:c.loop.Admit(len(due), false, c.loop.Clock.Now())], c.writeQueue, c.noteQueue)
}

func sameVersion(a, b *unstructured.Unstructured) bool {
	return a == nil && b == nil || a != nil && b != nil && a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion()
}

// specOf is the spec of a queue below a reservable one: with the settings for pods of that one. That of a reservation has weight 0, so it is entitled to what
// is reserved and to no more.
func specOf(child *reservations.Child, plan *v1alpha1.Queue) *v1alpha1.QueueSpec {
	spec := &v1alpha1.QueueSpec{}
	if plan != nil {
		is := &plan.Spec
		spec.Policy, spec.FairResource, spec.MaxDriverShare, spec.DefaultPriority = is.Policy, is.FairResource, is.MaxDriverShare, is.DefaultPriority
		spec.MaxStarting, spec.StartingTimeout, spec.Strict = is.MaxStarting, is.StartingTimeout, is.Strict
		spec.Users = is.Users.DeepCopy()
	}
	if child.For == "" {
		return spec
	}
	spec.Weight = resource.NewQuantity(0, resource.DecimalSI)
	for name, amount := range convert.ResourceList(child.Guaranteed) {
		if amount.IsZero() {
			continue
		}
		if spec.Guaranteed == nil {
			spec.Guaranteed = v1alpha1.Amounts{}
		}
		spec.Guaranteed[name] = v1alpha1.Amount{Text: amount.String()}
	}
	return spec
}

// taskFor returns what makes a Queue what it is to be; nil: nothing, or it is not ours.
func (c *Controller) taskFor(ctx context.Context, name string, spec *v1alpha1.QueueSpec, owner string) *task {
	object, err := objectOf(name, spec, owner)
	if err != nil {
		c.loop.Complain(ctx, err, "A queue cannot be written down", "queue", name)
		return nil
	}
	stored, ok, err := c.o.Queues.GetByKey(name)
	seen, is := stored.(*unstructured.Unstructured)
	switch {
	case err != nil || ok && !is:
		return nil
	case !ok:
		return &task{name: name, kind: toCreate, object: object}
	case !isOurs(seen) || seen.GetDeletionTimestamp() != nil || means(seen, object):
		return nil
	}
	return &task{name: name, kind: toChange, object: object, seen: seen}
}

func objectOf(name string, spec *v1alpha1.QueueSpec, owner string) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
	object.SetName(name)
	object.SetLabels(map[string]string{v1alpha1.KeyCreatedBy: v1alpha1.CreatedByReservation})
	if owner != "" {
		object.SetAnnotations(map[string]string{v1alpha1.KeyCreatedFor: owner})
	}
	return object, nil
}

// means reports whether a Queue is in force as it is to be.
func means(seen, want *unstructured.Unstructured) bool {
	a, errA := convert.DecodeQueue(seen)
	b, errB := convert.DecodeQueue(want)
	if errA != nil || errB != nil {
		return false
	}
	is, errA := convert.Declaration(a)
	should, errB := convert.Declaration(b)
	return errA == nil && errB == nil && is.Spec.Equal(should.Spec) && is.Percent.IsZero() && is.Parent == should.Parent && is.Origin == should.Origin
}

func (c *Controller) writeQueue(ctx context.Context, t *task) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	switch t.kind {
	case toCreate: // not an apply, which would take over a Queue that somebody else has just created
		return c.queues.Create(ctx, t.object, metav1.CreateOptions{FieldManager: writing.FieldManager})
	case toDelete:
		return nil, c.queues.Delete(ctx, t.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
			UID: ptr.To(t.seen.GetUID()), ResourceVersion: ptr.To(t.seen.GetResourceVersion()),
		}})
	}
	body, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": t.seen.GetResourceVersion()},
		{"op": "add", "path": "/spec", "value": t.object.Object["spec"]},
	})
	if err != nil {
		return nil, err
	}
	return c.queues.Patch(ctx, t.name, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: writing.FieldManager})
}

// outdated reports whether the version that a patch states is not that of the object any more. The API server calls that a request with an error in it; an
// object that it does not take has causes of another type.
func outdated(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeUnexpectedServerResponse })
}

// noteQueue takes in how a write went. After a success, too, some time must pass: the informer has yet to show it.
func (c *Controller) noteQueue(ctx context.Context, t *task, _ *unstructured.Unstructured, err error) {
	t.retry.Postpone(c.loop.Clock.Now())
	switch {
	case err == nil:
		klog.FromContext(ctx).V(2).Info("Wrote a queue for reservations", "queue", t.name, "what", t.kind)
	case t.kind == toCreate && apierrors.IsAlreadyExists(err), t.kind != toCreate && (apierrors.IsNotFound(err) || apierrors.IsConflict(err) || outdated(err)):
		// Somebody else was faster, and the informer will show it.
	default:
		c.loop.Complain(ctx, err, "A queue for reservations cannot be written; it is tried again", "queue", t.name, "what", t.kind)
	}
}
