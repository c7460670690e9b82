package queuedeletion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// world is an API server that knows Queues, an informer of it, and a ledger that hears of what the informer shows.
type world struct {
	*testing.T
	c       *Controller
	ledger  *ledger.Ledger
	clock   *clocktesting.FakeClock
	store   cache.Store
	log     ktesting.Buffer
	context context.Context

	stored  map[string]*unstructured.Unstructured // by the API server
	version int
	patched []string // "+name" or "-name" of what was accepted
	tried   int
	fail    func(name string) error
}

func newWorld(t *testing.T) *world {
	w := &world{
		T: t, ledger: ledger.New(ledger.Options{}), clock: clocktesting.NewFakeClock(time.Unix(1000, 0)),
		store: cache.NewStore(cache.MetaNamespaceKeyFunc), stored: map[string]*unstructured.Unstructured{}, version: 100,
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{v1alpha1.QueueResource: "QueueList"})
	client.PrependReactor("*", "*", w.serve)
	w.ledger.Lead(0)
	w.c = New(w.ledger, w.store, client, w.clock)
	cores := resource.Of(resource.Entry{Name: resource.CPU, Value: 1000_000})
	w.ledger.ObserveNode(ledger.Node{Name: "n", Allocatable: cores, Usable: true})
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	w.log = logger.GetSink().(ktesting.Underlier).GetBuffer()
	w.context = klog.NewContext(t.Context(), logger)
	return w
}

// serve does what the API server does with a merge patch of metadata.
func (w *world) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	p, ok := a.(clienttesting.PatchActionImpl)
	if !ok || p.GetSubresource() != "" || p.GetPatchType() != types.MergePatchType || p.GetPatchOptions().FieldManager != "fairway-scheduler" {
		w.Errorf("an unexpected request: %+v", a)
		return true, nil, errors.New("unexpected")
	}
	w.tried++
	if w.fail != nil {
		if err := w.fail(p.Name); err != nil {
			return true, nil, err
		}
	}
	var body struct {
		Metadata struct {
			UID, ResourceVersion string
			Finalizers           []string
		}
		Spec, Status any
	}
	if err := json.Unmarshal(p.GetPatch(), &body); err != nil || body.Spec != nil || body.Status != nil || body.Metadata.Finalizers == nil {
		w.Errorf("the body is not about finalizers alone: %v, %s", err, p.GetPatch())
	}
	u := w.stored[p.Name]
	if u == nil {
		return true, nil, apierrors.NewNotFound(v1alpha1.Resource("queues"), p.Name)
	}
	if string(u.GetUID()) != body.Metadata.UID || u.GetResourceVersion() != body.Metadata.ResourceVersion {
		return true, nil, apierrors.NewConflict(v1alpha1.Resource("queues"), p.Name, errors.New("changed"))
	}
	sign := "-"
	if len(body.Metadata.Finalizers) > len(u.GetFinalizers()) {
		sign = "+"
	}
	w.patched = append(w.patched, sign+p.Name)
	w.change(p.Name, func(u *unstructured.Unstructured) { u.SetFinalizers(body.Metadata.Finalizers) })
	return true, u, nil
}

// change edits a Queue at the API server, which lets go of a deleted one that has no finalizer.
func (w *world) change(name string, edit func(*unstructured.Unstructured)) {
	u := w.stored[name].DeepCopy()
	edit(u)
	w.version++
	u.SetResourceVersion(strconv.Itoa(w.version))
	w.stored[name] = u
	if u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0 {
		delete(w.stored, name)
	}
}

func (w *world) create(names ...string) {
	for _, name := range names {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue"}}
		u.SetName(name)
		u.SetUID(types.UID(fmt.Sprintf("uid-%d", w.version)))
		w.stored[name] = u
		w.change(name, func(*unstructured.Unstructured) {})
	}
}

func (w *world) delete(names ...string) {
	for _, name := range names {
		at := metav1.NewTime(w.clock.Now())
		w.change(name, func(u *unstructured.Unstructured) { u.SetDeletionTimestamp(&at) })
	}
}

// show brings the informer's store up to date with the API server, and tell the ledger with the store.
func (w *world) show() {
	var items []any
	for _, u := range w.stored {
		items = append(items, u)
	}
	if err := w.store.Replace(items, ""); err != nil {
		w.Fatal(err)
	}
}

func (w *world) tell() {
	for _, q := range w.ledger.Snapshot().Queues {
		if w.stored[string(q.Path)] == nil {
			w.ledger.ForgetQueue(q.Path)
		}
	}
	for name, u := range w.stored {
		w.ledger.ObserveQueue(queue.Declaration{Path: queue.Path(name), Spec: queue.DefaultSpec(), Deleting: u.GetDeletionTimestamp() != nil})
	}
}

func (w *world) inform() { w.show(); w.tell() }

// wrote runs one pass in a world where everybody knows everything.
func (w *world) wrote(want ...string) {
	w.Helper()
	w.inform()
	w.passed(want...)
}

// passed runs one pass, and lets the interval go by.
func (w *world) passed(want ...string) {
	w.Helper()
	w.patched = []string{}
	w.c.pass(w.context)
	w.clock.Step(writing.Interval)
	got := slices.Clone(w.patched)
	slices.Sort(got)
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("patched (-want +got):\n%s", diff)
	}
}

// run binds a pod in a queue.
func (w *world) run(name, path string) {
	w.ledger.ObservePod(ledger.Pod{
		UID: ledger.UID(name), Name: name, Namespace: "ns", Queue: path, Placed: path, Application: name, Class: "c", Node: "n",
		Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 1000}),
	}, 1)
}

func (w *world) ends(name string) { w.ledger.ForgetPod(ledger.UID(name), 2) }

func TestEveryQueueGetsTheFinalizerOnce(t *testing.T) {
	w := newWorld(t)
	w.create("root", "root.a", "root.a.b")
	w.wrote("+root", "+root.a", "+root.a.b")
	w.wrote()
	w.create("root.c")
	w.wrote("+root.c")
	w.change("root.c", func(u *unstructured.Unstructured) { u.SetFinalizers(nil) }) // kubectl replace does that
	w.wrote("+root.c")
}

func TestNothingIsWrittenTwiceWhileTheInformerLags(t *testing.T) {
	w := newWorld(t)
	w.create("root.a")
	w.wrote("+root.a")
	w.passed()
	w.passed()
	if w.tried != 1 {
		t.Errorf("tried %d times", w.tried)
	}
	w.inform()
	w.delete("root.a")
	w.wrote("-root.a")
	w.passed()
	if w.tried != 2 {
		t.Errorf("tried %d times", w.tried)
	}
}

func TestADeletedLeafGoesWithItsLastPod(t *testing.T) {
	w := newWorld(t)
	w.create("root", "root.a")
	w.wrote("+root", "+root.a")
	w.run("p", "root.a")
	w.run("q", "root.a")
	w.delete("root.a")
	w.wrote()
	w.ends("p")
	w.wrote()
	w.ends("q")
	w.wrote("-root.a")
	if w.stored["root.a"] != nil {
		t.Error("it is still there")
	}
}

func TestADeletedParentGoesAfterItsChildrenAndWhatRunsBelowIt(t *testing.T) {
	w := newWorld(t)
	w.create("root", "root.a", "root.a.b", "root.a.c")
	w.wrote("+root", "+root.a", "+root.a.b", "+root.a.c")
	w.run("p", "root.a.b")
	w.delete("root.a", "root.a.c")
	w.wrote("-root.a.c")
	w.wrote()
	// Somebody takes the child's finalizer off by hand: the pod stays in a queue that no object stands for, and keeps the parent.
	w.delete("root.a.b")
	w.change("root.a.b", func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	w.wrote()
	w.ends("p")
	w.wrote("-root.a")
}

func TestAllQueuesDeletedAtOnceGoFromTheLeavesUp(t *testing.T) {
	w := newWorld(t)
	w.create("root", "root.a", "root.a.b", "root.default")
	w.wrote("+root", "+root.a", "+root.a.b", "+root.default")
	w.delete("root", "root.a", "root.a.b", "root.default")
	w.wrote("-root.a.b", "-root.default")
	w.wrote("-root.a")
	w.wrote("-root")
	if len(w.stored) != 0 {
		t.Errorf("%d are left", len(w.stored))
	}
}

func TestAQueueStaysUntilTheLedgerHasHeardOfItsDeletion(t *testing.T) {
	w := newWorld(t)
	w.create("root.a")
	w.wrote("+root.a")
	w.inform()
	w.delete("root.a")
	w.show()
	w.passed()
	w.tell()
	w.passed("-root.a")
}

func TestAQueueThatCannotBeReadCanBeDeleted(t *testing.T) {
	w := newWorld(t)
	w.create("root", "root.bad")
	w.show()
	w.ledger.ObserveBadQueue("root.bad", "spec.weight: cannot be read")
	w.passed("+root", "+root.bad")
	w.delete("root", "root.bad")
	w.show()
	w.ledger.ObserveQueue(queue.Declaration{Path: "root", Spec: queue.DefaultSpec(), Deleting: true})
	w.passed() // it counts as a child of root, too
	w.ledger.RetireQueue("root.bad")
	w.passed("-root.bad")
	w.show()
	w.ledger.ForgetQueue("root.bad")
	w.passed("-root")
}

func TestOtherFinalizersAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.create("root.a")
	w.change("root.a", func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.com/a", "example.com/b"}) })
	w.wrote("+root.a")
	want := []string{"example.com/a", "example.com/b", v1alpha1.QueueFinalizer}
	if diff := cmp.Diff(want, w.stored["root.a"].GetFinalizers()); diff != "" {
		t.Error(diff)
	}
	w.delete("root.a")
	// One more comes between the informer and us: the patch must not take it away.
	w.inform()
	w.change("root.a", func(u *unstructured.Unstructured) { u.SetFinalizers(append(u.GetFinalizers(), "example.com/c")) })
	w.passed()
	w.wrote("-root.a")
	if diff := cmp.Diff([]string{"example.com/a", "example.com/b", "example.com/c"}, w.stored["root.a"].GetFinalizers()); diff != "" {
		t.Error(diff)
	}
	w.wrote() // the others' finalizers are the others' business
}

func TestASuccessorIsNotTakenForTheOldQueue(t *testing.T) {
	w := newWorld(t)
	w.create("root.a")
	w.wrote("+root.a")
	w.delete("root.a")
	w.inform()
	delete(w.stored, "root.a")
	w.create("root.a")
	w.change("root.a", func(u *unstructured.Unstructured) { u.SetFinalizers([]string{v1alpha1.QueueFinalizer}) })
	w.passed()
	if f := w.stored["root.a"].GetFinalizers(); len(f) != 1 {
		t.Errorf("the new one has finalizers %v", f)
	}
	if w.log.String() != "" {
		t.Errorf("a conflict is nothing to complain about:\n%s", w.log.String())
	}
}

func TestFailuresBackOffAndAreMentionedOnce(t *testing.T) {
	w := newWorld(t)
	w.fail = func(name string) error { return apierrors.NewInternalError(errors.New("etcd is down")) }
	w.create("root.a", "root.b")
	w.inform()
	for range 20 { // at seconds 0, 1, 3 and 7
		w.passed()
	}
	if w.tried != 2*4 {
		t.Errorf("tried %d times", w.tried)
	}
	if n := strings.Count(w.log.String(), "etcd is down"); n != 1 {
		t.Errorf("mentioned %d times:\n%s", n, w.log.String())
	}
	w.fail = nil
	w.clock.Step(time.Minute)
	w.passed("+root.a", "+root.b")
}

func TestWritesAreBoundedAndDeletionsGoFirst(t *testing.T) {
	w := newWorld(t)
	w.c.loop = writing.NewLoop(4, w.clock) // 2 in a pass
	w.create("root.z")
	w.wrote("+root.z")
	w.create("root.a", "root.b", "root.c")
	w.wrote("+root.a", "+root.b")
	w.delete("root.z")
	w.create("root.a0")
	w.wrote("+root.c", "-root.z")
	w.wrote("+root.a0")
}

func TestWhilePodsFlowFewAreWritten(t *testing.T) {
	w := newWorld(t)
	w.c.loop = writing.NewLoop(100, w.clock)
	for i := range 30 {
		w.create(fmt.Sprintf("root.q%02d", i))
	}
	w.inform()
	w.ledger.ObservePod(ledger.Pod{UID: "p", Name: "p", Namespace: "ns", Queue: "root.q00", Application: "p", Class: "c"}, 1)
	if _, ok := w.ledger.Choose(2); !ok {
		t.Fatal("nothing flows")
	}
	count := func(want int) {
		t.Helper()
		w.patched = nil
		w.inform()
		w.c.pass(w.context)
		w.clock.Step(writing.Interval)
		if len(w.patched) != want {
			t.Errorf("%d writes, want %d", len(w.patched), want)
		}
	}
	count(10)
	count(0) // for two seconds
	count(0)
	count(0)
	count(10)
	w.ledger.ForgetPod("p", 3)
	count(10)
}

func TestRunWorksUntilItsContextEnds(t *testing.T) {
	w := newWorld(t)
	w.create("root.a")
	w.inform()
	ctx, cancel := context.WithCancel(w.context)
	done := make(chan struct{})
	patched := make(chan string, 1)
	w.fail = func(name string) error { patched <- name; return nil }
	go func() { defer close(done); w.c.Run(ctx) }()
	if name := <-patched; name != "root.a" {
		t.Errorf("patched %s", name)
	}
	cancel()
	<-done
}
