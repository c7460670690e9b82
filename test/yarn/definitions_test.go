package yarn

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/manifests"
)

// files are those that can be translated, each with its yarn-site.xml.
var files = [][]string{
	{"../../docs/examples/yarn/fair-scheduler.xml"},
	{"../../docs/examples/yarn/capacity-scheduler.xml"},
	{"testdata/bank/fair-scheduler.xml", "--yarn-site", "testdata/bank/yarn-site.xml"},
	{"testdata/bank/fair-scheduler.xml"},
	{"testdata/legacy/mended.xml"},
	{"testdata/telecom/capacity-scheduler.xml", "--yarn-site", "testdata/telecom/yarn-site.xml"},
	{"testdata/telecom/capacity-scheduler.xml"},
	{"testdata/labs/capacity-scheduler.xml"},
}

// ignored is what has no effect in YARN either, by file: cpu that a parent with the policy fair, or a calculator, does not count.
var ignored = map[string][]string{
	"testdata/legacy/mended.xml": {
		"root.etl: spec.guaranteed of cpu in queue root.etl has no effect: the parent divides another resource alone (policy Fair); " +
			"remove it, or change the policy of the parent",
	},
	"testdata/labs/capacity-scheduler.xml": {
		"root.biology: spec.guaranteed of cpu in queue root.biology has no effect: resourceCalculator Memory of queue root counts memory alone; " +
			"remove it, or change the calculator",
		"root.physics: spec.guaranteed of cpu, nvidia.com/gpu in queue root.physics has no effect: " +
			"resourceCalculator Memory of queue root counts memory alone; remove it, or change the calculator",
	},
}

// What is printed has no field that the shipped definitions do not know, and breaks none of their rules; kubectl fairway reads it and finds no
// problem in the tree.
func TestShippedDefinitionsAcceptWhatIsPrinted(t *testing.T) {
	kinds := map[string]definition{"Queue": parse(t, manifests.Queues), "PlacementPolicy": parse(t, manifests.PlacementPolicies)}
	for _, args := range files {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			out, failed, code := run(t, "", append([]string{"import"}, args...)...)
			if code != 0 {
				t.Fatal(failed)
			}
			for _, text := range strings.Split(out, "\n---\n") {
				asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				var object map[string]any
				if err := utiljson.Unmarshal(asJSON, &object); err != nil {
					t.Fatal(err)
				}
				switch kind := object["kind"].(string); kind {
				case "ClusterRole":
					strict(t, asJSON, &rbac.ClusterRole{})
				case "ClusterRoleBinding":
					strict(t, asJSON, &rbac.ClusterRoleBinding{})
				default:
					kinds[kind].check(t, object)
				}
			}
			checkTree(t, out, ignored[args[0]])
		})
	}
}

func strict(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// node is large enough for all that the files guarantee.
const node = `
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  allocatable: {cpu: "2000", memory: 16Ti, nvidia.com/gpu: "64", pods: "10000"}
  conditions: [{type: Ready, status: "True"}]
`

func checkTree(t *testing.T, objects string, ignored []string) {
	t.Helper()
	objects += node
	out, failed, code := run(t, objects, "tree", "-f", "-", "-o", "json")
	if code != 0 {
		t.Fatal(failed)
	}
	var tree struct {
		Queues []struct {
			Name     string
			Problems []struct{ Reason, Message string }
		}
	}
	if err := json.Unmarshal([]byte(out), &tree); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, q := range tree.Queues {
		for _, p := range q.Problems {
			if told = append(told, q.Name+": "+p.Message); p.Reason != "FieldIgnored" {
				t.Errorf("%s: %s: %s", q.Name, p.Reason, p.Message)
			}
		}
	}
	if !slices.Equal(told, ignored) {
		t.Errorf("told %q, want %q", told, ignored)
	}
	if _, failed, code = run(t, objects, "place", "--user", "ann", "--groups", "dev,ops", "-f", "-"); code != 0 {
		t.Errorf("place: %s", failed)
	}
}

// definition is a kind as the API server checks it.
type definition struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

func parse(t *testing.T, text []byte) definition {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		t.Fatal(err)
	}
	props := internal.Spec.Validation
	if props == nil {
		props = internal.Spec.Versions[0].Schema
	}
	structural, err := schema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	return definition{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

func (d definition) check(t *testing.T, object map[string]any) {
	t.Helper()
	name := object["metadata"].(map[string]any)["name"]
	if d.structural == nil {
		t.Fatalf("%v: no definition of this kind", object)
	}
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	if unknown := pruning.PruneWithOptions(object, d.structural, true, options); len(unknown) > 0 {
		t.Errorf("%s: there are no fields %v", name, unknown)
	}
	defaulting.Default(object, d.structural)
	for _, err := range validation.ValidateCustomResource(nil, object, d.validator) {
		t.Errorf("%s: %v", name, err)
	}
	errs, _ := d.rules.Validate(t.Context(), nil, d.structural, object, nil, celconfig.RuntimeCELCostBudget)
	for _, err := range errs {
		t.Errorf("%s: %v", name, err)
	}
}
