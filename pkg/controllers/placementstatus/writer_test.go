package placementstatus

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// world is an API server with one PlacementPolicy, and an informer of it.
type world struct {
	*testing.T
	writer   *Writer
	clock    *clocktesting.FakeClock
	store    cache.Store
	served   *unstructured.Unstructured
	version  int
	writes   int
	refusing error
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), store: cache.NewStore(cache.MetaNamespaceKeyFunc), version: 10}
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	client.PrependReactor("*", "*", w.serve)
	w.writer = New(client, Options{Policies: w.store, Clock: w.clock})
	return w
}

// serve does what the API server does to an applied status.
func (w *world) serve(a clienttesting.Action) (bool, runtime.Object, error) {
	p, ok := a.(clienttesting.PatchActionImpl)
	if !ok || a.GetResource() != v1alpha1.PlacementPolicyResource || a.GetSubresource() != "status" || p.GetPatchType() != types.ApplyPatchType ||
		p.PatchOptions.FieldManager != "fairway-scheduler" || !*p.PatchOptions.Force || p.GetName() != "default" {
		w.Errorf("unexpected: %v", a)
		return true, nil, errors.New("unexpected")
	}
	if w.writes++; w.refusing != nil {
		return true, nil, w.refusing
	}
	var body struct {
		Metadata     struct{ ResourceVersion string }
		Spec, Status any
	}
	if err := json.Unmarshal(p.GetPatch(), &body); err != nil || body.Spec != nil {
		w.Errorf("%v: %s", err, p.GetPatch())
	}
	if body.Metadata.ResourceVersion != w.served.GetResourceVersion() {
		return true, nil, apierrors.NewConflict(v1alpha1.PlacementPolicyResource.GroupResource(), "default", errors.New("changed"))
	}
	w.served = w.served.DeepCopy()
	w.served.Object["status"] = body.Status
	w.touch()
	return true, w.served, nil
}

func (w *world) touch() {
	w.version++
	w.served.SetResourceVersion(strconv.Itoa(w.version))
}

// edit replaces the spec, as an administrator does.
func (w *world) edit(spec string) {
	w.Helper()
	next := &unstructured.Unstructured{Object: map[string]any{}}
	if w.served != nil {
		next = w.served.DeepCopy()
	}
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		w.Fatal(err)
	}
	next.Object["spec"] = fields
	next.SetName("default")
	next.SetGeneration(next.GetGeneration() + 1)
	w.served = next
	w.touch()
	w.show()
}

// show brings the informer up to date.
func (w *world) show() {
	w.Helper()
	if err := w.store.Update(w.served); err != nil {
		w.Fatal(err)
	}
}

// pass makes a pass, and returns how many writes it made.
func (w *world) pass() int {
	w.writes = 0
	w.clock.Step(time.Second)
	w.writer.pass(w.Context())
	return w.writes
}

// says is the status in short: "generation True InForce: message [types of the rules in force]".
func (w *world) says() string {
	w.Helper()
	s := statusOf(w.served)
	if len(s.Conditions) != 1 || s.Conditions[0].ObservedGeneration != s.ObservedGeneration || s.Conditions[0].Type != "Ready" {
		w.Fatalf("%+v", s)
	}
	text := strconv.FormatInt(s.ObservedGeneration, 10) + " " + string(s.Conditions[0].Status) + " " + s.Conditions[0].Reason + ": " + s.Conditions[0].Message
	if s.InForce == nil {
		return text
	}
	var rules []string
	for _, r := range s.InForce.Rules {
		rules = append(rules, r.Type)
	}
	return text + " [" + strings.Join(rules, " ") + "]"
}

func TestAPolicyThatCannotBeUsedLeavesTheLastOneInForce(t *testing.T) {
	w := newWorld(t)
	if n := w.pass(); n != 0 {
		t.Errorf("%d writes without a policy", n)
	}
	for _, step := range []struct{ spec, want string }{
		{"{rules: [{type: Nearest}]}", `1 False RulesInvalid: rule 1: there is no rule "Nearest"; the rules are Specified, User, PrimaryGroup, SecondaryGroupExistingQueue, NestedUserQueue, Mapping, Default, Reject; until that is corrected, pods are placed as without a policy`},
		{"{}", "2 True InForce: the policy is in force as it is written []"},
		{"{rules: [{type: Specified}, {type: Reject}]}", "3 True InForce: the policy is in force as it is written [Specified Reject]"},
		{"{rules: [{type: Specified}]}", "4 False RulesInvalid: pods could get past the last rule, 1 (Specified), without a queue; end with Default or Reject; until that is corrected, the last policy that could be used is in force [Specified Reject]"},
		{"{rules: 5}", "5 False RulesInvalid: spec cannot be read: "},
		{"{rules: [{type: User}], userAsDefaultQueue: false}", "6 True InForce: the policy is in force as it is written; userAsDefaultQueue and allowUndeclaredQueues have no effect beside rules [User]"},
	} {
		w.edit(step.spec)
		if n := w.pass(); n != 1 || !strings.HasPrefix(w.says(), step.want) {
			t.Errorf("%s: %d writes: %s\nwant %s", step.spec, n, w.says(), step.want)
		}
		if n := w.pass(); n != 0 { // the informer shows the answer later
			t.Errorf("%s: written again", step.spec)
		}
		w.show()
		if n := w.pass(); n != 0 {
			t.Errorf("%s: written again after the informer showed it", step.spec)
		}
	}
	if got := statusOf(w.served).InForce.Rules[0].Type; got != "User" {
		t.Error(got)
	}
}

func TestTransitionTimesStayWhileTheStatusDoes(t *testing.T) {
	w := newWorld(t)
	times := func(spec string) time.Time {
		t.Helper()
		w.edit(spec)
		w.pass()
		w.show()
		return statusOf(w.served).Conditions[0].LastTransitionTime.Time
	}
	first := times("{}")
	if again := times("{rules: [{type: Reject}]}"); !again.Equal(first) {
		t.Errorf("%v, then %v", first, again)
	}
	bad := times("{rules: [{type: X}]}")
	if !bad.After(first) {
		t.Errorf("%v, then %v", first, bad)
	}
}

func TestFailuresAreTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.edit("{}")
	w.refusing = apierrors.NewInternalError(errors.New("no"))
	if n := w.pass(); n != 1 {
		t.Fatal(n)
	}
	w.refusing = nil
	for range 5 {
		w.pass()
	}
	if got := w.says(); got != "1 True InForce: the policy is in force as it is written []" {
		t.Error(got)
	}
	// Somebody changes the policy between our look and our write: the write is refused, and the new one gets its own.
	w.show()
	w.edit("{rules: [{type: Reject}]}")
	old := w.served
	w.touchElsewhere()
	if n := w.pass(); n != 1 || statusOf(w.served).ObservedGeneration != 1 {
		t.Errorf("%d writes for version %s: %s", n, old.GetResourceVersion(), w.says())
	}
	w.show()
	if n := w.pass(); n != 1 || statusOf(w.served).ObservedGeneration != 2 {
		t.Errorf("%d writes: %s", n, w.says())
	}
	if err := w.store.Delete(w.served); err != nil {
		t.Fatal(err)
	}
	if n := w.pass(); n != 0 {
		t.Error("written although it is gone")
	}
}

// touchElsewhere changes the served object without showing it.
func (w *world) touchElsewhere() {
	w.served = w.served.DeepCopy()
	w.served.SetLabels(map[string]string{"a": "b"})
	w.touch()
}

func TestAMessageHasAnEnd(t *testing.T) {
	mappings := make([]any, 1000)
	for i := range mappings {
		mappings[i] = "u:" + strings.Repeat("x", 400)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"mappings": mappings}}}
	got := Status(object, metav1.Now()).Conditions[0].Message
	if len(got) > messageLimit+len(before)+10 || !strings.HasSuffix(got, none) {
		t.Errorf("%d characters, ending with %q", len(got), got[len(got)-80:])
	}
	if diff := cmp.Diff(v1alpha1.PlacementPolicyStatus{}, statusOf(&unstructured.Unstructured{Object: map[string]any{"status": 5}})); diff != "" {
		t.Error(diff)
	}
}
