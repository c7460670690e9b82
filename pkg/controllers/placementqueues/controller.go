package placementqueues

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// writesPerSecond bounds the writes over all queues. Pods wait for these writes, so they are not slowed down while others flow.
const writesPerSecond = 50

// Controller creates and deletes Queues.
type Controller struct {
	ledger *ledger.Ledger
	stored cache.Store
	client dynamic.NamespaceableResourceInterface
	loop   *writing.Loop
	tries  map[queue.Path]*task // what is to be done, also if it was done and does not show yet
}

// task is a Queue to create or to delete.
type task struct {
	path   queue.Path
	create *unstructured.Unstructured // nil: it is to be deleted
	seen   *unstructured.Unstructured // the Queue to delete
	retry  writing.Retry
}

// New returns a controller of the Queues in a store, the informer's that feeds the ledger; it must be full when Run is called.
func New(l *ledger.Ledger, stored cache.Store, client dynamic.Interface, c clock.WithTicker) *Controller {
	return &Controller{
		ledger: l, stored: stored, client: client.Resource(v1alpha1.QueueResource), tries: map[queue.Path]*task{},
		loop: writing.NewLoop(writesPerSecond, c),
	}
}

// Run works until the context ends. It must be called once, by the process that leads.
func (c *Controller) Run(ctx context.Context) {
	c.loop.Run(writing.Named(ctx, "placement-queues"), c.pass)
}

// pass does what is due. It ends with the requests it made, so that no two passes overlap.
func (c *Controller) pass(ctx context.Context) {
	now := c.loop.Clock.Now()
	do := c.ledger.PlacementActions(now.UnixNano())
	var due []*task
	before := c.tries
	c.tries = map[queue.Path]*task{}
	enter := func(p queue.Path, t *task) {
		if t.path = p; before[p] != nil && (before[p].create == nil) == (t.create == nil) {
			t.retry = before[p].retry
		}
		if c.tries[p] = t; t.retry.Due(now) {
			due = append(due, t)
		}
	}
	for _, q := range do.Create { // first: pods wait for them
		if c.get(q.Path) != nil {
			continue // the ledger is about to hear of it
		}
		object, err := objectOf(q, c.childrenOf(q.Path.Parent()))
		if err != nil {
			c.loop.Complain(ctx, err, "A queue cannot be written down", "queue", q.Path)
			continue
		}
		enter(q.Path, &task{create: object})
	}
	for _, p := range do.Remove {
		if seen := c.get(p); seen != nil && seen.GetDeletionTimestamp() == nil && seen.GetLabels()[v1alpha1.KeyCreatedBy] == v1alpha1.CreatedByPlacement &&
			seen.GetGeneration() <= 1 { // as far as the ledger has heard, all this is so
			enter(p, &task{seen: seen})
		}
	}
	writing.Send(ctx, due[:c.loop.Admit(len(due), false, now)], c.write, c.note)
}

func (c *Controller) get(p queue.Path) *unstructured.Unstructured {
	stored, ok, err := c.stored.GetByKey(string(p))
	object, is := stored.(*unstructured.Unstructured)
	if err != nil || !ok || !is {
		return nil
	}
	return object
}

// childrenOf is what a queue states for the queues that are created below it. Of a Queue that cannot be read that is nothing.
func (c *Controller) childrenOf(p queue.Path) *v1alpha1.QueueChildren {
	object := c.get(p)
	if object == nil {
		return nil
	}
	q, err := convert.DecodeQueue(object)
	if err != nil {
		return nil
	}
	return q.Spec.Children
}

func (c *Controller) write(ctx context.Context, t *task) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	if t.create != nil { // not an apply, which would take over a Queue that somebody else has just created
		return c.client.Create(ctx, t.create, metav1.CreateOptions{FieldManager: writing.FieldManager})
	}
	return nil, c.client.Delete(ctx, string(t.path), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
		UID: ptr.To(t.seen.GetUID()), ResourceVersion: ptr.To(t.seen.GetResourceVersion()),
	}})
}

// note takes in how a write went. After a success, too, some time must pass: the informer has yet to show it.
func (c *Controller) note(ctx context.Context, t *task, _ *unstructured.Unstructured, err error) {
	t.retry.Postpone(c.loop.Clock.Now())
	switch {
	case err == nil && t.create != nil:
		klog.FromContext(ctx).V(2).Info("Created a queue for pods that the placement policy places there", "queue", t.path)
	case err == nil:
		klog.FromContext(ctx).V(2).Info("Deleted an empty queue that was created for placement", "queue", t.path)
	case t.create != nil && apierrors.IsAlreadyExists(err), t.create == nil && (apierrors.IsNotFound(err) || apierrors.IsConflict(err)):
		// Somebody else was faster, and the informer will show it.
	case t.create != nil:
		c.loop.Complain(ctx, err, "A queue for placement cannot be created; it is tried again", "queue", t.path)
	default:
		c.loop.Complain(ctx, err, "An empty queue of placement cannot be deleted; it is tried again", "queue", t.path)
	}
}
