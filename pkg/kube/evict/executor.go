package evict

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const (
	// lookEvery is the longest time between two looks at the pending actions. The ledger says when time alone makes one
	// due.
	lookEvery = time.Second
	// writesPerSecond bounds all writes together. A hundred victims are announced, and evicted, within two seconds each.
	writesPerSecond = 50
)

// Ledger is the part of a ledger that has the pending actions and takes the results.
type Ledger interface {
	PendingActions(now int64) ledger.PendingActions
	Announced(uid ledger.UID, now int64)
	Evicted(uid ledger.UID, now int64)
	EvictionFailed(uid ledger.UID, refused bool, now int64)
	Withdrawn(uid ledger.UID)
	Nominated(n ledger.NominationUpdate)
}

// Options of an Executor; the zero value is fine.
type Options struct {
	// Pods shows what pods say now. Without it, a pod that is leaving is written to all the same.
	Pods corelisters.PodLister
	// Changed is called after writes that succeeded. It must not block.
	Changed func()
	// Clock is for tests.
	Clock clock.WithTicker
}

// Executor carries out the pending actions of a ledger.
type Executor struct {
	ledger   Ledger
	client   kubernetes.Interface
	recorder events.EventRecorder
	pods     corelisters.PodLister
	changed  func()
	clock    clock.WithTicker
	limiter  flowcontrol.PassiveRateLimiter
	trigger  writing.Trigger

	// All of this belongs to the goroutine of Run.
	failed     map[key]writing.Retry // the ledger has its own patience with evictions: see EvictionFailed
	complaints writing.Complaints
}

// key names a pending action.
type key struct {
	task task
	uid  ledger.UID
}

// New returns an executor. The recorder must write events.k8s.io.
func New(l Ledger, client kubernetes.Interface, recorder events.EventRecorder, o Options) *Executor {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Executor{
		ledger: l, client: client, recorder: recorder, pods: o.Pods, changed: o.Changed, clock: o.Clock,
		limiter: writing.NewLimiter(writesPerSecond, writing.Interval, o.Clock), trigger: writing.NewTrigger(), failed: map[key]writing.Retry{},
	}
}

// Kick asks for a look. It never blocks.
func (e *Executor) Kick() { e.trigger.Kick() }

// Run carries out pending actions until the context ends. It must be called once, by the process that leads.
func (e *Executor) Run(ctx context.Context) {
	ctx = writing.Named(ctx, "evict")
	e.trigger.Run(ctx, e.clock, 0, e.pass)
}

// pass carries out what is due, as much as the limiter allows, and returns when to look again. It asks for the pending actions each time, so that
// none is carried out that is no longer needed: most of all no eviction.
func (e *Executor) pass(ctx context.Context) (wait time.Duration) {
	now := e.clock.Now()
	actions := e.ledger.PendingActions(now.UnixNano())
	var due []pendingAction
	open, more := map[key]bool{}, false
	for _, d := range inOrder(actions) {
		open[d.key()] = true
		if retry := e.failed[d.key()]; !retry.Due(now) {
			continue
		}
		if !e.limiter.TryAccept() {
			more = true
			break
		}
		due = append(due, d)
	}
	if !more {
		for k := range e.failed { // each for itself: order does not matter
			if !open[k] {
				delete(e.failed, k)
			}
		}
	}
	done := false
	write := func(ctx context.Context, d pendingAction) (*unstructured.Unstructured, error) {
		return nil, e.do(ctx, d)
	}
	writing.Send(ctx, due, write, func(ctx context.Context, d pendingAction, _ *unstructured.Unstructured, err error) {
		done = e.note(ctx, d, err) || done
	})
	if done {
		e.changed()
	}
	if more {
		return time.Second / 10
	}
	wait = lookEvery
	if actions.Next != 0 {
		wait = min(wait, max(time.Duration(actions.Next-e.clock.Now().UnixNano()), time.Millisecond))
	}
	return wait
}

// shown returns the pod as last seen; nil if there is none of that UID, or there is no lister.
func (e *Executor) shown(d pendingAction) *corev1.Pod {
	if e.pods == nil {
		return nil
	}
	pod, err := e.pods.Pods(d.namespace).Get(d.name)
	if err != nil || pod.UID != types.UID(d.uid) {
		return nil
	}
	return pod
}
