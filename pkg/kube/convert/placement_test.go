package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPlacementPolicy(t *testing.T) {
	got := PlacementPolicy(object(t, `
metadata: {name: default}
spec:
  mappings: ["u:ann:root.a", "g:ops:%primary_group.%user"]
  override: true
  rules:
  - {type: specified, create: false}
  - {type: Mapping, create: true}
  - {type: PrimaryGroup, create: false, parent: teams}
  - type: NestedUserQueue
    create: false
    nested: {type: SecondaryGroupExistingQueue, parent: root.g}
  - {type: Default, queue: rest}
`))
	if got.Problem != nil || got.Spec == nil || len(got.Spec.Rules) != 5 {
		t.Fatalf("%+v", got)
	}
	want := placement.Policy{Rules: []placement.Rule{
		{Kind: placement.Specified},
		{Kind: placement.Mapping, Missing: placement.Create, Override: true, Mappings: []placement.QueueMapping{
			{Name: "ann", Levels: []string{"a"}}, {Group: true, Name: "ops", Levels: []string{"%primary_group", "%user"}},
		}},
		{Kind: placement.PrimaryGroup, Parent: "root.teams"},
		{Kind: placement.NestedUserQueue, Nested: &placement.Rule{Kind: placement.SecondaryGroupExistingQueue, Missing: placement.Create, Parent: "root.g"}},
		{Kind: placement.Default, Missing: placement.Create, Queue: "root.rest"},
	}}
	if diff := cmp.Diff(want, got.Policy); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhichPlacementPolicyIsInForce(t *testing.T) {
	const (
		builtIn = "Specified Default"
		good    = "spec: {rules: [{type: Reject}]}\n"
		bad     = "spec: {rules: [{type: Default}, {type: Reject}]}\n"
		reached = "the rules after rule 1 (Default) can never be reached, as it always gives a queue or rejects"
	)
	for about, tc := range map[string]struct{ text, rules, problem string }{
		"an empty spec":          {"spec: {}", builtIn, ""},
		"no spec":                {"metadata: {name: default}", builtIn, ""},
		"a good one":             {good + "status: {inForce: {userAsDefaultQueue: true}}", "Reject", ""},
		"YARN's booleans":        {"spec: {userAsDefaultQueue: true, allowUndeclaredQueues: false}", "Specified User Default", ""},
		"a bad one, the first":   {bad, builtIn, reached},
		"a bad one, after a one": {bad + "status: {inForce: {userAsDefaultQueue: true}}", "Specified User", reached},
		"after an empty one":     {bad + "status: {inForce: {}}", builtIn, reached},
		"a bad one, after a bad": {bad + "status: {inForce: {rules: [{type: Nearest}]}}", builtIn, reached},
		"one that cannot be read": {
			"spec: {rules: 5}\nstatus: {inForce: {rules: [{type: Reject}]}}", "Reject", "spec cannot be read: ",
		},
		"a status that cannot be read": {good + "status: {inForce: 5}", "Reject", ""},
		"nothing that can be read":     {"spec: {rules: 5}\nstatus: {inForce: 5}", builtIn, "spec cannot be read: "},
		"several problems":             {"spec: {rules: [{type: User, queue: x}, {type: Default, parent: x}]}", builtIn, "rule 1 (User): queue is not for this rule; rule 2 (Default): parent is not for this rule; the rules after rule 1 (User)"},
	} {
		got, problem := PlacementPolicy(object(t, tc.text)), ""
		if got.Problem != nil {
			problem = got.Problem.Error()
		}
		var rules []string
		for _, r := range got.Policy.Rules {
			rules = append(rules, r.Kind.String())
		}
		if strings.Join(rules, " ") != tc.rules || !strings.HasPrefix(problem, tc.problem) || (problem == "") != (tc.problem == "") {
			t.Errorf("%s: %v, %q", about, rules, problem)
		}
	}
	if got := PlacementPolicy(nil); len(got.Policy.Rules) != 2 || got.Spec != nil || got.Problem != nil {
		t.Errorf("without a policy: %+v", got)
	}
}

func TestQueuesForPlacement(t *testing.T) {
	got := QueuesForPlacement([]*unstructured.Unstructured{
		object(t, "metadata: {name: root.b.y}"),
		object(t, "metadata: {name: root.b.x, labels: {fairway.dev/created-by: placement}, annotations: {fairway.dev/created-for: X}}"),
		object(t, "metadata: {name: root.b}"),
		object(t, "metadata: {name: root.C}"),
		object(t, "metadata: {name: root.d, labels: {fairway.dev/created-by: somebody}}"),
	})
	want := placement.Tree{
		"root":         {Child: "root.b", CreatedBelow: 1},
		"root.b":       {Declared: true, Child: "root.b.x", CreatedBelow: 1},
		"root.b.x":     {Declared: true, Created: true, For: "X"},
		"root.b.y":     {Declared: true},
		"root.d":       {Declared: true},
		"root.default": {Declared: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// Where root is, the scheduler creates nothing: somebody has deleted root.default, or uses it for children.
	for _, q := range []string{"root", "root.default.x"} {
		if got := QueuesForPlacement([]*unstructured.Unstructured{object(t, "metadata: {name: "+q+"}")}); got["root.default"].Declared {
			t.Errorf("with %s alone: %+v", q, got)
		}
	}
}
