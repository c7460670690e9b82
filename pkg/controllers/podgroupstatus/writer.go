package podgroupstatus

import (
	"cmp"
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const (
	writesPerSecond = 50
	// lookAnyway: the ledger does not see what others do to a status, and it is not urgent.
	lookAnyway = 10 * time.Second
)

// Ledger is the part of a ledger that is read.
type Ledger interface {
	PodGroups() []ledger.PodGroupState
	Version() uint64
	Leaving() (qs []ledger.Leaving, busy bool)
}

// Options of a Writer.
type Options struct {
	// Groups is the store of an informer of PodGroups (unstructured), which is only read.
	Groups cache.Store
	// Ours tells whether pods with this schedulerName are ours to schedule.
	Ours func(schedulerName string) bool
	// Clock is for tests; nil is the real one.
	Clock clock.WithTicker
}

// Writer keeps the status of PodGroups up to date.
type Writer struct {
	ledger Ledger
	client dynamic.NamespaceableResourceInterface
	groups cache.Store
	ours   func(string) bool
	pods   *pods
	loop   *writing.Loop

	// All of this belongs to the goroutine of Run.
	records  map[string]*record
	looks    uint64
	lookedAt time.Time
	version  uint64 // of the ledger, and
	changes  uint64 // of the pods, at the last look
	busy     bool   // pods flow, as of the last look
}

// record is what the writer knows of one group.
type record struct {
	key     string
	group   *unstructured.Unstructured // as the informer or the answer to our last write shows it, whichever is newer
	desired podgroup.PodGroupStatus
	since   uint64 // the look at which desired began to differ from what the group says, 0 while they are equal
	retry   writing.Retry
}

// New returns a writer. The ledger, and the store of the options, should be filled from the cluster before Run is
// called.
func New(l Ledger, kube kubernetes.Interface, client dynamic.Interface, o Options) (*Writer, error) {
	pods, err := newPods(kube)
	return &Writer{
		ledger: l, client: client.Resource(convert.PodGroups), groups: o.Groups, ours: o.Ours, pods: pods,
		loop: writing.NewLoop(writesPerSecond, o.Clock), records: map[string]*record{},
	}, err
}

// Run writes until the context ends. It must be called once, by the process that leads.
func (w *Writer) Run(ctx context.Context) {
	ctx = writing.Named(ctx, "pod-group-status")
	go w.pods.informer.Run(ctx.Done())
	if cache.WaitForCacheSync(ctx.Done(), w.pods.informer.HasSynced) {
		w.loop.Run(ctx, w.pass)
	}
}

// pass does what is due. It ends with the requests it made, so that no two passes overlap.
func (w *Writer) pass(ctx context.Context) {
	now := w.loop.Clock.Now()
	version, changes := w.ledger.Version(), w.pods.changes.Load()
	if version != w.version || changes != w.changes || now.Sub(w.lookedAt) >= lookAnyway {
		w.version, w.changes, w.lookedAt = version, changes, now
		w.look()
	}
	w.write(ctx, now)
}

// look computes what every status should say.
func (w *Writer) look() {
	w.looks++
	before := w.records
	w.records = make(map[string]*record, len(before))
	for _, g := range w.ledger.PodGroups() {
		stored, ok, err := w.groups.GetByKey(g.Key)
		group, is := stored.(*unstructured.Unstructured)
		if err != nil || !ok || !is {
			continue // one of Kubernetes itself, or on its way out
		}
		r := before[g.Key]
		if r == nil {
			r = &record{key: g.Key}
		}
		w.records[g.Key] = r
		r.see(group)
		w.compute(r, g)
	}
	_, w.busy = w.ledger.Leaving()
}

// see takes in the group as the informer shows it, if that is news. An answer to our own write is not: the informer shows it later.
func (r *record) see(stored *unstructured.Unstructured) {
	if r.group != nil {
		order, err := resourceversion.CompareResourceVersion(stored.GetResourceVersion(), r.group.GetResourceVersion())
		if err == nil && order <= 0 {
			return
		}
	}
	r.group, r.retry = stored, writing.Retry{}
}

func (w *Writer) compute(r *record, g ledger.PodGroupState) {
	c := w.pods.count(g.Key, w.ours)
	// The ledger believes the status of a group without pods. While pods show here whose end the ledger has seen, that
	// status may be too old.
	if unclear := g.Pods == 0 && c.all > 0 && c.succeeded+c.failed == 0; unclear || !ours(r.group, g, c) {
		r.since = 0
		return
	}
	says := convert.PodGroupStatus(r.group)
	r.desired = statusOf(g, c, says)
	switch {
	case equal(r.desired, says):
		r.since = 0
	case r.since == 0:
		r.since = w.looks
	}
}

// ours reports whether the status is ours to write: a pod of the group is ours, or it has no pods and we wrote its
// status.
func ours(group *unstructured.Unstructured, g ledger.PodGroupState, c counts) bool {
	if g.Pods > 0 || c.all > 0 {
		return g.Pods > 0 || c.ours > 0
	}
	return slices.ContainsFunc(group.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == writing.FieldManager && m.Subresource == "status"
	})
}

// write sends what the pace lets pass, the oldest change first: when more change than can be written, each has its turn.
func (w *Writer) write(ctx context.Context, now time.Time) {
	var due []*record
	for _, r := range w.records {
		if r.since != 0 && r.retry.Due(now) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *record) int { return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.key, b.key)) })
	writing.Send(ctx, due[:w.loop.Admit(len(due), w.busy, now)], w.apply, w.note)
}

func (w *Writer) apply(ctx context.Context, r *record) (*unstructured.Unstructured, error) {
	kind := podgroup.SchemeGroupVersion.WithKind(convert.PodGroupKind)
	return writing.ApplyStatus(ctx, w.client.Namespace(r.group.GetNamespace()), kind, r.group, fields(r.desired))
}

// note takes in how a write went. After one that failed, the next look finds what there is now.
func (w *Writer) note(ctx context.Context, r *record, answer *unstructured.Unstructured, err error) {
	if err == nil {
		r.group, r.since, r.retry = answer, 0, writing.Retry{}
		return
	}
	w.lookedAt = time.Time{}
	r.retry.Postpone(w.loop.Clock.Now())
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return // it is gone or has changed, and the informer will show it
	}
	w.loop.Complain(ctx, err, "The status of a pod group cannot be written; it is tried again", "group", r.key)
}
