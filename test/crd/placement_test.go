package crd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

func policies(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(v1alpha1.PlacementPolicyResource)
}

func policyObject(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	u := object(t, name, spec)
	u.SetKind("PlacementPolicy")
	return u
}

// What one policy shows by itself and has no meaning at all is refused; what is wrong with its rules is told by its status, as the issue of an
// edit must not be that a policy is missing.
func TestPlacementPolicies(t *testing.T) {
	ctx, api := needCluster(t), policies(t)
	for about, tc := range map[string]struct{ name, spec, want string }{
		"every rule and field": {"default", `{rules: [{type: Specified, create: false}, {type: PrimaryGroup, create: false, parent: root.g},
			{type: NestedUserQueue, create: false, nested: {type: SecondaryGroupExistingQueue, parent: g}}, {type: Mapping, create: true},
			{type: Default, queue: root.rest}], mappings: ["u:%user:root.users.%user"], override: true}`, ""},
		"no spec":               {"default", "-", ""},
		"YARN's booleans":       {"default", "{userAsDefaultQueue: true, allowUndeclaredQueues: false}", ""},
		"rules with a mistake":  {"default", "{rules: [{type: Default}, {type: Nearest}]}", ""},
		"another name":          {"other", "{}", "metadata.name: there is one PlacementPolicy for the cluster, and its name is default"},
		"a rule without a type": {"default", "{rules: [{create: true}]}", "spec.rules[0].type: Required value"},
		"a nested rule without": {"default", "{rules: [{type: NestedUserQueue, nested: {create: true}}]}", "spec.rules[0].nested.type: Required value"},
		"a word for a boolean":  {"default", `{rules: [{type: User, create: "no"}]}`, "spec.rules[0].create: Invalid value"},
		"a path that is long":   {"default", "{rules: [{type: User, parent: " + strings.Repeat("a", 254) + "}]}", "spec.rules[0].parent: Too long"},
		"rules without end":     {"default", "{rules: [" + strings.Repeat("{type: Specified},", 65) + "]}", "spec.rules: Too many"},
	} {
		stored, err := api.Create(ctx, policyObject(t, tc.name, tc.spec), metav1.CreateOptions{})
		switch {
		case err == nil:
			if err := api.Delete(context.WithoutCancel(ctx), tc.name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if tc.want != "" {
				t.Errorf("%s: accepted", about)
			}
			if _, ok := stored.Object["spec"]; !ok {
				t.Errorf("%s: no spec", about)
			}
			if about == "every rule and field" && convert.PlacementPolicy(stored).Problem != nil {
				t.Errorf("%s: %v", about, convert.PlacementPolicy(stored).Problem)
			}
		case tc.want == "" || !strings.Contains(err.Error(), tc.want):
			t.Errorf("%s: %v, want %q", about, err, tc.want)
		}
	}
}

// What stands on the pages about placement can be applied, and can be in force.
func TestPlacementPoliciesInDocuments(t *testing.T) {
	ctx := needCluster(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "placement.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		shown++
		file := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := kubectl(ctx, "apply", "--dry-run=server", "--validate=strict", "-f", file); err != nil {
			t.Errorf("%v\n%s\n%s", err, out, text)
		}
	}
	if shown == 0 {
		t.Error("no PlacementPolicy in docs/placement.md")
	}
}

func TestPlacementPolicyColumns(t *testing.T) {
	ctx, api := needCluster(t), policies(t)
	stored, err := api.Create(ctx, policyObject(t, "default", "{rules: [{type: Specified}]}"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), "default", metav1.DeleteOptions{}) })
	stored.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "RulesInvalid", "message": "why", "lastTransitionTime": "2026-01-01T00:00:00Z",
	}}}
	if _, err := api.UpdateStatus(ctx, stored, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	out, err := kubectl(ctx, "get", "fpp")
	if err != nil {
		t.Fatal(err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if diff := cmp.Diff([]string{"NAME", "READY", "REASON", "AGE"}, strings.Fields(lines[0])); diff != "" || !strings.HasPrefix(lines[1], "default   False   RulesInvalid ") {
		t.Errorf("%s\n%s", diff, out)
	}
}
