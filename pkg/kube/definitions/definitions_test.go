package definitions

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Each case is a Queue or another shipped kind in YAML, and what the API server says of it, one line for each fault.
func TestFaultsAreThoseOfTheAPIServer(t *testing.T) {
	for _, c := range []struct{ name, object, want string }{
		{"a good queue", "{kind: Queue, metadata: {name: root.a}, spec: {weight: 2, max: {cpu: 5}, policy: Fair}}", ""},
		{"an empty queue", "{kind: Queue, metadata: {name: root}}", ""},
		{"null is not stated", "{kind: Queue, metadata: {name: root}, spec: {max: null}}", ""},
		{"unknown field", "{kind: Queue, metadata: {name: root.a}, spec: {maxResources: {cpu: 5}}}", "spec.maxResources: there is no such field"},
		{"unknown field beside spec", "{kind: Queue, metadata: {name: root.a}, sepc: {weight: 2}}", "sepc: there is no such field"},
		{"unknown field of metadata", "{kind: Queue, metadata: {name: root.a, nome: b}}", "metadata.nome: there is no such field"},
		{"deep unknown field", "{kind: Queue, metadata: {name: root}, spec: {preemption: {intervall: 5s}}}", "spec.preemption.intervall: there is no such field"},
		{"wrong type", "{kind: Queue, metadata: {name: root.a}, spec: {maxRunningApplications: many}}",
			`spec.maxRunningApplications: must be of type integer: "string"`},
		{"wrong enum", "{kind: Queue, metadata: {name: root.a}, spec: {policy: fair}}",
			`spec.policy: Unsupported value: "fair": supported values: "DominantResourceFairness", "Fair", "FIFO", "StateAware"`},
		{"a rule of one field", "{kind: Queue, metadata: {name: root.a}, spec: {weight: -1}}",
			`spec.weight: Invalid value: -1: must be a number from 0 to 1000000 with at most three decimals, such as 2, "0.25" or 250m`},
		{"a rule over fields", "{kind: Queue, metadata: {name: root.a}, spec: {maxPriority: 5}}",
			`spec.maxPriority: holds over all queues, so it can be stated in the queue root only`},
		{"no path", "{kind: Queue, metadata: {name: analytics}}", "metadata.name: a queue's name is its path and starts at the root: "},
		{"no name of an object", "{kind: Queue, metadata: {name: root.A}}", "metadata.name: Invalid value: \"root.A\": a lowercase RFC 1123 subdomain"},
		{"a wrong label", "{kind: Queue, metadata: {name: root.a, labels: {x: 'a b'}}}", "metadata.labels: Invalid value: \"a b\""},
		{"labels that are numbers", "{kind: Queue, metadata: {name: root.a, labels: {x: 1}}}", "metadata"},
		{"a policy", "{kind: PlacementPolicy, metadata: {name: default}, spec: {rules: [{type: Specified}, {type: Default}]}}", ""},
		{"a policy with a wrong rule", "{kind: PlacementPolicy, metadata: {name: default}, spec: {rules: [{tpye: Specified}]}}",
			"spec.rules[0].tpye: there is no such field\nspec.rules[0].type: Required value"},
		{"a pod group", "{kind: PodGroup, metadata: {name: a}, spec: {minMember: 2}}", ""},
		{"a wrong pod group", "{kind: PodGroup, metadata: {name: a}, spec: {minMembers: 2}}", "spec.minMembers: there is no such field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := yaml.YAMLToJSONStrict([]byte(c.object))
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(strings.TrimPrefix(c.object, "{kind: "), ",")
			apiVersion := "scheduling.fairway.dev/v1alpha1"
			if kind == "PodGroup" {
				apiVersion = "scheduling.x-k8s.io/v1alpha1"
			}
			faults, err := Judge(kind, apiVersion, text)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, f := range faults {
				lines = append(lines, f.Field+": "+f.Message)
			}
			if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatPeopleWriteOfOtherKindsIsStrict(t *testing.T) {
	for object, want := range map[string]string{
		`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`: "",
		`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resource":{}}]}}`:                        "spec.containers[0].resource: there is no such field",
		`{"metadata":{"name":"a","uid":"u"},"spec":{"containers":[{"name":"c","resource":{}}]}}`:              "",
		`{"metadata":{"name":"a"},"spec":{"nodeName":"a","nodeName":"b"}}`:                                    "spec.nodeName: is stated twice",
		`{"metadata":{"name":"a"},"spec":{"containers":"x"}}`:                                                 ": json: cannot unmarshal string into Go struct field",
	} {
		faults, err := Judge("Pod", "v1", []byte(object))
		got := ""
		if len(faults) == 1 {
			got = faults[0].Field + ": " + faults[0].Message
		}
		if err != nil || len(faults) > 1 || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s\n got %v\nwant %s", object, faults, want)
		}
	}
	for object, want := range map[string]string{
		`{"metadata":{"name":"root.a"},"spec":{"weight":1,"weight":2}}`: "spec.weight: is stated twice",
		`[]`: ": json: cannot unmarshal",
	} {
		faults, err := Judge("Queue", "scheduling.fairway.dev/v1alpha1", []byte(object))
		if err != nil || len(faults) != 1 || !strings.HasPrefix(faults[0].Field+": "+faults[0].Message, want) {
			t.Errorf("%s\n got %v\nwant %s", object, faults, want)
		}
	}
	if faults, err := Judge("Anything", "v1", []byte("{}")); err != nil || len(faults) > 0 {
		t.Errorf("an unknown kind: %v, %v", faults, err)
	}
}
