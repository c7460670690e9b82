package queuedeletion

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// writesPerSecond bounds the writes over all queues.
const writesPerSecond = 20

// Controller puts finalizers on and takes them off.
type Controller struct {
	ledger *ledger.Ledger
	stored cache.Store
	client dynamic.NamespaceableResourceInterface
	loop   *writing.Loop

	// All of this belongs to the goroutine of Run.
	tasks  map[string]*task // what is to be done, and what was done and does not show yet
	passes uint64
}

// task is something to do with one Queue.
type task struct {
	name       string
	action     action
	uid        types.UID
	version    string
	finalizers []string // that it should have

	since    uint64 // the pass that saw it first
	seen     uint64 // and last
	answered string // the version of the Queue to which nothing is to be done any more
	retry    writing.Retry
}

// New returns a controller of the Queues in a store, the informer's that feeds the ledger; it must be full when Run is called.
func New(l *ledger.Ledger, stored cache.Store, client dynamic.Interface, c clock.WithTicker) *Controller {
	return &Controller{
		ledger: l, stored: stored, client: client.Resource(v1alpha1.QueueResource), tasks: map[string]*task{},
		loop: writing.NewLoop(writesPerSecond, c),
	}
}

// Run works until the context ends. It must be called once, by the process that leads.
func (c *Controller) Run(ctx context.Context) {
	ctx = writing.Named(ctx, "queue-deletion")
	c.loop.Run(ctx, c.pass)
}

// pass does what is due. It ends with the requests it made, so that no two passes overlap.
func (c *Controller) pass(ctx context.Context) {
	busy := c.look()
	now := c.loop.Clock.Now()
	due := c.due(now)
	writing.Send(ctx, due[:c.loop.Admit(len(due), busy, now)], c.patch, c.note)
}

// look goes through all Queues and updates the tasks. That is cheap enough to do without counting events: for almost
// every Queue nothing is to be done. busy says whether pods flow, if anything is to be done.
func (c *Controller) look() (busy bool) {
	c.passes++
	var leaving map[string]*ledger.Leaving
	for _, item := range c.stored.List() {
		stored, ok := item.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		q := objectOf(stored)
		if q.Deleting != q.Held {
			continue // as it should be, or not ours any more
		}
		if leaving == nil {
			leaving, busy = c.leaving()
		}
		if todo := decide(q, leaving[stored.GetName()]); todo != leave {
			c.enter(stored, todo)
		}
	}
	for name, t := range c.tasks {
		if t.seen != c.passes {
			delete(c.tasks, name)
		}
	}
	return busy
}

func objectOf(stored *unstructured.Unstructured) object {
	return object{
		Deleting: stored.GetDeletionTimestamp() != nil,
		Held:     slices.Contains(stored.GetFinalizers(), v1alpha1.QueueFinalizer),
	}
}

// leaving asks the ledger, which sees Queues later than the store: it may answer about an earlier Queue of the same
// name. At worst a Queue goes before its pods, and they keep their account all the same.
func (c *Controller) leaving() (map[string]*ledger.Leaving, bool) {
	c.ledger.Settle(c.loop.Clock.Now().UnixNano())
	list, busy := c.ledger.Leaving()
	m := make(map[string]*ledger.Leaving, len(list))
	for i := range list {
		m[string(list[i].Path)] = &list[i]
	}
	return m, busy
}

// enter notes what is to be done with a Queue.
func (c *Controller) enter(stored *unstructured.Unstructured, todo action) {
	t := c.tasks[stored.GetName()]
	if t == nil {
		t = &task{name: stored.GetName(), since: c.passes}
		c.tasks[t.name] = t
	}
	if version := stored.GetResourceVersion(); t.version != version {
		t.retry = writing.Retry{}
		t.uid, t.version = stored.GetUID(), version
	}
	t.action, t.seen = todo, c.passes
	t.finalizers = []string{}
	for _, f := range stored.GetFinalizers() {
		if f != v1alpha1.QueueFinalizer {
			t.finalizers = append(t.finalizers, f)
		}
	}
	if todo == put {
		t.finalizers = append(t.finalizers, v1alpha1.QueueFinalizer)
	}
}

// due returns the tasks that may be tried. Tasks that let a Queue go come first, since a user waits for that; then the
// oldest.
func (c *Controller) due(now time.Time) []*task {
	var due []*task
	for _, t := range c.tasks {
		if t.answered != t.version && t.retry.Due(now) {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b *task) int {
		return cmp.Or(-cmp.Compare(a.action, b.action), cmp.Compare(a.since, b.since), queue.ComparePaths(queue.Path(a.name), queue.Path(b.name)))
	})
	return due
}

// patch replaces the finalizers of exactly the version that was judged, so that no finalizer of others is lost or comes
// back.
func (c *Controller) patch(ctx context.Context, t *task) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": t.uid, "resourceVersion": t.version, "finalizers": t.finalizers}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	return c.client.Patch(ctx, t.name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: writing.FieldManager})
}

// note takes in how a patch went.
func (c *Controller) note(ctx context.Context, t *task, _ *unstructured.Unstructured, err error) {
	if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		// The store has yet to show a newer version, or that the Queue is gone. Until then there is nothing to do.
		t.answered = t.version
		return
	}
	t.retry.Postpone(c.loop.Clock.Now())
	c.loop.Complain(ctx, err, "The finalizer of a queue cannot be put on or taken off; it is tried again", "queue", t.name)
}
