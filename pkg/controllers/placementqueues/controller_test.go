package placementqueues

import (
	"context"
	"errors"
	"fmt"
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
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// world is an API server with Queues, an informer of it, and a ledger that hears what the informer shows.
type world struct {
	*testing.T
	c      *Controller
	ledger *ledger.Ledger
	clock  *clocktesting.FakeClock
	store  cache.Store
	server map[string]*unstructured.Unstructured
	next   int
	wrote  []string // "+name" and "-name" of what was accepted
	tried  int
	fail   error
}

func newWorld(t *testing.T, rules ...placement.RuleStatement) *world {
	w := &world{T: t, ledger: ledger.New(ledger.Options{}), clock: clocktesting.NewFakeClock(time.Unix(1000, 0)),
		store: cache.NewStore(cache.MetaNamespaceKeyFunc), server: map[string]*unstructured.Unstructured{}}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{v1alpha1.QueueResource: "QueueList"})
	client.PrependReactor("*", "*", w.serve)
	w.c = New(w.ledger, w.store, client, w.clock)
	w.c.loop = writing.NewLoop(1000, w.clock)
	policy, problems := placement.Parse(placement.Statement{Rules: rules})
	if problems != nil {
		t.Fatal(problems)
	}
	w.ledger.ObservePlacementPolicy(policy)
	w.ledger.Lead(0)
	w.create(`{metadata: {name: root}}`)
	w.create(`{metadata: {name: root.default}}`)
	w.show()
	return w
}

// serve creates and deletes as the API server does.
func (w *world) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	w.tried++
	if w.fail != nil {
		return true, nil, w.fail
	}
	switch a := a.(type) {
	case clienttesting.CreateActionImpl:
		u := a.GetObject().(*unstructured.Unstructured)
		if a.CreateOptions.FieldManager != "fairway-scheduler" {
			w.Errorf("field manager %q", a.CreateOptions.FieldManager)
		}
		if w.server[u.GetName()] != nil {
			return true, nil, apierrors.NewAlreadyExists(v1alpha1.Resource("queues"), u.GetName())
		}
		w.wrote = append(w.wrote, "+"+u.GetName())
		w.put(u)
		return true, u, nil
	case clienttesting.DeleteActionImpl:
		u, p := w.server[a.Name], a.DeleteOptions.Preconditions
		if u == nil || p == nil || *p.UID != u.GetUID() || *p.ResourceVersion != u.GetResourceVersion() {
			return true, nil, apierrors.NewConflict(v1alpha1.Resource("queues"), a.Name, errors.New("changed"))
		}
		w.wrote = append(w.wrote, "-"+a.Name)
		delete(w.server, a.Name)
		return true, nil, nil
	}
	w.Errorf("unexpected: %+v", a)
	return true, nil, errors.New("unexpected")
}

func (w *world) put(u *unstructured.Unstructured) {
	u = u.DeepCopy()
	w.next++
	u.SetResourceVersion(fmt.Sprint(w.next))
	if u.GetUID() == "" {
		u.SetUID(types.UID(fmt.Sprint("uid-", w.next)))
		u.SetGeneration(1)
	}
	w.server[u.GetName()] = u
}

func (w *world) create(text string) {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		w.Fatal(err)
	}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
	w.put(u)
}

// show brings informer and ledger up to date with the API server.
func (w *world) show() {
	for _, name := range w.store.ListKeys() {
		if w.server[name] == nil {
			w.ledger.ForgetQueue(queue.Path(name))
		}
	}
	var items []any
	for _, u := range w.server {
		q, err := convert.DecodeQueue(u)
		if err != nil {
			w.Fatal(err)
		}
		d, err := convert.Declaration(q)
		if err != nil {
			w.Fatal(err)
		}
		w.ledger.ObserveQueue(d)
		items = append(items, u)
	}
	if err := w.store.Replace(items, ""); err != nil {
		w.Fatal(err)
	}
}

func (w *world) pod(uid, user string, groups ...string) {
	w.ledger.ObservePod(ledger.Pod{UID: ledger.UID(uid), Name: uid, Namespace: "ns", Application: uid, Class: "c", User: user, Groups: groups}, w.clock.Now().UnixNano())
}

// passes makes passes and returns what was written.
func (w *world) passes(n int, step time.Duration) string {
	w.wrote = nil
	for range n {
		w.c.pass(w.Context())
		w.clock.Step(step)
		w.show()
	}
	return strings.Join(w.wrote, " ")
}

func (w *world) want(got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("wrote %q, want %q", got, want)
	}
}

func nested() placement.RuleStatement {
	return placement.RuleStatement{Kind: "NestedUserQueue", Nested: &placement.RuleStatement{Kind: "PrimaryGroup"}}
}

func TestQueuesAreCreatedParentsFirst(t *testing.T) {
	w := newWorld(t, nested())
	w.pod("p", "Ann", "dev")
	w.want(w.passes(1, time.Second), "+root.dev")
	w.want(w.passes(1, time.Second), "+root.dev.ann")
	w.want(w.passes(3, time.Second), "")
	u := w.server["root.dev.ann"]
	if u.GetLabels()["fairway.dev/created-by"] != "placement" || u.GetAnnotations()["fairway.dev/created-for"] != "Ann" {
		t.Errorf("%+v", u)
	}
	if s, _ := w.ledger.PodState("p"); s.Leaf != "root.dev.ann" {
		t.Errorf("%+v", s)
	}
}

func TestManyUsersAtOnceGetEachQueueOnce(t *testing.T) {
	w := newWorld(t, nested())
	for i := range 400 {
		w.pod(fmt.Sprint("p", i), fmt.Sprint("user-", i%200), fmt.Sprint("group-", i%5))
	}
	w.passes(2, 100*time.Millisecond)
	w.c.pass(w.Context()) // the informer shows nothing of what it did
	w.c.pass(w.Context())
	w.passes(10, time.Second)
	if len(w.server) != 2+5+200 || w.tried != 205 {
		t.Errorf("%d Queues after %d requests", len(w.server), w.tried)
	}
}

// A Queue of a user that comes first under the name is not touched.
func TestAQueueThatSomebodyElseCreatesIsNotTouched(t *testing.T) {
	w := newWorld(t, placement.RuleStatement{Kind: "User"})
	w.pod("p", "ann")
	w.create(`{metadata: {name: root.ann}, spec: {weight: 3}}`)
	before := w.server["root.ann"]
	w.want(w.passes(2, time.Second), "")
	if diff := cmp.Diff(before, w.server["root.ann"]); diff != "" || w.tried != 1 {
		t.Errorf("%d requests, and %s", w.tried, diff)
	}
	if s, _ := w.ledger.PodState("p"); s.Leaf != "root.ann" {
		t.Errorf("%+v", s)
	}
}

func TestWhatFailsIsTriedAgain(t *testing.T) {
	w := newWorld(t, placement.RuleStatement{Kind: "User"})
	w.pod("p", "ann")
	w.fail = errors.New("down")
	w.want(w.passes(4, 500*time.Millisecond), "")
	if w.tried != 2 {
		t.Errorf("%d requests in two seconds", w.tried)
	}
	w.fail = nil
	w.want(w.passes(1, 10*time.Second)+w.passes(1, time.Second), "+root.ann")
}

func TestEmptyQueuesAreDeletedUnlessSomebodyEditedThem(t *testing.T) {
	w := newWorld(t, nested())
	for _, user := range []string{"ann", "bob", "eve"} {
		w.pod(user, user, "dev")
	}
	w.passes(3, time.Second)
	for _, user := range []string{"ann", "bob", "eve"} {
		w.ledger.ForgetPod(ledger.UID(user), 0)
	}
	bob := w.server["root.dev.bob"].DeepCopy()
	bob.SetGeneration(2) // as after any change of the spec
	w.put(bob)
	eve := w.server["root.dev.eve"].DeepCopy()
	eve.SetLabels(nil)
	w.put(eve)
	w.show()
	w.want(w.passes(10, 59*time.Second), "")
	w.want(w.passes(4, 59*time.Second), "-root.dev.ann")
	delete(w.server, "root.dev.bob")
	delete(w.server, "root.dev.eve")
	w.show()
	w.want(w.passes(12, time.Minute), "-root.dev")
	if names := w.store.ListKeys(); len(names) != 2 {
		t.Error(names)
	}
}

// What the informer has not shown yet counts: a Queue that has changed is not deleted.
func TestAQueueIsDeletedOnlyInTheVersionThatWasSeen(t *testing.T) {
	w := newWorld(t, placement.RuleStatement{Kind: "User"})
	w.pod("p", "ann")
	w.passes(2, time.Second)
	w.ledger.ForgetPod("p", 0)
	w.want(w.passes(10, time.Minute), "")
	w.put(w.server["root.ann"])
	w.tried = 0
	w.c.pass(context.Background())
	if w.tried != 1 || w.server["root.ann"] == nil {
		t.Errorf("%d requests; the Queue is %v", w.tried, w.server["root.ann"])
	}
}

func TestWhatACreatedQueueBeginsWith(t *testing.T) {
	var parent v1alpha1.Queue
	if err := yaml.Unmarshal([]byte(`{spec: {weight: 7, children: {max: {cpu: "2", memory: 12.5%, example.com/gpu: 0}, template: {weight: "0.5", policy: FIFO, maxRunningApplications: 3, maxDriverShare: 300m, defaultPriority: -5}}}}`), &parent); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		q        placement.NewQueue
		children *v1alpha1.QueueChildren
		want     string
	}{
		"all":           {placement.NewQueue{Path: "root.ann", For: "Ann"}, parent.Spec.Children, `{"defaultPriority":-5,"max":{"cpu":"2","example.com/gpu":"0","memory":"12.5%"},"maxDriverShare":"300m","maxRunningApplications":3,"policy":"FIFO","weight":"500m"}`},
		"a parent":      {placement.NewQueue{Path: "root.dev", Parent: true}, parent.Spec.Children, `{"children":{},"max":{"cpu":"2","example.com/gpu":"0","memory":"12.5%"},"maxRunningApplications":3,"weight":"500m"}`},
		"nothing":       {placement.NewQueue{Path: "root.ann"}, &v1alpha1.QueueChildren{}, `{}`},
		"nobody states": {placement.NewQueue{Path: "root.default"}, nil, `{}`},
	} {
		u, err := objectOf(c.q, c.children)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := yaml.Marshal(u.Object["spec"])
		got, _ := yaml.YAMLToJSON(text)
		if strings.TrimSpace(string(got)) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if marked := len(u.GetLabels()) > 0; marked != (c.q.Path != "root.default") || (len(u.GetAnnotations()) > 0) != (c.q.For != "") {
			t.Errorf("%s: labels %v, annotations %v", name, u.GetLabels(), u.GetAnnotations())
		}
		if d, err := convert.DecodeQueue(u); err != nil {
			t.Error(err)
		} else if _, err := convert.Declaration(d); err != nil {
			t.Error(err)
		}
	}
}
