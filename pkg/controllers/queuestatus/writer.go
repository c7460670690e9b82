package queuestatus

import (
	"cmp"
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// writesPerSecond bounds the writes over all queues.
const writesPerSecond = 50

// Options of a Writer; the zero value is fine.
type Options struct {
	// Queues is the store of an informer of Queues (unstructured), which is only read. With it the writer notices at
	// once when a Queue was replaced by a new one with the same name, or when another party changed a status. Without
	// it, Run lists the Queues once, at its start.
	Queues cache.Store
	// Recorder, if set, gets events about starvations that begin and end, if a timeout is in force for them. It must
	// write events.k8s.io.
	Recorder events.EventRecorder
	// Clock is for tests.
	Clock clock.WithTicker
}

// Writer keeps the status of every Queue up to date.
type Writer struct {
	ledger     *ledger.Ledger
	generation func(name string) int64
	client     dynamic.NamespaceableResourceInterface
	loop       *writing.Loop
	stored     cache.Store
	listFirst  bool                 // stored is ours, and to be filled
	recorder   events.EventRecorder // or nil

	// All of this belongs to the goroutine of Run.
	records map[string]*record
	starved []*record // of which there may be something to tell, as of the last look
	looks   uint64
	busy    bool   // pods flow, as of the last look
	version uint64 // of the ledger, at the last look
	root    root
}

// New returns a writer. generation returns the generation of a Queue that the ledger has observed, 0 if none. It may lag
// behind the ledger but must not be ahead of it. The ledger, and the store of the options, should be filled from the
// cluster before Run is called; otherwise statuses show for a moment how they fill.
func New(l *ledger.Ledger, generation func(name string) int64, client dynamic.Interface, o Options) *Writer {
	w := &Writer{
		ledger: l, generation: generation, client: client.Resource(v1alpha1.QueueResource),
		loop:   writing.NewLoop(writesPerSecond, o.Clock),
		stored: o.Queues, recorder: o.Recorder, records: map[string]*record{},
	}
	if w.stored == nil {
		w.stored, w.listFirst = cache.NewStore(cache.MetaNamespaceKeyFunc), true
	}
	return w
}

// Run writes until the context ends. It must be called once, by the process that leads.
func (w *Writer) Run(ctx context.Context) {
	ctx = writing.Named(ctx, "queue-status")
	if w.listFirst && !w.list(ctx) {
		return
	}
	w.loop.Run(ctx, w.pass)
}

// list fills the store of a writer that has no informer. It goes on until it succeeds: without it every condition would seem to have
// changed when the scheduler started. False: the context ended first.
func (w *Writer) list(ctx context.Context) bool {
	var retry writing.Retry
	for {
		listed, err := w.client.List(ctx, metav1.ListOptions{})
		if err == nil {
			for i := range listed.Items {
				if err := w.stored.Add(&listed.Items[i]); err != nil {
					klog.FromContext(ctx).Error(err, "A queue cannot be stored", "queue", listed.Items[i].GetName())
				}
			}
			return true
		}
		w.loop.Complain(ctx, err, "Queues cannot be listed; it is tried again")
		select {
		case <-ctx.Done():
			return false
		case <-w.loop.Clock.After(retry.Postpone(w.loop.Clock.Now())):
		}
	}
}

// pass does what is due. It ends with the requests it made, so that no two passes overlap.
func (w *Writer) pass(ctx context.Context) {
	now := w.loop.Clock.Now()
	if w.news() {
		w.look(now)
	}
	w.tell(now)
	if w.root.due(now) {
		w.makeRoot(ctx, now)
	}
	w.write(ctx, now)
}

// news reports whether a look may find anything. The ledger's version alone does not tell: a spec can get a new
// generation and mean the same, the generation is known a moment after the ledger's change, and the ledger does not see
// what others do to a status.
func (w *Writer) news() bool {
	if w.looks == 0 || w.version != w.ledger.Version() {
		return true
	}
	for _, r := range w.records {
		if !r.computed && r.generation != 0 || r.generation != w.generation(r.name) || r.olderThan(w.storedQueue(r.name)) {
			return true
		}
	}
	return false
}

// look computes what every status should say.
func (w *Writer) look(now time.Time) {
	w.looks++
	generations, snapshot := w.read()
	if w.enroll(snapshot) {
		generations, snapshot = w.read() // the generations of the new ones were read too late
		w.enroll(snapshot)
	}
	w.version, w.busy = snapshot.Version, snapshot.InWindow > 0
	w.starved = w.starved[:0]
	for i := range snapshot.Queues {
		q := &snapshot.Queues[i]
		if r := w.records[string(q.Path)]; r != nil {
			r.observe(w.storedQueue(r.name), now)
			if r.lack(&snapshot, q) {
				w.starved = append(w.starved, r)
			}
			r.compute(*q, generations[r.name], metav1.NewTime(now), w.looks)
		}
	}
	w.root.seen(w.records[v1alpha1.RootQueue] != nil)
}

// read returns the generations of the queues we know and then the state of all: what the state shows is at least that new.
func (w *Writer) read() (map[string]int64, ledger.Snapshot) {
	generations := make(map[string]int64, len(w.records))
	for name := range w.records {
		generations[name] = w.generation(name)
	}
	w.ledger.Settle(w.loop.Clock.Now().UnixNano())
	return generations, w.ledger.Snapshot()
}

// enroll makes records for the Queues that exist, drops those of the others, and reports whether any is new.
func (w *Writer) enroll(s ledger.Snapshot) (grown bool) {
	there := make(map[string]bool, len(s.Queues))
	for _, q := range s.Queues {
		if !exists(q) {
			continue
		}
		name := string(q.Path)
		there[name] = true
		if w.records[name] == nil {
			w.records[name] = &record{name: name}
			grown = true
		}
	}
	for name := range w.records {
		if !there[name] {
			delete(w.records, name)
		}
	}
	return grown
}

func (w *Writer) storedQueue(name string) *unstructured.Unstructured {
	item, _, err := w.stored.GetByKey(name)
	if err != nil {
		return nil
	}
	u, _ := item.(*unstructured.Unstructured)
	return u
}

// write sends what the pace lets pass, the oldest change first (see turn): when more queues change than can be written, each has its turn.
func (w *Writer) write(ctx context.Context, now time.Time) {
	var due []*record
	for _, r := range w.records {
		if r.due(now) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.turn(), b.turn()), queue.ComparePaths(queue.Path(a.name), queue.Path(b.name)))
	})
	writing.Send(ctx, due[:w.loop.Admit(len(due), w.busy, now)], w.apply, w.note)
}

func (w *Writer) apply(ctx context.Context, r *record) (*unstructured.Unstructured, error) {
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&r.desired)
	if err != nil {
		return nil, err
	}
	body := queueObject(r.name)
	body.Object["status"] = status
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	return w.client.ApplyStatus(ctx, r.name, body, metav1.ApplyOptions{FieldManager: writing.FieldManager, Force: true})
}

// note takes in how a write went.
func (w *Writer) note(ctx context.Context, r *record, answer *unstructured.Unstructured, err error) {
	if err == nil {
		r.wrote(answer)
		return
	}
	r.retry.Postpone(w.loop.Clock.Now())
	switch {
	case apierrors.IsNotFound(err):
		// The Queue is gone, and the ledger will hear of it. Should it come back, it comes back without a status.
		r.forget()
	case !apierrors.IsConflict(err):
		w.loop.Complain(ctx, err, "The status of a queue cannot be written; it is tried again", "queue", r.name)
	}
}

func queueObject(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(),
		"kind":       "Queue",
		"metadata":   map[string]any{"name": name},
	}}
}
