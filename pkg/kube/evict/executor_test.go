package evict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

var start = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// world is an executor whose ledger says what a test wants, and which writes down what is asked of server and ledger. What was not reported as
// done stays among the pending actions.
type world struct {
	*testing.T
	actions ledger.PendingActions
	told    []string // to the ledger
	asked   []string // of the server
	events  []string
	changes int
	looks   chan struct{}

	mu       sync.Mutex // asked and fail: writes are under way together
	fail     func(pod string) error
	clock    *clocktesting.FakeClock
	indexer  cache.Indexer
	executor *Executor
	context  context.Context
}

func (w *world) PendingActions(int64) ledger.PendingActions {
	select {
	case w.looks <- struct{}{}:
	default:
	}
	return w.actions
}

func (w *world) tell(format string, args ...any) {
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

func (w *world) at(now int64) string { return time.Unix(0, now).UTC().Format(time.TimeOnly) }

func (w *world) Announced(uid ledger.UID, now int64) { w.tell("announced %s %s", uid, w.at(now)) }
func (w *world) Evicted(uid ledger.UID, now int64)   { w.tell("evicted %s %s", uid, w.at(now)) }
func (w *world) EvictionFailed(uid ledger.UID, refused bool, now int64) {
	w.tell("failed %s refused=%v %s", uid, refused, w.at(now))
}
func (w *world) Withdrawn(uid ledger.UID)            { w.tell("withdrawn %s", uid) }
func (w *world) Nominated(n ledger.NominationUpdate) { w.tell("nominated %s %s", n.UID, n.Node) }

// Eventf implements events.EventRecorder.
func (w *world) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	pod, queue := regarding.(*corev1.ObjectReference), &corev1.ObjectReference{}
	if related != nil {
		queue = related.(*corev1.ObjectReference)
	}
	w.events = append(w.events, fmt.Sprintf("%s/%s %s for %s: %s %s %s: %s", pod.Namespace, pod.Name, pod.UID, queue.Name, kind, reason, action, fmt.Sprintf(note, args...)))
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, clock: clocktesting.NewFakeClock(start), looks: make(chan struct{}, 1), fail: func(string) error { return nil }}
	w.indexer = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	client := fake.NewClientset()
	client.PrependReactor("*", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		name := ""
		switch a := a.(type) {
		case clienttesting.PatchAction:
			name = a.GetName()
			w.asked = append(w.asked, strings.Join([]string{"patch", a.GetSubresource(), name, string(a.GetPatchType()), string(a.GetPatch())}, " "))
		case clienttesting.CreateAction:
			e := a.GetObject().(*policyv1.Eviction)
			name = e.Name
			w.asked = append(w.asked, fmt.Sprintf("%s %s uid=%s grace=%v", a.GetSubresource(), name, *e.DeleteOptions.Preconditions.UID, e.DeleteOptions.GracePeriodSeconds))
		}
		return true, &corev1.Pod{}, w.fail(name)
	})
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	w.context = klog.NewContext(t.Context(), logger)
	w.executor = New(w, client, w, Options{Pods: corelisters.NewPodLister(w.indexer), Changed: func() { w.changes++ }, Clock: w.clock})
	return w
}

func (w *world) pass() time.Duration { return w.executor.pass(w.context) }

func (w *world) logged() string {
	return klog.FromContext(w.context).GetSink().(ktesting.Underlier).GetBuffer().String()
}

// victim is a pod that goes for team/new of root.b, and an informer would know.
func (w *world) victim(name string) ledger.Victim {
	w.shows(name, nil)
	return ledger.Victim{
		UID: ledger.UID("uid-" + name), Namespace: "team", Name: name, Node: "n", Queue: "root.a.x",
		ForQueue: "root.b", ForUID: "new", ForNamespace: "team", ForName: "new", Kind: preemption.BelowFairShare,
		Above: "root.a", Resource: "cpu", Surplus: 4000, Share: 8000,
		VictimState: preemption.VictimState{Due: start.Add(15 * time.Second).UnixNano()},
	}
}

func (w *world) withdrawal(name string) ledger.Withdrawal {
	w.shows(name, nil)
	return ledger.Withdrawal{UID: ledger.UID("uid-" + name), Namespace: "team", Name: name, ForQueue: "root.b", Why: reason.NotNeeded}
}

func (w *world) shows(name string, change func(*corev1.Pod)) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("uid-" + name)}}
	if change != nil {
		change(pod)
	}
	if err := w.indexer.Add(pod); err != nil {
		w.Fatal(err)
	}
}

func (w *world) want(what string, got []string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s, -want +got:\n%s", what, diff)
	}
}

func TestPendingActionsAreCarriedOutAndReported(t *testing.T) {
	w := newWorld(t)
	w.actions = ledger.PendingActions{
		Announce: []ledger.Victim{w.victim("p")}, Evict: []ledger.Victim{w.victim("q")}, Withdraw: []ledger.Withdrawal{w.withdrawal("r")},
		Nominate: []ledger.NominationUpdate{{UID: "uid-s", Namespace: "team", Name: "s", Node: "n"}, {UID: "uid-t", Namespace: "team", Name: "t"}},
	}
	w.shows("s", nil)
	w.shows("t", nil)
	w.pass()
	const why = "Preempted by queue root.b, which is below its fair share, for pod team/new: root.a has 4 cpu above its fair share of 8 cpu"
	const when = "; it is evicted at 2024-05-01T12:00:15Z if that is still so"
	patch := func(name, status string) string {
		return `patch status ` + name + ` application/strategic-merge-patch+json {"metadata":{"uid":"uid-` + name + `"},"status":{` + status + `}}`
	}
	target := func(status, reason, message string) string {
		return `"conditions":[{"type":"DisruptionTarget","status":"` + status + `","reason":"` + reason + `","message":"` + message + `","lastTransitionTime":"2024-05-01T12:00:00Z"}]`
	}
	slices.Sort(w.asked) // they are under way together
	w.want("asked", w.asked, "eviction q uid=uid-q grace=<nil>",
		patch("p", target("True", "PreemptionByScheduler", why+when)),
		patch("r", target("False", "PreemptionWithdrawn", "it is not evicted: root.b has room without it")),
		patch("s", `"nominatedNodeName":"n"`), patch("t", `"nominatedNodeName":null`))
	w.want("told", w.told, "evicted uid-q 12:00:00", "withdrawn uid-r", "announced uid-p 12:00:00", "nominated uid-s n", "nominated uid-t ")
	w.want("events", w.events,
		"team/q uid-q for root.b: Normal Preempted Preempting: "+why,
		"team/r uid-r for root.b: Normal PreemptionWithdrawn Preempting: it is not evicted: root.b has room without it",
		"team/p uid-p for root.b: Normal Preempting Preempting: "+why+when)
	if w.changes != 1 {
		t.Errorf("%d changes reported", w.changes)
	}
}

var pods = schema.GroupResource{Resource: "pods"}

func refusedByBudget() error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}
	return err
}

func TestHowAnEvictionFailed(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		told   []string
		logged bool
	}{
		"refused by a budget": {refusedByBudget(), []string{"failed uid-p refused=true 12:00:00"}, false},
		"too much to do":      {apierrors.NewTooManyRequests("busy", 1), []string{"failed uid-p refused=false 12:00:00"}, true},
		"gone":                {apierrors.NewNotFound(pods, "p"), nil, false},
		"made again": {apierrors.NewConflict(pods, "p",
			errors.New("Precondition failed: UID in precondition: uid-p, UID in object meta: other")), nil, false},
		"conflict":     {apierrors.NewConflict(pods, "p", errors.New("the object has been modified")), []string{"failed uid-p refused=false 12:00:00"}, true},
		"two budgets":  {apierrors.NewInternalError(errors.New("more than one PodDisruptionBudget")), []string{"failed uid-p refused=false 12:00:00"}, true},
		"forbidden":    {apierrors.NewForbidden(pods, "p", errors.New("no")), []string{"failed uid-p refused=false 12:00:00"}, true},
		"out of reach": {context.DeadlineExceeded, []string{"failed uid-p refused=false 12:00:00"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.actions.Evict = []ledger.Victim{w.victim("p")}
			w.fail = func(string) error { return tc.err }
			w.pass()
			w.want("told", w.told, tc.told...)
			w.want("events", w.events)
			if got := strings.Contains(w.logged(), "held up"); got != tc.logged {
				t.Errorf("logged: %v, want %v: %s", got, tc.logged, w.logged())
			}
			// Within a second nobody asks again, whatever the ledger says.
			w.pass()
			w.clock.Step(time.Second)
			w.pass()
			if len(w.asked) != 2 || w.changes != 0 {
				t.Errorf("asked %q, %d changes", w.asked, w.changes)
			}
		})
	}
}

func TestAnotherPodIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"leaving":    func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} },
		"made again": func(p *corev1.Pod) { p.UID = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.actions = ledger.PendingActions{Announce: []ledger.Victim{w.victim("p")}, Evict: []ledger.Victim{w.victim("q")}, Withdraw: []ledger.Withdrawal{w.withdrawal("r")}}
			for _, p := range []string{"p", "q", "r"} {
				w.shows(p, change)
			}
			w.pass()
			w.want("asked", w.asked)
			w.want("told", w.told)
			w.want("events", w.events)
		})
	}
}

// A pod that got its node meanwhile cannot be nominated, and need not be.
func TestANominationThatComesTooLateIsNoFailure(t *testing.T) {
	w := newWorld(t)
	w.shows("s", nil)
	w.actions.Nominate = []ledger.NominationUpdate{{UID: "uid-s", Namespace: "team", Name: "s"}}
	w.fail = func(string) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "s", field.ErrorList{field.Forbidden(field.NewPath("status", "nominatedNodeName"), "bound")})
	}
	w.pass()
	w.want("told", w.told)
	if w.logged() != "" {
		t.Errorf("logged: %s", w.logged())
	}
}

// The patch states the UID, and the server says that it cannot be changed.
func TestAPatchForAPodThatWasMadeAgainIsNoFailure(t *testing.T) {
	w := newWorld(t)
	w.actions.Announce = []ledger.Victim{w.victim("p")}
	w.fail = func(string) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), "x", "immutable")})
	}
	w.pass()
	w.want("told", w.told)
	if w.logged() != "" {
		t.Errorf("logged %s", w.logged())
	}
}

// The ledger does not know for which queue an earlier process announced an eviction.
func TestAnAnnouncementOfAnEarlierProcessIsTakenBack(t *testing.T) {
	w := newWorld(t)
	gone := w.withdrawal("p")
	gone.ForQueue, gone.Why = "", reason.NotPlanned
	w.actions.Withdraw = []ledger.Withdrawal{gone}
	w.pass()
	w.want("events", w.events, "team/p uid-p for : Normal PreemptionWithdrawn Preempting: "+
		"it is not evicted: an earlier process of the scheduler announced it, and no plan takes it now")
}

func TestAConditionOfSomebodyElseIsNotTakenBack(t *testing.T) {
	w := newWorld(t)
	w.actions.Withdraw = []ledger.Withdrawal{w.withdrawal("p"), w.withdrawal("q")}
	target := func(message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Message: message}}
		}
	}
	w.shows("p", target("Eviction API: evicting"))
	w.shows("q", target("Preempted by queue root.b, which is below its fair share"))
	w.pass()
	if len(w.asked) != 1 || !strings.Contains(w.asked[0], "uid-q") {
		t.Errorf("asked %q", w.asked)
	}
	w.want("told", w.told, "withdrawn uid-p", "withdrawn uid-q")
}

func TestWhatFailsIsTriedLaterAndHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	w.actions.Announce = []ledger.Victim{w.victim("p"), w.victim("q")}
	w.fail = func(pod string) error {
		if pod == "p" {
			return errors.New("connection refused")
		}
		return nil
	}
	w.pass()
	w.want("told", w.told, "announced uid-q 12:00:00")
	w.actions.Announce = w.actions.Announce[:1]
	w.asked = nil
	var at []int
	for second := range 16 { // tried at 0; then after 1, 2, 4 and 8 seconds each
		before := len(w.asked)
		w.pass()
		if len(w.asked) > before {
			at = append(at, second)
		}
		w.clock.Step(time.Second)
	}
	if diff := cmp.Diff([]int{1, 3, 7, 15}, at); diff != "" {
		t.Errorf("tried at, -want +got:\n%s", diff)
	}
	if n := strings.Count(w.logged(), "held up"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	w.fail = func(string) error { return nil }
	w.clock.Step(time.Minute)
	w.pass()
	w.want("told", w.told, "announced uid-q 12:00:00", "announced uid-p 12:01:16")
}

func TestWritesHaveARate(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.actions.Announce = append(w.actions.Announce, w.victim(fmt.Sprintf("p%02d", i)))
	}
	w.actions.Evict = []ledger.Victim{w.victim("last")}
	if wait := w.pass(); len(w.asked) != 25 || wait != 100*time.Millisecond || w.told[0] != "evicted uid-last 12:00:00" {
		t.Errorf("%d writes, then a pause of %v; told first: %q", len(w.asked), wait, w.told[0])
	}
	w.asked = nil
	w.clock.Step(100 * time.Millisecond)
	if w.pass(); len(w.asked) != 5 {
		t.Errorf("%d writes a tenth of a second later", len(w.asked))
	}
}

func TestTheNextLookIsWhenTheLedgerSays(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct{ next, want time.Duration }{
		{300 * time.Millisecond, 300 * time.Millisecond}, {time.Hour, time.Second}, {-time.Hour, time.Millisecond},
	} {
		w.actions.Next = w.clock.Now().Add(tc.next).UnixNano()
		if got := w.pass(); got != tc.want {
			t.Errorf("due in %v: looks again after %v, want %v", tc.next, got, tc.want)
		}
	}
	w.actions.Next = 0
	if got := w.pass(); got != time.Second {
		t.Errorf("looks again after %v", got)
	}
}

func TestRunLooksWhenKickedAndEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(w.context)
	ended := make(chan struct{})
	go func() {
		w.executor.Run(ctx)
		close(ended)
	}()
	<-w.looks
	w.executor.Kick()
	w.executor.Kick() // never blocks
	<-w.looks
	cancel()
	<-ended
}

// Once the context has ended, an action whose result is not known is not reported: the next leader finds out.
func TestNothingIsReportedAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	w.actions.Evict = []ledger.Victim{w.victim("p")}
	ctx, cancel := context.WithCancel(w.context)
	w.fail = func(string) error {
		cancel()
		return context.Canceled
	}
	w.executor.pass(ctx)
	w.want("told", w.told)
}
