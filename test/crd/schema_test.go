package crd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

const queueCRD = "manifests/crds/scheduling.fairway.dev_queues.yaml"

// The API server's own validation of the committed definition, the cost of its rules included; without a control plane.
func TestCommittedDefinitionIsValid(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, queueCRD))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1alpha1"} // the API server does that
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), &internal) {
		t.Error(err)
	}
}

const (
	wantPath   = `<nil>: Invalid value: metadata.name: a queue's name is its path and starts at the root: "root", or "root." followed by the names of the queues down to this one, such as root.analytics.adhoc`
	wantDNS    = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	wantWeight = `must be a number from 0 to 1000000 with at most three decimals, such as 2, "0.25" or 250m`
	wantAmount = "an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi (not a percentage)"
	unchecked  = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
)

func notDNS(name string) string {
	return fmt.Sprintf("metadata.name: Invalid value: %q: %s", name, wantDNS)
}

// levels is a path that many levels deep, root included.
func levels(n int) string { return "root" + strings.Repeat(".a", n-1) }

// Every refusal says which object, which field and what is allowed.
func TestRefusals(t *testing.T) {
	ctx := needCluster(t)
	for name, tc := range map[string]struct {
		queue, spec string
		want        []string // all of them, after `Queue.scheduling.fairway.dev "<name>" is invalid: `
	}{
		"a name outside the tree":          {"busy", "{}", []string{wantPath}},
		"a name that only starts like it":  {"rootbase", "{}", []string{wantPath}},
		"a level without a name, at last":  {"root.", "{}", []string{notDNS("root.")}},
		"a level without a name, between":  {"root..a", "{}", []string{notDNS("root..a")}},
		"a capital letter":                 {"Root.a", "{}", []string{notDNS("Root.a"), wantPath}},
		"an underscore":                    {"root.a_b", "{}", []string{notDNS("root.a_b")}},
		"13 levels":                        {levels(13), "{}", []string{"<nil>: Invalid value: metadata.name: queues nest at most 12 levels deep, root included"}},
		"a level of 64 characters":         {"root." + strings.Repeat("a", 64), "{}", []string{"<nil>: Invalid value: metadata.name: each name between two dots has at most 63 characters"}},
		"a negative weight":                {"root.a", `{weight: -1}`, []string{"spec.weight: Invalid value: -1: " + wantWeight}},
		"a weight that is no number":       {"root.a", `{weight: abc}`, []string{`spec.weight: Invalid value: "abc": ` + wantWeight}},
		"a weight in percent":              {"root.a", `{weight: 50%}`, []string{`spec.weight: Invalid value: "50%": ` + wantWeight}},
		"a weight with four decimals":      {"root.a", `{weight: "0.0001"}`, []string{`spec.weight: Invalid value: "0.0001": ` + wantWeight}},
		"a weight just too large":          {"root.a", `{weight: 1000001}`, []string{"spec.weight: Invalid value: 1000001: must be at most 1000000"}},
		"a weight too large by a fraction": {"root.a", `{weight: "1000000.001"}`, []string{`spec.weight: Invalid value: "1000000.001": must be at most 1000000`}},
		"a weight too large by its suffix": {"root.a", `{weight: 2M}`, []string{`spec.weight: Invalid value: "2M": must be at most 1000000`}},
		"a negative guarantee":             {"root.a", `{guaranteed: {cpu: "-1"}}`, []string{"spec.guaranteed: Invalid value: cpu: " + wantAmount}},
		"a guarantee in percent":           {"root.a", `{guaranteed: {memory: "12.5%"}}`, []string{"spec.guaranteed: Invalid value: memory: " + wantAmount}},
		"guaranteed pods":                  {"root.a", `{guaranteed: {pods: 3}}`, []string{"spec.guaranteed: Invalid value: pods cannot be guaranteed: their number is a limit of each node and is not shared between queues"}},
		"a negative max":                   {"root.a", `{max: {cpu: -1}}`, []string{"spec.max: Invalid value: cpu: " + wantAmount}},
		"a max in percent":                 {"root.a", `{max: {memory: "50%"}}`, []string{"spec.max: Invalid value: memory: " + wantAmount}},
		"a max in words":                   {"root.a", `{max: {memory: plenty}}`, []string{"spec.max: Invalid value: memory: " + wantAmount}},
		"a max with an absurd exponent":    {"root.a", `{max: {memory: "1e2000000000"}}`, []string{"spec.max: Invalid value: memory: " + wantAmount}},
		"limited pods":                     {"root.a", `{max: {pods: 3}}`, []string{"spec.max: Invalid value: pods cannot be limited: their number is a limit of each node and is not shared between queues"}},
		"a resource that cannot be one":    {"root.a", `{max: {"a b": 3}}`, []string{"spec.max: Invalid value: a b is not the name of a resource, such as cpu, memory or example.com/gpu"}},
		"an unknown policy":                {"root.a", `{policy: Best}`, []string{`spec.policy: Unsupported value: "Best": supported values: "DominantResourceFairness", "Fair", "FIFO"`, unchecked}},
		"a policy in other letters":        {"root.a", `{policy: fifo}`, []string{`spec.policy: Unsupported value: "fifo": supported values: "DominantResourceFairness", "Fair", "FIFO"`, unchecked}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(ctx, t, object(t, tc.queue, tc.spec))
			if err == nil {
				t.Fatal("accepted")
			}
			want := fmt.Sprintf("Queue.scheduling.fairway.dev %q is invalid: ", tc.queue)
			if len(tc.want) == 1 {
				want += tc.want[0]
			} else {
				want += "[" + strings.Join(tc.want, ", ") + "]"
			}
			if err.Error() != want {
				t.Errorf("refused with\n%s\nwant\n%s", err, want)
			}
		})
	}
}

func TestRefusalOfOtherShapes(t *testing.T) {
	ctx := needCluster(t)
	var many []string
	for i := range 33 {
		many = append(many, fmt.Sprintf("example.com/r%d: 1", i))
	}
	for name, tc := range map[string]struct{ spec, want string }{
		"a field that is not there": {`{wieght: 2}`, `unknown field "spec.wieght"`},
		"33 resources":              {"{max: {" + strings.Join(many, ", ") + "}}", `spec.max: Too many: 33: must have at most 32 items`},
		"a fraction without quotes": {`{weight: 0.25}`, `spec.weight in body must be of type integer,string: "number"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(ctx, t, object(t, "root.a", tc.spec))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("refused with\n%v\nwant in it\n%s", err, tc.want)
			}
		})
	}
}

// What the schema lets pass, the conversion reads without an error.
func TestAccepted(t *testing.T) {
	ctx := needCluster(t)
	for name, tc := range map[string]struct{ queue, spec string }{
		"root":                                {"root", "{}"},
		"no spec at all":                      {"root.a", "-"},
		"an empty spec":                       {"root.a", "{}"},
		"12 levels":                           {levels(12), "{}"},
		"a level of 63 characters":            {"root." + strings.Repeat("a", 63), "{}"},
		"dashes and digits":                   {"root.0-a.b-1", "{}"},
		"weight 0":                            {"root.a", `{weight: 0}`},
		"weight as a fraction":                {"root.a", `{weight: "0.25"}`},
		"weight in milli":                     {"root.a", `{weight: 250m}`},
		"the smallest step of weight":         {"root.a", `{weight: "0.001"}`},
		"the largest weight":                  {"root.a", `{weight: 1000000}`},
		"the largest weight, as Go spells it": {"root.a", `{weight: 1M}`},
		"all kinds of amounts":                {"root.a", `{guaranteed: {cpu: 500m, memory: 1.5Gi, ephemeral-storage: "1e9", example.com/gpu: 0}, max: {cpu: ".5", memory: "123456789"}}`},
		"amounts past 64 bits":                {"root.a", `{max: {memory: "1e30"}}`},
		"empty lists":                         {"root.a", `{guaranteed: {}, max: {}}`},
		"max below guaranteed":                {"root.a", `{guaranteed: {cpu: 2}, max: {cpu: 1}}`}, // a condition, not a refusal: see core/queue
		"policy Fair":                         {"root.a", `{policy: Fair}`},
		"policy FIFO":                         {"root.a", `{policy: FIFO}`},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := create(ctx, t, object(t, tc.queue, tc.spec))
			if err != nil {
				t.Fatal(err)
			}
			q, err := convert.DecodeQueue(stored)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := convert.Declaration(q); err != nil {
				t.Error(err)
			}
		})
	}
}
