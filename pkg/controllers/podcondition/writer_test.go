package podcondition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

var start = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// recorder keeps events as lines, with what they are about, and the names of the Queues that they name beside it.
type recorder struct{ lines, queues []string }

func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if q, ok := related.(*corev1.ObjectReference); ok {
		r.queues = append(r.queues, q.APIVersion+" "+q.Kind+" "+q.Name)
	}
	ref := regarding.(*corev1.ObjectReference)
	r.lines = append(r.lines, fmt.Sprintf("%s %s/%s %s %s %s %s: %s", ref.Kind, ref.Namespace, ref.Name, ref.UID, kind, reason, action, fmt.Sprintf(note, args...)))
}

type world struct {
	*testing.T
	ledger   *ledger.Ledger
	client   *fake.Clientset
	clock    *clocktesting.FakeClock
	recorder *recorder
	writer   *Writer
	fail     func(name string) error
	patched  []string // names, also of those that failed
	log      ktesting.Buffer
	context  context.Context
}

func newWorld(t *testing.T, o Options) *world {
	w := &world{T: t, ledger: ledger.New(ledger.Options{}), client: fake.NewClientset(), recorder: &recorder{}, clock: clocktesting.NewFakeClock(start)}
	w.ledger.Lead(0)
	w.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		patch := a.(clienttesting.PatchAction)
		w.patched = append(w.patched, patch.GetName())
		if patch.GetSubresource() != "status" || patch.GetPatchType() != types.StrategicMergePatchType {
			t.Errorf("patched %q with %s", patch.GetSubresource(), patch.GetPatchType())
		}
		if w.writer.pods == nil && strings.Contains(string(patch.GetPatch()), string(corev1.PodScheduled)) {
			t.Errorf("wrote PodScheduled: %s", patch.GetPatch())
		}
		if w.fail != nil {
			if err := w.fail(patch.GetName()); err != nil {
				return true, nil, err
			}
		}
		return false, nil, nil
	})
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	w.log = logger.GetSink().(ktesting.Underlier).GetBuffer()
	w.context = klog.NewContext(t.Context(), logger)
	o.Clock = w.clock
	w.writer = New(w.ledger, w.client, w.recorder, o)
	return w
}

// pod makes a pod that asks for the queue, in the cluster and in the ledger.
func (w *world) pod(name, asks string) *corev1.Pod {
	w.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("uid-" + name)}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}
	if err := w.client.Tracker().Add(pod); err != nil {
		w.Fatal(err)
	}
	w.observe(name, asks, false)
	return pod
}

func (w *world) observe(name, asks string, terminating bool) {
	w.ledger.ObservePod(ledger.Pod{
		UID: ledger.UID("uid-" + name), Namespace: "team", Name: name, Queue: asks, Application: name, Class: "c", Created: start.UnixNano(), Terminating: terminating,
	}, 1)
}

func (w *world) declare(path string) {
	w.ledger.ObserveQueue(queue.Declaration{Path: queue.Path(path), Spec: queue.DefaultSpec()})
	w.ledger.Snapshot() // decides, as the dispatcher does after every event
}

// pass lets the interval go by and runs one pass.
func (w *world) pass() {
	w.writer.pass(w.context)
	w.clock.Step(writing.Interval)
}

func (w *world) condition(name string) *corev1.PodCondition {
	w.Helper()
	pod, err := w.client.CoreV1().Pods("team").Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if len(pod.Status.Conditions) > 2 || pod.Status.Conditions[0].Type != corev1.PodInitialized && pod.Status.Conditions[len(pod.Status.Conditions)-1].Type != corev1.PodInitialized {
		w.Errorf("the conditions of others were touched: %v", pod.Status.Conditions)
	}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == v1alpha1.PodConditionQueued {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func (w *world) wants(name string, status corev1.ConditionStatus, reason, message string, since time.Time) {
	w.Helper()
	want := &corev1.PodCondition{
		Type: v1alpha1.PodConditionQueued, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(since.Truncate(time.Second)),
	}
	if diff := cmp.Diff(want, w.condition(name)); diff != "" {
		w.Errorf("condition of %s (-want +got):\n%s", name, diff)
	}
}

const notFound = "queue root.nowhere does not exist; create it, or name another one in fairway.dev/queue"

func TestABlockedPodIsToldWhyAndThenThatItMayGo(t *testing.T) {
	w := newWorld(t, Options{})
	w.pod("p", "nowhere")
	w.pass()
	w.wants("p", corev1.ConditionTrue, "QueueNotFound", notFound, start)
	w.pass()
	w.pass()
	if len(w.patched) != 1 {
		t.Errorf("patched %v: told again what it knew", w.patched)
	}

	w.declare("root.nowhere")
	at := w.clock.Now()
	w.pass()
	w.wants("p", corev1.ConditionFalse, "Accepted", "", at)
	want := []string{
		"Pod team/p uid-p Warning QueueNotFound Queueing: " + notFound,
		"Pod team/p uid-p Normal Accepted Queueing: waits for its turn in queue root.nowhere",
	}
	if diff := cmp.Diff(want, w.recorder.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAPodThatNothingHoldsIsNotTouched(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.pod("p", "a")
	w.pass()
	if len(w.patched) != 0 || len(w.recorder.lines) != 0 {
		t.Errorf("patched %v, events %v", w.patched, w.recorder.lines)
	}
}

func TestTheTimeOfTheTransitionStaysWhileTheStatusDoes(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	w := newWorld(t, Options{Pods: corelisters.NewPodLister(indexer)})
	seen := func() {
		pod, err := w.client.CoreV1().Pods("team").Get(t.Context(), "p", metav1.GetOptions{})
		if err == nil {
			err = indexer.Update(pod)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.pod("p", "a.b")
	w.pass()
	w.wants("p", corev1.ConditionTrue, "QueueNotFound", "queue root.a.b does not exist; create it, or name another one in fairway.dev/queue", start)
	seen()

	w.clock.Step(time.Minute)
	w.declare("root.a.b") // declared, but its parent is not
	w.pass()
	if c := w.condition("p"); c.Reason != "QueueNotReady" || !strings.Contains(c.Message, "create Queue root.a") || !c.LastTransitionTime.Time.Equal(start) {
		t.Errorf("got %+v, want the reason changed and the time kept", c)
	}
	seen()

	w.declare("root.a")
	at := w.clock.Now()
	w.pass()
	w.wants("p", corev1.ConditionFalse, "Accepted", "", at)
	if len(w.recorder.lines) != 3 {
		t.Errorf("got %d events, want one per change: %v", len(w.recorder.lines), w.recorder.lines)
	}
}

func TestTheRateHoldsForTheWholeScheduler(t *testing.T) {
	w := newWorld(t, Options{})
	for i := range 100 {
		w.pod(fmt.Sprintf("p%02d", i), "nowhere")
	}
	for second := 1; second <= 5; second++ {
		w.pass()
		w.pass()
		if want := 20 * second; len(w.patched) != want || len(w.recorder.lines) != want {
			t.Errorf("after %ds: %d patches, %d events, want %d", second, len(w.patched), len(w.recorder.lines), want)
		}
	}
	w.pass()
	slices.Sort(w.patched)
	if n := len(slices.Compact(w.patched)); n != 100 || len(w.recorder.lines) != 100 {
		t.Errorf("%d pods told, %d events, want 100", n, len(w.recorder.lines))
	}
}

func TestAFailedWriteIsTriedAgainAndLoggedOnce(t *testing.T) {
	w := newWorld(t, Options{})
	w.fail = func(name string) error {
		if name == "bad" {
			return errors.New("connection refused")
		}
		return nil
	}
	w.pod("bad", "nowhere")
	w.pod("good", "nowhere")
	w.pass()
	w.wants("good", corev1.ConditionTrue, "QueueNotFound", notFound, start)
	if len(w.recorder.lines) != 1 {
		t.Errorf("an event for what was not written: %v", w.recorder.lines)
	}
	for range 19 { // less than ten seconds in all
		w.pass()
	}
	if len(w.patched) != 2 {
		t.Errorf("patched %v: tried again at once", w.patched)
	}
	w.pass()
	if n := len(w.patched); n != 3 {
		t.Errorf("patched %v, want a second try after ten seconds", w.patched)
	}
	if n := strings.Count(w.log.String(), "cannot be written"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, w.log.String())
	}
	w.fail = nil
	for range 21 {
		w.pass()
	}
	if c := w.condition("bad"); c == nil || c.Status != corev1.ConditionTrue || len(w.recorder.lines) != 2 {
		t.Errorf("got %v, events %v", c, w.recorder.lines)
	}
	w.pass()
	if len(w.patched) != 4 {
		t.Errorf("patched %v: goes on after success", w.patched)
	}
}

// A change that is written after a failure makes the retry pointless: it would only repeat the event.
func TestALaterSuccessMakesAFailureGood(t *testing.T) {
	w := newWorld(t, Options{})
	w.fail = func(string) error { return errors.New("connection refused") }
	w.pod("p", "nowhere")
	w.pass()
	w.fail = nil
	w.declare("root.nowhere")
	for range 30 {
		w.pass()
	}
	if len(w.patched) != 2 || len(w.recorder.lines) != 1 {
		t.Errorf("patched %v, events %v, want one failure and one success", w.patched, w.recorder.lines)
	}
}

func TestPodsThatAreGoneAreLeftAlone(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, err := range map[string]error{
		"deleted": apierrors.NewNotFound(pods, "p"),
		"made again": apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{
			field.Invalid(field.NewPath("metadata", "uid"), "uid-p", "field is immutable"),
		}),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.pod("p", "nowhere")
			w.fail = func(string) error { return err }
			for range 30 {
				w.pass()
			}
			if len(w.patched) != 1 || len(w.recorder.lines) != 0 || strings.Contains(w.log.String(), "written") {
				t.Errorf("patched %v, events %v, log %q", w.patched, w.recorder.lines, w.log.String())
			}
		})
	}
	t.Run("refused for another field", func(t *testing.T) {
		w := newWorld(t, Options{})
		w.pod("p", "nowhere")
		w.fail = func(string) error {
			return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Required(field.NewPath("status"), "")})
		}
		for range 30 {
			w.pass()
		}
		if len(w.patched) < 2 {
			t.Errorf("patched %v: given up", w.patched)
		}
	})
	t.Run("being deleted", func(t *testing.T) {
		w := newWorld(t, Options{})
		w.pod("p", "nowhere")
		w.pass()
		w.observe("p", "nowhere", true)
		w.pass()
		if len(w.patched) != 1 || len(w.recorder.lines) != 1 {
			t.Errorf("patched %v, events %v: told a pod that ends", w.patched, w.recorder.lines)
		}
	})
}

// The recorder of client-go takes events for the same that differ only in what they say.
func TestAnEventNamesTheQueueBesideThePod(t *testing.T) {
	w := newWorld(t, Options{})
	w.pod("p", "nowhere")
	w.pod("q", "No_Such-Name")
	w.pass()
	w.observe("p", "elsewhere", false)
	w.pass()
	w.declare("root.elsewhere")
	w.pass()
	const prefix = "scheduling.fairway.dev/v1alpha1 Queue "
	if want := []string{prefix + "root.nowhere", prefix + "root.elsewhere"}; !slices.Equal(w.recorder.queues, want) || len(w.recorder.lines) != 4 {
		t.Errorf("events name %q, want %q; events %q", w.recorder.queues, want, w.recorder.lines)
	}
}

func TestThePatchIsMinimal(t *testing.T) {
	w := newWorld(t, Options{})
	var got []string
	w.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		got = append(got, string(a.(clienttesting.PatchAction).GetPatch()))
		return false, nil, nil
	})
	w.pod("p", "nowhere")
	w.pass()
	w.declare("root.nowhere")
	w.pass()
	head := `{"metadata":{"uid":"uid-p"},"status":{"conditions":[{"type":"fairway.dev/Queued",`
	want := []string{
		head + `"status":"True","reason":"QueueNotFound","message":"` + notFound + `","lastTransitionTime":"2024-05-01T12:00:00Z"}]}}`,
		head + `"status":"False","reason":"Accepted","message":"","lastTransitionTime":"2024-05-01T12:00:00Z"}]}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, text := range got {
		if !json.Valid([]byte(text)) {
			t.Errorf("not JSON: %s", text)
		}
	}
}

func TestLongNamesAreCut(t *testing.T) {
	w := newWorld(t, Options{})
	w.pod("p", strings.Repeat("x", 100_000))
	w.pass()
	if c := w.condition("p"); len(c.Message) > textLimit || c.Reason != "QueueNameInvalid" {
		t.Errorf("%d bytes of message, reason %s", len(c.Message), c.Reason)
	}
	w.pass()
	w.pass()
	if len(w.patched) != 1 {
		t.Errorf("patched %v", w.patched)
	}
}

func TestRunWritesUntilItIsToldToStopAndGivesTheRestBack(t *testing.T) {
	w := newWorld(t, Options{WritesPerSecond: 2}) // one per pass, two per taking
	told := make(chan string)
	w.fail = func(name string) error { told <- name; return nil }
	w.pod("a", "nowhere")
	w.pod("b", "nowhere")
	ctx, cancel := context.WithCancel(w.context)
	done := make(chan struct{})
	go func() { defer close(done); w.writer.Run(ctx) }()
	if name := <-told; name != "a" {
		t.Errorf("told %s first", name)
	}
	cancel()
	<-done
	if ts := w.ledger.TakeConditionUpdates(10); len(ts) != 1 || ts[0].Name != "b" {
		t.Errorf("got %v back, want b", ts)
	}
}

func TestRunLooksOncePerInterval(t *testing.T) {
	w := newWorld(t, Options{})
	told := make(chan string)
	w.fail = func(name string) error { told <- name; return nil }
	w.pod("a", "nowhere")
	ctx, cancel := context.WithCancel(w.context)
	done := make(chan struct{})
	go func() { defer close(done); w.writer.Run(ctx) }()
	<-told // the ticker was made before the first pass
	w.pod("b", "nowhere")
	w.clock.Step(writing.Interval)
	if name := <-told; name != "b" {
		t.Errorf("told %s", name)
	}
	cancel()
	<-done
}

// What has no effect blocks nothing, so the condition is False; its reason and a warning say what it is.
func TestAPodIsToldWhatHasNoEffect(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.pod("p", "a")
	says := func(unread string) {
		w.ledger.ObservePod(ledger.Pod{UID: "uid-p", Namespace: "team", Name: "p", Queue: "a", Application: "p", Class: "c", Created: 1, UnreadPriority: unread}, 1)
	}
	says("high")
	w.pass()
	const text = `"high" in fairway.dev/application-priority has no effect: it must be a whole number from -2147483648 to 2147483647`
	w.wants("p", corev1.ConditionFalse, "ApplicationPriorityInvalid", text, start)
	says("")
	at := w.clock.Now()
	w.pass()
	w.wants("p", corev1.ConditionFalse, "Accepted", "", at)
	want := []string{
		"Pod team/p uid-p Warning ApplicationPriorityInvalid Queueing: " + text,
		"Pod team/p uid-p Normal Accepted Queueing: waits for its turn in queue root.a",
	}
	if diff := cmp.Diff(want, w.recorder.lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
