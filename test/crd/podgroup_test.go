package crd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Groups under k8s.io are refused by API servers unless they say who approved them. And where scheduler-plugins is installed, Fairway is applied beside it:
// what another may write must be what that writes.
func TestThePodGroupIsThatOfSchedulerPlugins(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "manifests", "crds", "scheduling.x-k8s.io_podgroups.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensions.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	if crd.Annotations["api-approved.kubernetes.io"] != "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50" {
		t.Errorf("annotations: %v", crd.Annotations)
	}
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Name != "v1alpha1" || crd.Spec.Versions[0].Subresources.Status == nil {
		t.Fatalf("versions: %+v", crd.Spec.Versions)
	}
	properties := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	for part, fields := range map[string][]string{
		"spec":   {"minMember", "minResources", "scheduleTimeoutSeconds"},
		"status": {"phase", "occupiedBy", "running", "succeeded", "failed", "scheduleStartTime"},
	} {
		for _, field := range fields {
			if _, ok := properties[part].Properties[field]; !ok {
				t.Errorf("no %s.%s", part, field)
			}
		}
		if n := len(properties[part].Properties); n != len(fields) {
			t.Errorf("%s has %d fields, want %d", part, n, len(fields))
		}
	}
}

// A cluster that has the definition already can install the rest as docs/gangs.md says. Uninstalling that rest leaves the PodGroups in place.
func TestTheDefinitionOfPodGroupCanBeLeftOut(t *testing.T) {
	ctx := needCluster(t)
	names := func(dir string) map[string]bool {
		out, err := kubectl(ctx, "apply", "--dry-run=client", "-o", "name", "-k", dir)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found := map[string]bool{}
		for _, name := range strings.Fields(out) {
			found[name] = true
		}
		return found
	}
	dir := documentedKustomization(t, "docs/gangs.md")
	const podGroups = "customresourcedefinition.apiextensions.k8s.io/podgroups.scheduling.x-k8s.io"
	all, without := names(filepath.Join(root, "manifests")), names(dir)
	if !all[podGroups] || without[podGroups] || len(all) != len(without)+1 || !without["customresourcedefinition.apiextensions.k8s.io/queues.scheduling.fairway.dev"] {
		t.Errorf("all: %v, without: %v", all, without)
	}
}
