package queuestatus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	ledger      *ledger.Ledger
	generations map[string]int64
	clock       *clocktesting.FakeClock
	client      *fake.FakeDynamicClient
	store       cache.Store
	log         ktesting.Buffer
	context     context.Context

	stored  map[string]*unstructured.Unstructured // by the API server
	version int
	applied []string // names, in the order of the writes that succeeded
	tried   []string // and of all
	created int
	fail    func(verb, name string) error
}

func newWorld(t *testing.T) *world {
	w := &world{
		T: t, ledger: ledger.New(ledger.Options{}), generations: map[string]int64{}, clock: clocktesting.NewFakeClock(start),
		client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{v1alpha1.QueueResource: "QueueList"}),
		store:  cache.NewStore(cache.MetaNamespaceKeyFunc), stored: map[string]*unstructured.Unstructured{}, version: 100,
	}
	w.ledger.ObserveNode(ledger.Node{Name: "n", Allocatable: amounts(1000, 1000), Usable: true})
	w.client.PrependReactor("*", "*", w.serve)
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	w.log = logger.GetSink().(ktesting.Underlier).GetBuffer()
	w.context = klog.NewContext(t.Context(), logger)
	return w
}

// serve does what the API server does to Queues, with one manager of fields.
func (w *world) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	if a.GetResource() != v1alpha1.QueueResource {
		w.Errorf("asked for %v", a.GetResource())
	}
	switch a := a.(type) {
	case clienttesting.PatchActionImpl:
		o := a.GetPatchOptions()
		if a.GetSubresource() != "status" || a.GetPatchType() != types.ApplyPatchType || o.FieldManager != "fairway-scheduler" || !*o.Force {
			w.Errorf("patched %q with %s and %+v", a.GetSubresource(), a.GetPatchType(), o)
		}
		w.tried = append(w.tried, a.GetName())
		u := w.stored[a.GetName()]
		if err := w.refusal("apply", a.GetName()); err != nil || u == nil {
			return true, nil, orNotFound(err, a.GetName())
		}
		var body struct {
			Metadata, Status map[string]any
			Spec             any
		}
		if err := json.Unmarshal(a.GetPatch(), &body); err != nil || body.Spec != nil || len(body.Metadata) != 1 {
			w.Errorf("the body says more than name and status: %v, %s", err, a.GetPatch())
		}
		u = u.DeepCopy()
		u.Object["status"] = body.Status
		w.put(u)
		w.applied = append(w.applied, a.GetName())
		return true, u, nil
	case clienttesting.CreateActionImpl:
		u := a.GetObject().(*unstructured.Unstructured).DeepCopy()
		if err := w.refusal("create", u.GetName()); err != nil {
			return true, nil, err
		}
		if w.stored[u.GetName()] != nil {
			return true, nil, apierrors.NewAlreadyExists(v1alpha1.Resource("queues"), u.GetName())
		}
		w.created++
		w.makeQueue(u.GetName())
		return true, w.stored[u.GetName()], nil
	case clienttesting.ListActionImpl:
		if err := w.refusal("list", ""); err != nil {
			return true, nil, err
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("QueueList"))
		for _, u := range w.stored {
			list.Items = append(list.Items, *u.DeepCopy())
		}
		return true, list, nil
	}
	w.Errorf("an unexpected request: %v", a)
	return true, nil, errors.New("unexpected")
}

func (w *world) refusal(verb, name string) error {
	if w.fail == nil {
		return nil
	}
	return w.fail(verb, name)
}

func orNotFound(err error, name string) error {
	if err != nil {
		return err
	}
	return apierrors.NewNotFound(v1alpha1.Resource("queues"), name)
}

func (w *world) put(u *unstructured.Unstructured) {
	w.version++
	u.SetResourceVersion(strconv.Itoa(w.version))
	w.stored[u.GetName()] = u
}

func (w *world) makeQueue(name string) {
	u := queueObject(name)
	u.SetGeneration(1)
	u.SetUID(types.UID(fmt.Sprintf("uid-%d", w.version)))
	w.put(u)
}

// inform brings informer and ledger up to date with the API server.
func (w *world) inform() {
	for _, name := range w.store.ListKeys() {
		if w.stored[name] == nil {
			w.ledger.ForgetQueue(queue.Path(name))
			delete(w.generations, name)
		}
	}
	var items []any
	for name, u := range w.stored {
		items = append(items, u)
		spec := queue.DefaultSpec()
		if limit, ok, _ := unstructured.NestedInt64(u.Object, "spec", "cores"); ok {
			spec.Max = resource.Of(resource.Entry{Name: resource.CPU, Value: limit * 1000})
		}
		w.ledger.ObserveQueue(queue.Declaration{Path: queue.Path(name), Spec: spec})
		w.generations[name] = u.GetGeneration()
	}
	if err := w.store.Replace(items, ""); err != nil {
		w.Fatal(err)
	}
}

// declare makes Queues, root first, and lets everybody know.
func (w *world) declare(names ...string) {
	for _, name := range append([]string{"root"}, names...) {
		if w.stored[name] == nil {
			w.makeQueue(name)
		}
	}
	w.inform()
}

// edit changes the spec of a Queue; cores 0 means none.
func (w *world) edit(name string, cores int64) {
	u := w.stored[name].DeepCopy()
	u.Object["spec"] = map[string]any{"cores": cores}
	if cores == 0 {
		delete(u.Object, "spec")
	}
	u.SetGeneration(u.GetGeneration() + 1)
	w.put(u)
	w.inform()
}

func (w *world) writer(o Options) *Writer {
	o.Clock = w.clock
	return New(w.ledger, func(name string) int64 { return w.generations[name] }, w.client, o)
}

func (w *world) informed() *Writer { return w.writer(Options{Queues: w.store}) }

// pass runs a pass and lets the interval go by. It returns what was written.
func (w *world) pass(writer *Writer) []string {
	w.applied = nil
	writer.pass(w.context)
	w.clock.Step(writing.Interval)
	return w.applied
}

func (w *world) wrote(writer *Writer, want ...string) {
	w.Helper()
	got := slices.Clone(w.pass(writer))
	slices.Sort(got)
	if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
		w.Errorf("written (-want +got):\n%s", diff)
	}
}

func (w *world) status(name string) v1alpha1.QueueStatus { return statusOf(w.stored[name]) }

func (w *world) condition(name, kind string) (c string, since time.Time) {
	for _, c := range w.status(name).Conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// run binds a pod of one core in a queue.
func (w *world) run(name, path string) {
	w.ledger.ObservePod(ledger.Pod{
		UID: ledger.UID(name), Name: name, Queue: path, Application: name, Node: "n",
		Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 1000}),
	}, 1)
}

func TestAChangeIsWrittenOnceAndNothingElse(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a", "root.b")
	writer := w.informed()
	w.wrote(writer, "root", "root.a", "root.b")
	if c, _ := w.condition("root.a", "Ready"); c != "True InForce" || w.status("root.a").ObservedGeneration != 1 {
		t.Errorf("got %+v", w.status("root.a"))
	}
	looks := writer.looks
	w.inform() // the informer shows what was written
	for range 5 {
		w.wrote(writer)
	}
	if writer.looks != looks {
		t.Errorf("looked %d times at a ledger that did not change", writer.looks-looks)
	}

	w.run("p", "a")
	w.wrote(writer, "root", "root.a")
	if s := w.status("root.a"); s.Pods.Running != 1 || s.Summary.Allocated != "1c 0" {
		t.Errorf("got %+v", s)
	}
	w.ledger.ObservePod(ledger.Pod{UID: "x", Name: "x", Queue: "nowhere", Application: "x", Class: "c"}, 1)
	looks = writer.looks
	w.wrote(writer) // the ledger changed, no queue did
	if writer.looks == looks {
		t.Error("did not look")
	}
}

func TestUndeclaredQueuesAreNotWritten(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	w.run("p", "root.ghosts.one")
	w.wrote(w.informed(), "root", "root.a")
	if len(w.tried) != 2 {
		t.Errorf("tried %v", w.tried)
	}
}

func TestANewLeaderWritesNothingThatIsThereAndKeepsTheTimes(t *testing.T) {
	for name, options := range map[string]func(*world) Options{
		"with an informer":    func(w *world) Options { return Options{Queues: w.store} },
		"with a list of ours": func(*world) Options { return Options{} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.declare("root.a", "root.b")
			w.pass(w.informed())
			// Others may have conditions too, and the order is the API server's.
			u := w.stored["root.a"].DeepCopy()
			cs, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			slices.Reverse(cs)
			cs = append(cs, map[string]any{"type": "Audited", "status": "True", "reason": "R", "message": "", "lastTransitionTime": start.Format(time.RFC3339)})
			if err := unstructured.SetNestedSlice(u.Object, cs, "status", "conditions"); err != nil {
				t.Fatal(err)
			}
			w.put(u)
			w.inform()

			w.clock.Step(time.Hour)
			second := w.writer(options(w))
			if second.listFirst && !second.list(w.context) {
				t.Fatal("the list failed")
			}
			w.wrote(second)
			w.run("p", "a")
			w.edit("root.a", 0)
			w.wrote(second, "root", "root.a")
			if _, since := w.condition("root.a", "Ready"); !since.Equal(start) {
				t.Errorf("ready since %v, want %v", since, start)
			}
			w.run("q", "a")
			w.edit("root.a", 1)
			at := w.clock.Now().Truncate(time.Second)
			w.pass(second)
			if c, since := w.condition("root.a", "OverLimit"); c != "True OverLimit" || !since.Equal(at) {
				t.Errorf("got %s since %v, want since %v", c, since, at)
			}
		})
	}
}

func TestAListThatFailsIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.declare()
	w.pass(w.informed())
	listed := make(chan error)
	w.fail = func(verb, _ string) error {
		if verb != "list" {
			return nil
		}
		return <-listed
	}
	done := make(chan bool)
	writer := w.writer(Options{})
	go func() { done <- writer.list(w.context) }()
	listed <- errors.New("connection refused")
	for !w.clock.HasWaiters() { // until the error is taken in
		goruntime.Gosched()
	}
	w.clock.Step(time.Second)
	listed <- nil
	if !<-done {
		t.Error("gave up")
	}
	w.fail = nil
	w.wrote(writer)
	if n := strings.Count(w.log.String(), "cannot be listed"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

func TestAGenerationThatMeansTheSameIsAcknowledged(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	writer := w.informed()
	w.pass(writer)
	w.edit("root.a", 0) // weight: "1" written as "1000m", say: the ledger sees no change
	w.wrote(writer, "root.a")
	if got := w.status("root.a").ObservedGeneration; got != 2 {
		t.Errorf("observed generation %d, want 2", got)
	}
	w.wrote(writer)
}

// The feed may take in a new spec between our two readings. The status may then say too little, never too much, and is put right.
func TestTheObservedGenerationNeverPromisesTooMuch(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	raced := false
	writer := New(w.ledger, func(name string) int64 {
		g := w.generations[name]
		if name == "root.a" && raced {
			raced = false
			w.edit("root.a", 5)
		}
		return g
	}, w.client, Options{Queues: w.store, Clock: w.clock})
	w.pass(writer)

	raced = true
	w.run("p", "a")
	w.pass(writer)
	if s := w.status("root.a"); s.ObservedGeneration != 1 || s.Max.Cpu().String() != "5" {
		t.Errorf("got generation %d with max %v, want the older generation with the newer max", s.ObservedGeneration, s.Max)
	}
	w.wrote(writer, "root.a")
	if s := w.status("root.a"); s.ObservedGeneration != 2 {
		t.Errorf("got generation %d, want 2", s.ObservedGeneration)
	}
}

func TestAQueueWhoseGenerationIsNotKnownYetWaits(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	delete(w.generations, "root.a") // the feed stores it a moment later
	writer := w.informed()
	w.wrote(writer, "root")
	looks := writer.looks
	w.wrote(writer)
	if writer.looks != looks {
		t.Error("looked again although nothing was new")
	}
	w.generations["root.a"] = 1
	w.wrote(writer, "root.a")
}

func TestTheRateHoldsAndTheOldestChangeGoesFirst(t *testing.T) {
	w := newWorld(t)
	var names []string
	for i := range 99 {
		names = append(names, fmt.Sprintf("root.q%02d", i))
	}
	w.declare(names...)
	writer := w.informed()
	var all []string
	for range 3 {
		got := w.pass(writer)
		if len(got) != 25 {
			t.Fatalf("wrote %d in half a second, want 25", len(got))
		}
		all = append(all, got...)
		w.run("p", "q00") // the first changes again and again, and root with it
		w.ledger.ForgetPod("p", 1)
		w.run(fmt.Sprintf("p%d", len(all)), "q00")
	}
	all = append(all, w.pass(writer)...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 100 {
		t.Errorf("%d of 100 queues were written, some twice", n)
	}
	w.wrote(writer, "root", "root.q00")
	if got := w.status("root.q00").Pods.Running; got != 3 {
		t.Errorf("%d pods running, want the newest number, 3", got)
	}
}

func TestFewAreWrittenWhilePodsFlow(t *testing.T) {
	w := newWorld(t)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("root.q%02d", i))
	}
	w.declare(names...)
	w.ledger.ObserveNode(ledger.Node{Name: "n", Usable: true})
	w.ledger.ObservePod(ledger.Pod{UID: "p", Name: "p", Queue: "q00", Application: "p", Class: "c"}, 1)
	w.ledger.Lead(1)
	release, ok := w.ledger.Choose(1)
	if !ok {
		t.Fatal("nothing was released")
	}
	writer := w.informed()
	if got := w.pass(writer); len(got) != 10 {
		t.Errorf("wrote %d at once while a pod is on its way, want 10", len(got))
	}
	if got := w.pass(writer); len(got) != 0 {
		t.Errorf("wrote %d more half a second later, want a pause", len(got))
	}
	w.ledger.ForgetPod(release.UID, 2)
	if got := w.pass(writer); len(got) != 13 {
		t.Errorf("wrote %d afterwards, want the other 11 and the two that the pod left", len(got))
	}
}

func TestNobodyStarvesWhenEverythingChangesAllTheTime(t *testing.T) {
	w := newWorld(t)
	var names []string
	for i := range 74 {
		names = append(names, fmt.Sprintf("root.q%02d", i))
	}
	w.declare(names...)
	writer := w.informed()
	var all []string
	for range 3 {
		for i := range names {
			w.run(fmt.Sprintf("p%d-%d", i, len(all)), fmt.Sprintf("q%02d", i))
		}
		all = append(all, w.pass(writer)...)
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 75 {
		t.Errorf("%d of 75 queues were written", n)
	}
}

func TestAConditionThatChangedWhileItsWriteWaitsKeepsItsTime(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	writer := w.informed()
	w.pass(writer)
	w.fail = func(string, string) error { return errors.New("connection refused") }
	w.run("p1", "a")
	w.run("p2", "a")
	at := w.clock.Now().Truncate(time.Second)
	w.edit("root.a", 1)
	w.pass(writer)
	w.clock.Step(time.Hour)
	w.run("p3", "a")
	w.pass(writer)
	w.fail = nil
	w.clock.Step(time.Hour)
	w.pass(writer)
	if c, since := w.condition("root.a", "OverLimit"); c != "True OverLimit" || !since.Equal(at) {
		t.Errorf("got %s since %v, want since %v", c, since, at)
	}
}

func TestAFailureDelaysNobodyElseAndIsLoggedOnce(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a", "root.b", "root.c")
	w.fail = func(_, name string) error {
		if name == "root.a" || name == "root.b" {
			return apierrors.NewForbidden(v1alpha1.Resource("queues"), name, errors.New("no"))
		}
		return nil
	}
	writer := w.informed()
	w.wrote(writer, "root", "root.c")
	for range 60 { // half a minute: tries after 1, 3, 7 and 15 seconds
		w.pass(writer)
	}
	if n := len(w.tried) - 2; n != 2*5 {
		t.Errorf("%d tries for two queues, want 10", n)
	}
	if n := strings.Count(w.log.String(), "cannot be written"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, w.log.String())
	}
	w.fail = nil
	w.clock.Step(time.Minute)
	w.wrote(writer, "root.a", "root.b")
	w.wrote(writer)
}

func TestNewsOfAQueueEndsItsBackOff(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	w.fail = func(_, name string) error {
		if name == "root.a" {
			return errors.New("refused")
		}
		return nil
	}
	writer := w.informed()
	for range 100 {
		w.pass(writer)
	}
	w.fail = nil
	w.edit("root.a", 3)
	w.wrote(writer, "root.a")
}

func TestAQueueThatVanishesIsNoFailure(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	writer := w.informed()
	w.pass(writer)
	delete(w.stored, "root.a") // the informer has yet to hear
	w.run("p", "a")
	w.wrote(writer, "root")
	for range 4 {
		w.wrote(writer)
	}
	if text := w.log.String(); strings.Contains(text, "written") {
		t.Errorf("logged %s", text)
	}
	w.inform()
	w.wrote(writer)
	if len(writer.records) != 1 {
		t.Errorf("remembers %d queues, want root alone", len(writer.records))
	}
}

// A Queue deleted and made again, as by kubectl replace --force, has no status and no past.
func TestAQueueMadeAgainGetsAStatusOfItsOwn(t *testing.T) {
	t.Run("as the informer shows it", func(t *testing.T) {
		w := newWorld(t)
		w.declare("root.a")
		writer := w.informed()
		w.pass(writer)
		w.clock.Step(time.Hour)
		w.makeQueue("root.a")
		w.inform()
		at := w.clock.Now().Truncate(time.Second)
		w.wrote(writer, "root.a")
		if c, since := w.condition("root.a", "Ready"); c != "True InForce" || !since.Equal(at) {
			t.Errorf("got %s since %v, want since %v", c, since, at)
		}
		w.inform()
		w.wrote(writer)
	})
	t.Run("before its predecessor ever was written", func(t *testing.T) {
		w := newWorld(t)
		w.declare("root.a")
		w.fail = func(string, string) error { return errors.New("connection refused") }
		writer := w.informed()
		w.pass(writer)
		w.clock.Step(time.Hour)
		w.makeQueue("root.a")
		w.inform()
		w.fail = nil
		at := w.clock.Now().Truncate(time.Second)
		w.wrote(writer, "root", "root.a")
		if _, since := w.condition("root.a", "Ready"); !since.Equal(at) {
			t.Errorf("since %v, want %v", since, at)
		}
	})
	t.Run("as the answer to a write shows it", func(t *testing.T) {
		w := newWorld(t)
		w.declare("root.a")
		writer := w.informed()
		w.pass(writer)
		w.clock.Step(time.Hour)
		w.makeQueue("root.a") // the informer lags
		w.run("p", "a")
		w.wrote(writer, "root", "root.a")
		at := w.clock.Now().Truncate(time.Second)
		w.wrote(writer, "root.a")
		if _, since := w.condition("root.a", "Ready"); !since.Equal(at) {
			t.Errorf("since %v, want %v", since, at)
		}
		w.inform()
		w.wrote(writer)
	})
}

func TestWhatOthersDoToAStatusIsPutRight(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	writer := w.informed()
	w.pass(writer)
	u := w.stored["root.a"].DeepCopy()
	u.Object["status"] = map[string]any{"pods": map[string]any{"pending": int64(99)}, "conditions": "nonsense"}
	w.put(u)
	w.inform()
	w.wrote(writer, "root.a")
	if got := w.status("root.a").Pods.Pending; got != 0 {
		t.Errorf("%d pods pending", got)
	}
	w.inform()
	w.wrote(writer)
}

// An API server with an older definition drops fields that it does not know. Nobody must write against that for ever.
func TestAFieldThatIsDroppedIsNotWrittenAgainAndAgain(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a")
	writer := w.informed()
	w.pass(writer)
	for _, name := range []string{"root", "root.a"} {
		unstructured.RemoveNestedField(w.stored[name].Object, "status", "summary")
	}
	w.inform()
	for range 5 {
		w.wrote(writer)
	}
}

func TestAnUnreadableQueueIsReported(t *testing.T) {
	w := newWorld(t)
	w.declare("root.a", "root.b")
	writer := w.informed()
	w.pass(writer)
	w.ledger.ObserveBadQueue("root.a", "spec.weight: 1e99 is not between 0 and 1000000")
	w.generations["root.a"] = 2
	w.wrote(writer, "root.a")
	s := w.status("root.a")
	if c, _ := w.condition("root.a", "Ready"); c != "False SpecInvalid" || s.ObservedGeneration != 2 || s.Policy != v1alpha1.PolicyDominantResourceFairness {
		t.Errorf("got %+v", s)
	}

	// One that never could be read is no declared queue, but there is an object to write to.
	w.makeQueue("root.never")
	w.ledger.ObserveBadQueue("root.never", "spec.policy: unknown")
	w.generations["root.never"] = 1
	w.wrote(writer, "root.never")
	if c, _ := w.condition("root.never", "Ready"); c != "False SpecInvalid" {
		t.Errorf("got %s", c)
	}
	w.wrote(writer)
}

func TestRootIsMadeWhereverItIsMissing(t *testing.T) {
	w := newWorld(t)
	writer := w.informed()
	w.pass(writer)
	if w.created != 2 || w.stored["root"] == nil || w.stored["root.default"] == nil {
		t.Fatalf("created %d queues", w.created)
	}
	w.pass(writer) // the ledger has not heard yet
	w.inform()
	w.wrote(writer, "root", "root.default")

	delete(w.stored, "root")
	w.inform()
	w.pass(writer)
	if w.created != 3 || w.stored["root"] == nil {
		t.Errorf("created %d queues, want root made again at once", w.created)
	}
	w.inform()
	w.wrote(writer, "root")
	if text := w.log.String(); strings.Contains(text, "cannot be") {
		t.Errorf("logged %s", text)
	}
}

func TestRootThatSomebodyElseMadeIsFine(t *testing.T) {
	w := newWorld(t)
	w.makeQueue("root") // and the informer has not seen it
	writer := w.informed()
	for range 10 {
		w.pass(writer)
	}
	if text := w.log.String(); w.created != 0 || strings.Contains(text, "cannot be") {
		t.Errorf("created %d, logged %s", w.created, text)
	}
	w.inform()
	w.wrote(writer, "root")
}

func TestMakingRootBacksOff(t *testing.T) {
	w := newWorld(t)
	tries := 0
	w.fail = func(verb, _ string) error {
		if verb == "create" {
			tries++
		}
		return errors.New("no such resource")
	}
	writer := w.informed()
	for range 60 { // half a minute: at 0, 1, 3, 7 and 15 seconds
		w.pass(writer)
	}
	if n := strings.Count(w.log.String(), "cannot be created"); tries != 5 || n != 1 {
		t.Errorf("%d tries, logged %d times", tries, n)
	}
	w.fail = nil
	w.clock.Step(time.Minute)
	w.pass(writer)
	if w.created != 2 { // with root.default
		t.Error("given up")
	}
	w.inform()
	w.pass(writer)
	delete(w.stored, "root")
	w.inform()
	w.pass(writer)
	if w.created != 3 {
		t.Error("waits for what failed before it was there")
	}
}

func TestRunPassesOncePerIntervalUntilItIsToldToStop(t *testing.T) {
	w := newWorld(t)
	w.declare()
	wrote := make(chan string)
	w.fail = func(_, name string) error { wrote <- name; return nil }
	ctx, cancel := context.WithCancel(w.context)
	done := make(chan struct{})
	writer := w.informed()
	go func() { defer close(done); writer.Run(ctx) }()
	<-wrote // the ticker was made before the first pass
	w.run("p", "nowhere")
	w.clock.Step(writing.Interval)
	if name := <-wrote; name != "root" {
		t.Errorf("wrote %s", name)
	}
	cancel()
	<-done
}
