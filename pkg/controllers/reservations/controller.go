package reservations

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// writesPerSecond bounds the writes of each kind. Pods wait for them, so they are not slowed down while others flow.
const writesPerSecond = 50

// Ledger is the part of a ledger that is read.
type Ledger interface {
	Snapshot() ledger.Snapshot
}

// Options of a Controller.
type Options struct {
	Queues       cache.Store // of the informer that feeds the ledger
	Reservations cache.Store
	Pods         corelisters.PodLister
	Recorder     events.EventRecorder
	// Review, if set, is asked whether users may reserve.
	Review access.Review
	// Observe, if set, is told in each pass what was found. Decided is told each decision that was written: accepted, rejected, update_rejected or cancelled.
	Observe func(phases map[string]int, now map[queue.Path]resource.List)
	Decided func(decision string)
	// Clock is for tests; nil is the real one.
	Clock clock.WithTicker
}

// Controller follows the plans of all reservable queues.
type Controller struct {
	ledger       Ledger
	kube         kubernetes.Interface
	queues       dynamic.NamespaceableResourceInterface
	reservations dynamic.NamespaceableResourceInterface
	o            Options
	loop         *writing.Loop
	concerned    concerned

	// All of this belongs to the goroutine of Run.
	follower *reservations.Follower
	plans    map[string]*v1alpha1.Queue // the last that could be read
	records  map[string]*record
	tasks    map[string]*task
	moves    map[string]*writing.Retry // by UID of the pod
	checks   map[string]*check         // by namespace/name
}

// concerned are the names of the Queues that are reservable or carry our label, so that others cost nothing. It is told by an informer.
type concerned struct {
	mu    sync.Mutex
	names map[string]bool
}

// New returns a controller. Its handler must hear of all Queues before Run is called.
func New(l Ledger, kube kubernetes.Interface, client dynamic.Interface, o Options) *Controller {
	return &Controller{
		ledger: l, kube: kube, queues: client.Resource(v1alpha1.QueueResource), reservations: client.Resource(v1alpha1.ReservationResource),
		o: o, loop: writing.NewLoop(writesPerSecond, o.Clock), follower: reservations.New(),
		plans: map[string]*v1alpha1.Queue{}, records: map[string]*record{}, tasks: map[string]*task{}, moves: map[string]*writing.Retry{},
		checks: map[string]*check{},
	}
}

// Queues is a handler for the informer of Queues.
func (c *Controller) Queues() cache.ResourceEventHandler {
	see := func(object any) {
		if q, ok := object.(*unstructured.Unstructured); ok {
			c.concerned.set(q.GetName(), isConcerned(q))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    see,
		UpdateFunc: func(_, now any) { see(now) },
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			if q, ok := object.(*unstructured.Unstructured); ok {
				c.concerned.set(q.GetName(), false)
			}
		},
	}
}

func isConcerned(q *unstructured.Unstructured) bool {
	reservable, _, _ := unstructured.NestedBool(q.Object, "spec", "reservable")
	return reservable || isOurs(q)
}

func isOurs(q *unstructured.Unstructured) bool {
	return q.GetLabels()[v1alpha1.KeyCreatedBy] == v1alpha1.CreatedByReservation
}

func (c *concerned) set(name string, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !is:
		delete(c.names, name)
	case c.names == nil:
		c.names = map[string]bool{name: true}
	default:
		c.names[name] = true
	}
}

// sorted returns the names in order.
func (c *concerned) sorted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.names))
	for name := range c.names { // sorted below
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Run works until the context ends. It must be called once, by the process that leads.
func (c *Controller) Run(ctx context.Context) {
	c.loop.Run(writing.Named(ctx, "reservations"), c.pass)
}

// pass does what is due. It ends with the requests it made, so that no two passes overlap.
func (c *Controller) pass(ctx context.Context) {
	now := c.loop.Clock.Now()
	names := c.concerned.sorted()
	objects := c.o.Reservations.List()
	if len(names)+len(objects)+len(c.records)+len(c.tasks) == 0 {
		c.observe(nil, now)
		return
	}
	plans, ours := c.read(ctx, names)
	found := make([]reservations.Object, 0, len(objects))
	shown := make(map[string]*unstructured.Unstructured, len(objects))
	for _, object := range objects {
		if u, ok := object.(*unstructured.Unstructured); ok {
			o := convert.ReservationObject(u)
			c.check(ctx, &o, u)
			found, shown[o.Key()] = append(found, o), u
		}
	}
	result := c.follower.Step(now.UnixNano(), convert.Plans(plans, c.ledger.Snapshot()), found)
	c.forgetChecks(shown)
	c.observe(result.Statuses, now)
	c.writeStatuses(ctx, result.Statuses, shown)
	c.writeQueues(ctx, result.Children, plans, ours)
	c.endPods(ctx, result.Children, plans, ours)
}

// observe tells how many Reservations are in each phase, and what is reserved now in the queues where something is.
func (c *Controller) observe(statuses map[string]reservations.Status, at time.Time) {
	if c.o.Observe == nil {
		return
	}
	phases, now := map[string]int{}, map[queue.Path]resource.List{}
	for _, s := range statuses { // a sum: order does not matter
		phases[string(s.Phase)]++
	}
	for _, path := range c.follower.Queues() {
		plan, _ := c.follower.Plan(path)
		var sum resource.List
		for _, r := range plan.Accepted {
			sum = sum.Add(r.At(at.Unix()))
		}
		if !sum.IsZero() {
			now[path] = sum
		}
	}
	c.o.Observe(phases, now)
}

// read returns the reservable Queues, and those that the controller has created. Of one that cannot be read, what it said last counts.
func (c *Controller) read(ctx context.Context, names []string) (plans []*v1alpha1.Queue, ours map[string]*unstructured.Unstructured) {
	before := c.plans
	c.plans, ours = map[string]*v1alpha1.Queue{}, map[string]*unstructured.Unstructured{}
	for _, name := range names {
		stored, ok, err := c.o.Queues.GetByKey(name)
		object, is := stored.(*unstructured.Unstructured)
		if err != nil || !ok || !is {
			continue
		}
		if isOurs(object) {
			ours[name] = object
			continue
		}
		q, err := convert.DecodeQueue(object)
		if err == nil {
			_, err = convert.Declaration(q)
		}
		if err != nil {
			c.loop.Complain(ctx, err, "A reservable queue cannot be read, and what it said before counts", "queue", name)
			q = before[name]
		}
		if q != nil {
			c.plans[name] = q
			plans = append(plans, q)
		}
	}
	return plans, ours
}

// parent is the name of the queue above.
func parent(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }
