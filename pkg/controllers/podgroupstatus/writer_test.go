package podgroupstatus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// world is an API server that knows PodGroups, an informer of them, and a ledger that says what the test says.
type world struct {
	*testing.T
	writer *Writer
	clock  *clocktesting.FakeClock
	store  cache.Store

	gangs    []ledger.PodGroupState
	busy     bool
	read     atomic.Int64 // how often
	served   map[string]*unstructured.Unstructured
	newest   int
	applied  []string
	refusing error
}

func (w *world) PodGroups() []ledger.PodGroupState { w.read.Add(1); return w.gangs }
func (w *world) Version() uint64                   { return 1 }
func (w *world) Leaving() ([]ledger.Leaving, bool) { return nil, w.busy }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		T: t, clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), store: cache.NewStore(cache.MetaNamespaceKeyFunc),
		served: map[string]*unstructured.Unstructured{}, newest: 10,
	}
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("*", "*", w.serve)
	var err error
	w.writer, err = New(w, kubefake.NewClientset(), client, Options{
		Groups: w.store, Clock: w.clock, Ours: func(name string) bool { return name == "fairway" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// serve does what the API server does to an applied status.
func (w *world) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	p, ok := a.(clienttesting.PatchActionImpl)
	if !ok || a.GetResource() != convert.PodGroups || a.GetSubresource() != "status" || p.GetPatchType() != types.ApplyPatchType ||
		p.PatchOptions.FieldManager != "fairway-scheduler" || !*p.PatchOptions.Force {
		w.Errorf("unexpected: %v", a)
		return true, nil, errors.New("unexpected")
	}
	key := a.GetNamespace() + "/" + p.GetName()
	if w.refusing != nil {
		return true, nil, w.refusing
	}
	u := w.served[key]
	if u == nil {
		return true, nil, apierrors.NewNotFound(convert.PodGroups.GroupResource(), key)
	}
	var body struct {
		Kind, APIVersion string
		Metadata         struct{ Name, Namespace, ResourceVersion string }
		Spec             any
		Status           map[string]any
	}
	if err := json.Unmarshal(p.GetPatch(), &body); err != nil || body.Spec != nil || body.Kind != "PodGroup" || body.APIVersion != "scheduling.x-k8s.io/v1alpha1" {
		w.Errorf("%v: %s", err, p.GetPatch())
	}
	if body.Metadata.ResourceVersion != u.GetResourceVersion() {
		return true, nil, apierrors.NewConflict(convert.PodGroups.GroupResource(), key, errors.New("changed"))
	}
	u = u.DeepCopy()
	u.Object["status"] = body.Status
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "fairway-scheduler", Subresource: "status"}})
	w.put(u)
	w.applied = append(w.applied, key)
	return true, u, nil
}

func (w *world) put(u *unstructured.Unstructured) {
	w.newest++
	u.SetResourceVersion(strconv.Itoa(w.newest))
	w.served[u.GetNamespace()+"/"+u.GetName()] = u
}

// group makes a PodGroup, or makes it again.
func (w *world) group(name string) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": int64(3)}}}
	u.SetNamespace("ns")
	u.SetName(name)
	w.put(u)
}

// show brings the informer up to date.
func (w *world) show() {
	w.Helper()
	for _, u := range w.served {
		if err := w.store.Update(u); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) pod(group, name, scheduler, node string, phase corev1.PodPhase) {
	w.Helper()
	obj, err := trimmed(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, Labels: map[string]string{"scheduling.x-k8s.io/pod-group": group, "more": "x"}, Annotations: map[string]string{"a": "b"},
		},
		Spec:   corev1.PodSpec{NodeName: node, SchedulerName: scheduler, Containers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{Phase: phase, Message: "m"},
	})
	if err == nil {
		err = w.writer.pods.informer.GetIndexer().Update(obj)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.writer.pods.changes.Add(1)
}

func (w *world) step(d time.Duration) []string {
	w.applied = nil
	w.clock.Step(d)
	w.writer.pass(w.Context())
	return w.applied
}

func (w *world) status(name string) string {
	s := convert.PodGroupStatus(w.served["ns/"+name])
	return fmt.Sprintf("%s %d %d %d", s.Phase, s.Running, s.Succeeded, s.Failed)
}

func state(name string, pods, bound int, whole bool) ledger.PodGroupState {
	g := gang(pods, bound, whole)
	g.Key = "ns/" + name
	return g
}

func TestAStatusIsWrittenOnceAndWhenItChanges(t *testing.T) {
	w := newWorld(t)
	w.group("a")
	w.show()
	w.gangs = []ledger.PodGroupState{state("a", 3, 3, true), {PodGroup: ledger.PodGroup{Key: "ns/a (scheduling.k8s.io)", MinMember: 9}, Pods: 9}}
	for i, phase := range []corev1.PodPhase{"Running", "Running", "Succeeded"} {
		w.pod("a", strconv.Itoa(i), "fairway", "n", phase)
	}
	if got := w.step(0); !cmp.Equal(got, []string{"ns/a"}) || w.status("a") != "Running 2 1 0" {
		t.Errorf("wrote %v: %s", got, w.status("a"))
	}
	if got := w.step(time.Second); got != nil {
		t.Errorf("wrote %v before the informer showed the first write", got)
	}
	w.show()
	w.pod("a", "0", "fairway", "n", "Failed")
	if got := w.step(time.Second); !cmp.Equal(got, []string{"ns/a"}) || w.status("a") != "Failed 1 1 1" {
		t.Errorf("wrote %v: %s", got, w.status("a"))
	}
	w.show()
	if got := w.step(time.Second); got != nil {
		t.Errorf("wrote %v, which is nothing new", got)
	}
	if looks := w.read.Load(); looks != 2 {
		t.Errorf("looked %d times, and things changed twice", looks)
	}
	// Somebody else empties it. Nobody tells the ledger, but every so often it is looked at anyway.
	w.group("a")
	w.show()
	if got := w.step(lookAnyway); !cmp.Equal(got, []string{"ns/a"}) || w.status("a") != "Failed 1 1 1" {
		t.Errorf("wrote %v: %s", got, w.status("a"))
	}
}

func TestGroupsOfOthersAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"empty", "theirs", "mixed", "left"} {
		w.group(name)
		w.gangs = append(w.gangs, state(name, 0, 0, false))
	}
	w.gangs = append(w.gangs, state("unseen", 3, 3, true))
	w.served["ns/left"].Object["status"] = map[string]any{"phase": "Running", "running": int64(2)}
	w.served["ns/left"].SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "fairway-scheduler", Subresource: "status"}})
	w.show()
	w.pod("theirs", "t", "another", "n", "Running")
	w.pod("mixed", "m1", "another", "n", "Succeeded")
	w.pod("mixed", "m2", "fairway", "n", "Succeeded")
	got := w.step(0)
	slices.Sort(got)
	if !cmp.Equal(got, []string{"ns/left", "ns/mixed"}) || w.status("left") != "Pending 0 0 0" {
		t.Errorf("wrote %v, left is %s", got, w.status("left"))
	}
}

// Whether the last pods have ended or were deleted shows a moment after the ledger has seen them go.
func TestNothingIsSaidOfAGroupUntilItIsKnownHowItsPodsWent(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]string{corev1.PodSucceeded: "Finished 0 3 0", "": "Pending 0 0 0"} {
		w := newWorld(t)
		w.group("a")
		w.gangs = []ledger.PodGroupState{state("a", 3, 3, true)}
		for i := range 3 {
			w.pod("a", strconv.Itoa(i), "fairway", "n", corev1.PodRunning)
		}
		w.show()
		w.step(0)
		w.show()
		w.gangs[0] = state("a", 0, 0, false)
		if err := w.writer.pods.informer.GetIndexer().Delete(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "0"}}); err != nil {
			t.Fatal(err)
		}
		w.writer.pods.changes.Add(1)
		if got := w.step(time.Second); got != nil {
			t.Errorf("wrote %v: %s", got, w.status("a"))
		}
		for i := range 3 {
			name := strconv.Itoa(i)
			if phase != "" {
				w.pod("a", name, "fairway", "n", phase)
			} else if err := w.writer.pods.informer.GetIndexer().Delete(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}); err != nil {
				t.Fatal(err)
			}
		}
		w.writer.pods.changes.Add(1)
		if w.step(time.Second); w.status("a") != want {
			t.Errorf("says %s, want %s", w.status("a"), want)
		}
	}
}

// A group replaced by a new one with the same name gets nothing that was computed of the first.
func TestAChangedGroupIsLookedAtAgainBeforeItIsWritten(t *testing.T) {
	w := newWorld(t)
	w.group("a")
	w.show()
	w.gangs = []ledger.PodGroupState{state("a", 3, 3, true)}
	w.group("a") // not yet shown
	if got := w.step(0); got != nil {
		t.Errorf("wrote %v", got)
	}
	w.show()
	w.gangs[0] = state("a", 1, 0, false)
	if got := w.step(0); !cmp.Equal(got, []string{"ns/a"}) || w.status("a") != "Pending 0 0 0" {
		t.Errorf("wrote %v: %s", got, w.status("a"))
	}
}

func TestFailuresBackOffAndStopNoOther(t *testing.T) {
	w := newWorld(t)
	w.group("a")
	w.group("gone")
	w.show()
	delete(w.served, "ns/gone")
	w.gangs = []ledger.PodGroupState{state("a", 3, 0, false), state("gone", 3, 0, false)}
	w.refusing = apierrors.NewForbidden(convert.PodGroups.GroupResource(), "a", errors.New("no"))
	w.step(0)
	w.refusing = nil
	if got := w.step(time.Second - 1); got != nil {
		t.Errorf("wrote %v before the back-off ended", got)
	}
	if got := w.step(1); !cmp.Equal(got, []string{"ns/a"}) {
		t.Errorf("wrote %v", got)
	}
}

func TestTheOldestChangeGoesFirstAtABoundedRate(t *testing.T) {
	w := newWorld(t)
	w.busy = true
	for i := range 30 {
		name := fmt.Sprintf("g%02d", i)
		w.group(name)
		w.gangs = append(w.gangs, state(name, 1, 0, false))
	}
	w.show()
	first := w.step(0)
	w.gangs[0] = state("g00", 1, 1, false)
	w.show()
	w.writer.pods.changes.Add(1)
	second := w.step(2 * time.Second)
	slices.Sort(first)
	slices.Sort(second)
	if len(first) != 10 || first[0] != "ns/g00" || len(second) != 10 || second[0] != "ns/g10" {
		t.Errorf("wrote %v, then %v", first, second)
	}
}

func TestOnlyWhatIsCountedIsKeptOfAPod(t *testing.T) {
	w := newWorld(t)
	w.pod("a", "p", "fairway", "n", "Running")
	got, _, err := w.writer.pods.informer.GetIndexer().GetByKey("ns/p")
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: map[string]string{"scheduling.x-k8s.io/pod-group": "a"}},
		Spec:       corev1.PodSpec{NodeName: "n", SchedulerName: "fairway"}, Status: corev1.PodStatus{Phase: "Running"},
	}
	if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// The informer asks for pods of groups only, and its events make the writer look.
func TestRunFollowsThePodsOfGroups(t *testing.T) {
	w := newWorld(t)
	w.group("a")
	w.show()
	labelled := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: map[string]string{"scheduling.x-k8s.io/pod-group": "a"}}}
	plain := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "q"}}
	var err error
	if w.writer.pods, err = newPods(kubefake.NewClientset(labelled, plain)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.writer.Run(ctx)
	}()
	looked := func() bool { return w.writer.pods.changes.Load() > 0 && w.read.Load() > 0 }
	if !cache.WaitForCacheSync(ctx.Done(), w.writer.pods.informer.HasSynced, looked) {
		t.Error("never looked at the ledger")
	}
	if keys := w.writer.pods.informer.GetStore().ListKeys(); !cmp.Equal(keys, []string{"ns/p"}) {
		t.Errorf("follows %v", keys)
	}
	cancel()
	<-done
}
