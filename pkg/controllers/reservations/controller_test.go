package reservations

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// world is an API server with Queues, Reservations and pods, informers of it, and a cluster of 10 cores, all of which root.plan is entitled to.
type world struct {
	*testing.T
	c            *Controller
	ledger       *ledger.Ledger
	clock        *clocktesting.FakeClock
	recorder     *events.FakeRecorder
	queues       cache.Store
	reservations cache.Store
	pods         cache.Indexer
	server       map[string]*unstructured.Unstructured // Queues by name, Reservations by namespace/name
	next         int
	wrote        []string
	fail         error
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, ledger: ledger.New(ledger.Options{}), clock: clocktesting.NewFakeClock(time.Unix(0, 0)), recorder: events.NewFakeRecorder(1000),
		queues: cache.NewStore(cache.MetaNamespaceKeyFunc), reservations: cache.NewStore(cache.MetaNamespaceKeyFunc),
		pods:   cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		server: map[string]*unstructured.Unstructured{}}
	w.ledger.ObserveNode(ledger.Node{Name: "n", Usable: true, Allocatable: resource.Of(resource.Entry{Name: resource.CPU, Value: 10_000})})
	w.ledger.Lead(0)
	w.lead()
	w.create(`{kind: Queue, metadata: {name: root}, spec: {preemption: {interval: 1s, maxWaitBeforeKill: 3s}}}`)
	w.create(`{kind: Queue, metadata: {name: root.plan}, spec: {reservable: true, policy: FIFO, defaultPriority: 7, preemption: {guaranteedTimeout: 5s}}}`)
	w.show()
	return w
}

// lead lets another process begin to lead.
func (w *world) lead() {
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		v1alpha1.QueueResource: "QueueList", v1alpha1.ReservationResource: "ReservationList",
	})
	client.PrependReactor("*", "*", w.serve)
	kube := kubefake.NewSimpleClientset()
	kube.PrependReactor("*", "*", w.servePods)
	w.c = New(w.ledger, kube, client, Options{
		Queues: w.queues, Reservations: w.reservations, Pods: corelisters.NewPodLister(w.pods), Recorder: w.recorder, Clock: w.clock,
	})
	w.c.loop = writing.NewLoop(1000, w.clock)
	for _, u := range w.queues.List() {
		w.c.Queues().OnAdd(u, true)
	}
}

// serve creates, changes and deletes as the API server does.
func (w *world) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	if w.fail != nil {
		return true, nil, w.fail
	}
	switch a := a.(type) {
	case clienttesting.CreateActionImpl:
		u := a.GetObject().(*unstructured.Unstructured)
		w.wrote = append(w.wrote, "+"+text(u))
		w.put(u)
		return true, u, nil
	case clienttesting.DeleteActionImpl:
		w.wrote = append(w.wrote, "-"+strings.TrimPrefix(a.Name, "root.plan."))
		delete(w.server, a.Name)
		return true, nil, nil
	case clienttesting.PatchActionImpl:
		if a.Subresource == "status" {
			return w.serveStatus(a)
		}
		u := w.server[a.Name].DeepCopy()
		var ops []map[string]any
		if err := json.Unmarshal(a.Patch, &ops); err != nil || ops[0]["value"] != u.GetResourceVersion() {
			return true, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "test failed", 0, false)
		}
		u.Object["spec"] = ops[1]["value"]
		u.SetGeneration(u.GetGeneration() + 1)
		w.wrote = append(w.wrote, "="+text(u))
		w.put(u)
		return true, u, nil
	}
	w.Errorf("unexpected: %+v", a)
	return true, nil, errors.New("unexpected")
}

func (w *world) serveStatus(a clienttesting.PatchActionImpl) (bool, runtime.Object, error) {
	key := a.Namespace + "/" + a.Name
	body := &unstructured.Unstructured{}
	if err := json.Unmarshal(a.Patch, &body.Object); err != nil || a.PatchType != types.ApplyPatchType {
		w.Errorf("%s: %v", a.PatchType, err)
	}
	u := w.server[key].DeepCopy()
	if body.GetResourceVersion() != u.GetResourceVersion() {
		return true, nil, apierrors.NewConflict(v1alpha1.Resource("reservations"), a.Name, errors.New("changed"))
	}
	u.Object["status"] = body.Object["status"]
	w.put(u)
	return true, w.server[key], nil
}

// servePods moves and evicts pods.
func (w *world) servePods(a clienttesting.Action) (bool, runtime.Object, error) {
	if w.fail != nil {
		return true, nil, w.fail
	}
	switch a := a.(type) {
	case clienttesting.PatchActionImpl:
		object, _, _ := w.pods.GetByKey(a.Namespace + "/" + a.Name)
		pod := object.(*corev1.Pod).DeepCopy()
		var body corev1.Pod
		if err := json.Unmarshal(a.Patch, &body); err != nil || body.UID != pod.UID || a.Subresource != "status" {
			w.Errorf("%s of %s: %v", a.Patch, pod.UID, err)
		}
		pod.Annotations = body.Annotations
		w.wrote = append(w.wrote, a.Name+" to "+body.Annotations[v1alpha1.KeyPlacedQueue])
		return true, pod, w.pods.Update(pod)
	case clienttesting.CreateActionImpl:
		e := a.GetObject().(*policyv1.Eviction)
		w.wrote = append(w.wrote, e.Name+" evicted")
		object, _, _ := w.pods.GetByKey(e.Namespace + "/" + e.Name)
		return true, nil, w.pods.Delete(object)
	}
	return false, nil, nil
}

// text is a Queue in short.
func text(u *unstructured.Unstructured) string {
	name := strings.TrimPrefix(u.GetName(), "root.plan.")
	guaranteed, _, _ := unstructured.NestedStringMap(u.Object, "spec", "guaranteed")
	if u.GetAnnotations()[v1alpha1.KeyCreatedFor] == "" {
		return name
	}
	return fmt.Sprintf("%s(%s)", name, guaranteed["cpu"])
}

func (w *world) put(u *unstructured.Unstructured) {
	u = u.DeepCopy()
	w.next++
	u.SetResourceVersion(fmt.Sprint(w.next))
	if u.GetUID() == "" {
		u.SetUID(types.UID(fmt.Sprint("uid-", w.next)))
		u.SetGeneration(1)
		u.SetCreationTimestamp(metav1.NewTime(time.Unix(int64(w.next), 0)))
	}
	key := u.GetName()
	if u.GetNamespace() != "" {
		key = u.GetNamespace() + "/" + key
	}
	w.server[key] = u
}

func (w *world) create(text string) {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		w.Fatal(err)
	}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(u.GetKind()))
	w.put(u)
}

// reserve creates a Reservation for so many cores from 100 to 200.
func (w *world) reserve(name string, cores int) {
	w.create(fmt.Sprintf(`{kind: Reservation, metadata: {name: %s, namespace: ns}, spec: {queue: root.plan, arrival: "1970-01-01T00:01:40Z",
		deadline: "1970-01-01T00:03:20Z", requests: [{pods: %d, resources: {cpu: 1}, duration: 100s}]}}`, name, cores))
	w.show()
}

// show brings informers and ledger up to date with the API server.
func (w *world) show() {
	for _, name := range w.queues.ListKeys() {
		if w.server[name] == nil {
			w.ledger.ForgetQueue(queue.Path(name))
			w.c.concerned.set(name, false)
		}
	}
	var queues, reservations []any
	for _, u := range w.server {
		if u.GetKind() == "Reservation" {
			reservations = append(reservations, u)
			continue
		}
		q, err := convert.DecodeQueue(u)
		if err != nil {
			w.Fatal(err)
		}
		d, err := convert.Declaration(q)
		if err != nil {
			w.Fatal(err)
		}
		w.ledger.ObserveQueue(d)
		w.c.Queues().OnUpdate(u, u)
		queues = append(queues, u)
	}
	w.ledger.Choose(w.clock.Now().UnixNano()) // what was observed comes into force
	if err := errors.Join(w.queues.Replace(queues, ""), w.reservations.Replace(reservations, "")); err != nil {
		w.Fatal(err)
	}
}

// to goes on to a time in seconds, and wants these writes beside statuses.
func (w *world) to(seconds int64, want string) {
	w.Helper()
	w.clock.SetTime(time.Unix(seconds, 0))
	var wrote []string
	for range 6 { // a queue, its pods, and the queue again
		w.wrote = nil
		w.c.pass(w.Context())
		slices.Sort(w.wrote) // a pass makes several requests at a time
		wrote = append(wrote, w.wrote...)
		w.show()
		w.clock.Step(100 * time.Millisecond)
	}
	if got := strings.Join(wrote, ", "); got != want {
		w.Errorf("at %d: wrote %q, want %q", seconds, got, want)
	}
}

// says wants the phase of a Reservation, and the reason of its condition.
func (w *world) says(name, want string) {
	w.Helper()
	r, err := convert.DecodeReservation(w.server["ns/"+name])
	if err != nil {
		w.Fatal(err)
	}
	got := string(r.Status.Phase)
	for _, c := range r.Status.Conditions {
		got += fmt.Sprintf(" %s=%s %s", c.Type, c.Status, c.Reason)
	}
	if got != want {
		w.Errorf("%s is %q, want %q", name, got, want)
	}
}

// run adds a pod that runs in a queue.
func (w *world) run(name, in string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "ns", UID: types.UID("uid-" + name), Annotations: map[string]string{v1alpha1.KeyPlacedQueue: in},
	}}
	pod.Spec.NodeName = "n"
	if err := w.pods.Add(pod); err != nil {
		w.Fatal(err)
	}
}

func (w *world) events() (all []string) {
	for len(w.recorder.Events) > 0 {
		all = append(all, <-w.recorder.Events)
	}
	return all
}

// The lead time is twice 5 seconds until the claim, 1 until the next round, 3 until the eviction, and 30 until the pods are gone.
const lead = 78

func TestAReservationFromItsCreationToItsEnd(t *testing.T) {
	w := newWorld(t)
	w.to(0, "+default")
	w.reserve("night", 6)
	w.to(1, "")
	w.says("night", "Accepted Accepted=True Reserved")
	w.reserve("late", 5)
	w.to(2, "")
	w.says("late", "Rejected Accepted=False NoRoom")
	w.to(100-lead-1, "")
	w.to(100-lead, "+ns-night(6)")
	q, err := convert.DecodeQueue(w.server["root.plan.ns-night"])
	if err != nil || !q.Spec.Weight.IsZero() || q.Spec.Policy != "FIFO" || *q.Spec.DefaultPriority != 7 || q.Annotations[v1alpha1.KeyCreatedFor] != "ns/night" {
		t.Errorf("%+v, %v", q, err)
	}
	w.to(100, "")
	w.says("night", "Active Accepted=True Reserved")
	w.run("a", "root.plan.ns-night")
	w.run("b", "root.plan.default")
	w.to(200, "=ns-night(), a to root.plan.default, -ns-night")
	w.says("night", "Ended Accepted=True Reserved")
	want := []string{
		"Normal Accepted its allocation begins at 1970-01-01T00:01:40Z",
		"Warning Rejected requests[0]: 4 of 5 times cpu=1 have room for 1m40s between 1970-01-01T00:01:40Z and 1970-01-01T00:03:20Z; it fits with deadline 1970-01-01T00:05:00Z",
		"Normal Active its allocation has begun",
		"Normal Ended its allocation is over",
		"Normal ReservationEnded runs on in queue root.plan.default, since its reservation has ended",
	}
	if got := w.events(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestPodsAreEvictedIfTheQueueSaysSo(t *testing.T) {
	w := newWorld(t)
	plan := w.server["root.plan"].DeepCopy()
	_ = unstructured.SetNestedField(plan.Object, false, "spec", "reservations", "moveOnExpiry")
	w.put(plan)
	w.reserve("night", 6)
	w.to(100, "+default, +ns-night(6)")
	w.run("a", "root.plan.ns-night")
	w.to(200, "=ns-night(), a evicted, -ns-night")
}

// A process that begins to lead, at any time, goes on where the other one ended.
func TestTheNextLeaderGoesOn(t *testing.T) {
	w := newWorld(t)
	w.reserve("night", 6)
	for _, at := range []struct {
		seconds int64
		writes  string
		says    string
	}{
		{1, "+default", "Accepted"}, {21, "", "Accepted"}, {22, "+ns-night(6)", "Accepted"}, {61, "", "Accepted"}, {100, "", "Active"},
		{101, "", "Active"}, {200, "-ns-night", "Ended"}, {201, "", "Ended"},
	} {
		w.to(at.seconds, at.writes)
		w.says("night", at.says+" Accepted=True Reserved")
		w.lead()
	}
}

func TestAShrinkingClusterCancelsTheLastAccepted(t *testing.T) {
	w := newWorld(t)
	w.reserve("first", 6)
	w.to(0, "+default")
	w.reserve("second", 4)
	w.to(100, "+ns-first(6), +ns-second(4)")
	w.run("a", "root.plan.ns-second")
	w.events()
	w.ledger.ObserveNode(ledger.Node{Name: "n", Usable: true, Allocatable: resource.Of(resource.Entry{Name: resource.CPU, Value: 7_000})})
	w.to(110, "=ns-second(), a to root.plan.default, -ns-second")
	w.says("first", "Active Accepted=True Reserved")
	w.says("second", "Cancelled Accepted=False LessCapacity")
	want := "Warning Cancelled at 1970-01-01T00:01:50Z at most 7 cpu may be reserved, and reservations have 10 cpu; of those that have some, this one was accepted last"
	if got := w.events(); len(got) == 0 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// A Queue of somebody else, also one with the name of the queue for other pods, is not touched.
func TestOnlyOwnQueuesAreTouched(t *testing.T) {
	w := newWorld(t)
	w.create(`{kind: Queue, metadata: {name: root.plan.default}, spec: {weight: 3}}`)
	w.show()
	before := w.server["root.plan.default"].GetResourceVersion()
	w.reserve("night", 6)
	w.to(100, "+ns-night(6)")
	w.server["root.plan"].Object["spec"] = map[string]any{}
	w.show()
	w.to(101, "-ns-night")
	w.says("night", "Cancelled Accepted=False QueueNotReservable")
	if w.server["root.plan.default"].GetResourceVersion() != before {
		t.Error("it was written")
	}
}

// What fails is tried again, and nothing is lost.
func TestWhatFailsIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.fail = errors.New("down")
	w.reserve("night", 6)
	w.to(1, "")
	w.to(100, "")
	w.fail = nil
	w.to(170, "+default, +ns-night(6)")
	w.says("night", "Active Accepted=True Reserved")
}

// A patch of a version that is out of date is no failure to tell of, unlike one of an object that the API server does not take.
func TestWhatIsOutOfDateIsNoFailure(t *testing.T) {
	stale := apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "test failed", 0, true)
	wrong := apierrors.NewInvalid(schema.GroupKind{Kind: "Queue"}, "q", field.ErrorList{field.Invalid(field.NewPath("spec"), 1, "no")})
	if !outdated(stale) || outdated(wrong) || outdated(errors.New("down")) {
		t.Errorf("%v %v", outdated(stale), outdated(wrong))
	}
}

// Without reservable queues and Reservations nothing is computed.
func TestNothingIsDoneWithoutReservations(t *testing.T) {
	w := newWorld(t)
	delete(w.server, "root.plan")
	w.show()
	w.c.ledger = nil // a look at it would panic
	w.to(1, "")
	if got := slices.Sorted(maps.Keys(w.server)); len(got) != 1 {
		t.Error(got)
	}
}

// An update that was refused is told of once, and so is each phase after it.
func TestARefusalIsToldOfOnce(t *testing.T) {
	w := newWorld(t)
	w.reserve("night", 6)
	w.to(0, "+default")
	u := w.server["ns/night"].DeepCopy()
	requests, _, _ := unstructured.NestedSlice(u.Object, "spec", "requests")
	requests[0].(map[string]any)["pods"] = int64(7)
	requests[0].(map[string]any)["duration"] = "120s"
	_ = unstructured.SetNestedSlice(u.Object, requests, "spec", "requests")
	u.SetGeneration(2)
	w.put(u)
	w.show()
	w.to(1, "")
	w.to(100, "+ns-night(6)")
	w.to(200, "-ns-night")
	want := []string{
		"Normal Accepted its allocation begins at 1970-01-01T00:01:40Z",
		"Warning UpdateRejected deadline: the requests take 2m, and between 1970-01-01T00:01:40Z and 1970-01-01T00:03:20Z there are 1m40s; it fits with deadline 1970-01-01T00:03:40Z",
		"Normal Active its allocation has begun",
		"Normal Ended its allocation is over",
	}
	if got := w.events(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Each decision is counted once, also when another leader goes on, and at each moment what there is.
func TestReservationsAreCounted(t *testing.T) {
	w := newWorld(t)
	counts := map[string]int{}
	var phases map[string]int
	var reserved map[queue.Path]resource.List
	count := func() {
		w.c.o.Decided = func(decision string) { counts[decision]++ }
		w.c.o.Observe = func(p map[string]int, now map[queue.Path]resource.List) { phases, reserved = p, now }
	}
	want := func(seconds int64, writes string, wantCounts, wantPhases map[string]int, cpu int64) {
		t.Helper()
		w.to(seconds, writes)
		if !maps.Equal(counts, wantCounts) || !maps.Equal(phases, wantPhases) || reserved["root.plan"].Get(resource.CPU) != cpu || cpu == 0 && len(reserved) > 0 {
			t.Errorf("at %d: %v, %v, %v", seconds, counts, phases, reserved)
		}
	}
	count()
	w.reserve("a", 6)
	want(0, "+default", map[string]int{"accepted": 1}, map[string]int{"Accepted": 1}, 0)
	w.reserve("b", 4)
	want(1, "", map[string]int{"accepted": 2}, map[string]int{"Accepted": 2}, 0)
	w.reserve("c", 1)
	want(2, "", map[string]int{"accepted": 2, "rejected": 1}, map[string]int{"Accepted": 2, "Rejected": 1}, 0)
	want(100, "+ns-a(6), +ns-b(4)", map[string]int{"accepted": 2, "rejected": 1}, map[string]int{"Active": 2, "Rejected": 1}, 10_000)
	w.lead()
	count()
	w.ledger.ObserveNode(ledger.Node{Name: "n", Usable: true, Allocatable: resource.Of(resource.Entry{Name: resource.CPU, Value: 7_000})})
	want(110, "-ns-b", map[string]int{"accepted": 2, "rejected": 1, "cancelled": 1}, map[string]int{"Active": 1, "Rejected": 1, "Cancelled": 1}, 6_000)
	want(200, "-ns-a", map[string]int{"accepted": 2, "rejected": 1, "cancelled": 1}, map[string]int{"Ended": 1, "Rejected": 1, "Cancelled": 1}, 0)
}

// A reservable queue that is deleted is no longer reservable: otherwise the queues below it would keep it for ever.
func TestAReservableQueueCanBeDeleted(t *testing.T) {
	w := newWorld(t)
	w.reserve("night", 6)
	w.to(100, "+default, +ns-night(6)")
	w.run("a", "root.plan.ns-night")
	plan := w.server["root.plan"].DeepCopy()
	plan.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(101, 0)})
	w.put(plan)
	w.show()
	w.to(101, "-default, =ns-night(), a to root.plan.default, -ns-night")
	w.says("night", "Cancelled Accepted=False QueueNotReservable")
}
