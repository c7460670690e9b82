package podcondition

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Defaults of Options.
const (
	DefaultWritesPerSecond    = 20
	DefaultUnschedulableAfter = 5 * time.Second
	// DefaultEventsPerSecond is the rate of events that no condition has.
	DefaultEventsPerSecond = 5
)

// retryAfter is the pause after a failed patch of a pod. It does not grow: the rate is bounded anyway, and other pods go
// first meanwhile.
const retryAfter = 10 * time.Second

// surveyed is the number of waiting pods that one pass checks for limits that stop them: with ten thousand, each is
// checked every two seconds.
const surveyed = 2500

// action is the action field of events.
const action = "Queueing"

// Options of a Writer; the zero value is fine.
type Options struct {
	// WritesPerSecond bounds the patches over all pods and of all conditions; 0 is DefaultWritesPerSecond.
	WritesPerSecond int
	// ShowUnschedulable makes pods that wait for room show Unschedulable. Pods that must not show it lose it in any
	// case.
	ShowUnschedulable bool
	// UnschedulableAfter is how long a pod waits for room before it shows that; 0 is DefaultUnschedulableAfter.
	UnschedulableAfter time.Duration
	// EventsPerSecond bounds the events on pods whose condition does not change, over all pods; those of changes count first. 0 is
	// DefaultEventsPerSecond.
	EventsPerSecond int
	// Pods has the pods as last seen, so that a condition that stays True for another reason keeps the time of its last
	// transition. Without it every patch counts as a transition, and PodScheduled is never written.
	Pods corelisters.PodLister
	// Clock is for tests.
	Clock clock.WithTicker
}

// Writer writes on pods what blocks them, or that they wait for room.
type Writer struct {
	ledger   *ledger.Ledger
	client   kubernetes.Interface
	recorder events.EventRecorder
	loop     *writing.Loop
	batch    int
	pods     corelisters.PodLister
	show     bool
	after    time.Duration

	// All of this belongs to the goroutine of Run.
	pending  []ledger.ConditionUpdate // taken from the ledger and not yet tried
	failed   map[ledger.UID]time.Time // when to give them back to the ledger
	backlog  []change                 // what the last look at the backlog found and is not yet tried
	lookedAt time.Time
	avoided  map[ledger.UID]time.Time // until when, since their PodScheduled could not be written

	// See explain.go.
	explained flowcontrol.PassiveRateLimiter
	said      map[ledger.UID]said
	saidOf    []ledger.UID // the keys of said, in the order in which they were checked
}

// New returns a writer of the ledger's condition updates. The recorder must write events.k8s.io.
func New(l *ledger.Ledger, client kubernetes.Interface, recorder events.EventRecorder, o Options) *Writer {
	perSecond := cmp.Or(o.WritesPerSecond, DefaultWritesPerSecond)
	w := &Writer{
		ledger: l, client: client, recorder: recorder, pods: o.Pods, loop: writing.NewLoop(perSecond, o.Clock),
		batch:  perSecond, // what is taken is out of date by at most a second when it is written
		failed: map[ledger.UID]time.Time{}, avoided: map[ledger.UID]time.Time{}, said: map[ledger.UID]said{},
		show: o.ShowUnschedulable, after: cmp.Or(o.UnschedulableAfter, DefaultUnschedulableAfter),
	}
	w.explained = writing.NewLimiter(cmp.Or(o.EventsPerSecond, DefaultEventsPerSecond), writing.Interval, w.loop.Clock)
	return w
}

// Run writes until the context ends. It must be called once, by the process that leads.
func (w *Writer) Run(ctx context.Context) {
	ctx = writing.Named(ctx, "pod-condition")
	defer w.giveBack()
	w.loop.Run(ctx, w.pass)
}

// pass writes as much as the limiter allows: first why pods are blocked, since users wait for that, then what
// autoscalers must not see any more, then what they should see. It takes condition updates in batches of fixed size
// rather than as many as it may write: each time, the ledger goes through all updates, and what is not written goes
// back.
func (w *Writer) pass(ctx context.Context) {
	now := w.loop.Clock.Now()
	for uid, at := range w.failed {
		if !now.Before(at) {
			delete(w.failed, uid)
			w.ledger.RetryConditionUpdate(uid)
		}
	}
	w.ledger.Survey(surveyed, now.UnixNano())
	if len(w.pending) == 0 {
		w.pending = w.ledger.TakeConditionUpdates(w.batch)
	}
	for len(w.pending) > 0 && ctx.Err() == nil && w.loop.AdmitOne() {
		t := w.pending[0]
		w.pending = w.pending[1:]
		w.tell(ctx, t)
	}
	w.showBacklog(ctx, now)
	w.explain(now)
}

// tell writes the condition and then the event. So there is one event for one change, however often the write is tried.
func (w *Writer) tell(ctx context.Context, t ledger.ConditionUpdate) {
	state, ok := w.ledger.PodState(t.UID)
	switch {
	case t.PodEnded:
	case !ok && t.Reason.Code == "":
		t.PodEnded = true // if it is not deleted
	case !ok || state.State == ledger.Gone:
		return // it is being deleted: nobody waits for an answer
	case state.State == ledger.Bound && t.Reason.Code != "" && t.Reason.Code != reason.ApplicationPriorityInvalid:
		return // it has its node by now; what it showed before goes with the next update
	}
	c := conditionOf(t)
	err := w.patch(ctx, t, c)
	switch {
	case err == nil:
		delete(w.failed, t.UID) // an earlier failure is made good
		w.record(t, c, state)
	case t.PodEnded:
		// It is gone, or will be.
	case apierrors.IsNotFound(err) || writing.IsForAnother(err):
		// The pod is gone, or replaced by a new one with the same name; the ledger will hear of it.
		w.remember(t.UID, said{asked: w.loop.Clock.Now().Add(askAgainAfter)})
	default:
		w.failed[t.UID] = w.loop.Clock.Now().Add(retryAfter)
		w.complain(ctx, err, t.Namespace, t.Name)
	}
}

func (w *Writer) patch(ctx context.Context, t ledger.ConditionUpdate, c condition) error {
	data, err := body(t.UID, c, w.shown(t.Namespace, t.Name), metav1.NewTime(w.loop.Clock.Now()))
	if t.PodEnded {
		data, err = removalBody(t.UID, c.Type)
	}
	if err != nil {
		return err
	}
	return w.send(ctx, t.Namespace, t.Name, data)
}

func (w *Writer) send(ctx context.Context, namespace, name string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	options := metav1.PatchOptions{FieldManager: writing.FieldManager}
	_, err := w.client.CoreV1().Pods(namespace).Patch(ctx, name, types.StrategicMergePatchType, data, options, "status")
	return err
}

func (w *Writer) shown(namespace, name string) *corev1.Pod {
	if w.pods == nil {
		return nil
	}
	pod, err := w.pods.Pods(namespace).Get(name)
	if err != nil {
		return nil
	}
	return pod
}

func (w *Writer) record(t ledger.ConditionUpdate, c condition, state ledger.PodState) {
	now := w.loop.Clock.Now()
	if t.PodEnded || t.Reason.Code != "" && w.saidNow(t.UID, t.Reason, now) {
		return
	}
	w.explained.TryAccept() // it counts among the events, and goes first
	w.remember(t.UID, said{t.Reason.Code, t.Reason.Queue, t.Reason.PodGroup, now, now})
	kind, note := corev1.EventTypeWarning, c.Message
	if c.Reason == ReasonAccepted {
		kind, note = corev1.EventTypeNormal, acceptedNote(state)
	}
	w.recorder.Eventf(reference(t.Namespace, t.Name, t.UID), related(t.Reason), kind, c.Reason, action, "%s", note)
}

func reference(namespace, name string, uid ledger.UID) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: name, UID: types.UID(uid)}
}

// related is the queue whose rule blocks the pod. Without it, the recorder would count the limits of two queues within
// minutes as one event, and show the first sentence twice.
func related(r reason.Reason) runtime.Object {
	if _, err := queue.ParsePath(r.Queue); err != nil {
		return nil // no queue, or what a user wrote for one
	}
	return &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Queue", Name: r.Queue}
}

// acceptedNote is the note of the event when nothing blocks the pod any more: what it does now.
func acceptedNote(s ledger.PodState) string {
	if s.State != ledger.Waiting || s.Leaf == "" || s.BlockedBy.Code != "" {
		return ReasonAccepted
	}
	return reason.Reason{Code: reason.WaitingTurn, Queue: string(s.Leaf)}.Text()
}

func (w *Writer) complain(ctx context.Context, err error, namespace, name string) {
	w.loop.Complain(ctx, err, "The condition of a pod cannot be written; it is tried again", "pod", klog.KRef(namespace, name))
}

// giveBack leaves everything that was not written with the ledger, for the next leader.
func (w *Writer) giveBack() {
	for _, t := range w.pending {
		w.ledger.RetryConditionUpdate(t.UID)
	}
	for uid := range w.failed {
		w.ledger.RetryConditionUpdate(uid)
	}
	w.pending, w.failed, w.backlog = nil, map[ledger.UID]time.Time{}, nil
}
