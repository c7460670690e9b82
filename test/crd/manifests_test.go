package crd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	configv1alpha1 "github.com/fairway-scheduler/fairway/pkg/apis/config/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/documents"
)

const namespace = "fairway-system"

// The installation itself is what the tests of this package run on; here is what it must hold.
func TestExamplesApply(t *testing.T) {
	ctx := needCluster(t)
	out, err := kubectl(ctx, "apply", "--dry-run=server", "-f", filepath.Join(root, "manifests", "examples"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"root.default", "root.busy", "root.sometimes-busy", "hello-fairway", "wordcount-driver", "wordcount-executors"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

func TestInstallingAgainChangesNothing(t *testing.T) {
	ctx := needCluster(t)
	out, err := kubectl(ctx, "apply", "-k", filepath.Join(root, "manifests"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		// kubectl says "configured" of any disruption budget: its patches replace the whole spec.
		if !strings.HasSuffix(strings.TrimSpace(line), " unchanged") && !strings.HasPrefix(line, "poddisruptionbudget") {
			t.Error(line)
		}
	}
}

// What monitoring needs is applied by itself: an installation is complete without it.
func TestMonitoringApplies(t *testing.T) {
	ctx := needCluster(t)
	out, err := kubectl(ctx, "apply", "--dry-run=server", "--validate=strict", "-k", filepath.Join(root, "manifests", "monitoring"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"service/fairway-scheduler-metrics", "clusterrole.rbac.authorization.k8s.io/fairway-metrics-reader", "configmap/fairway-prometheus-rules", "configmap/fairway-grafana-dashboard"} {
		if !strings.Contains(out, want+" created") {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// Scheduler, identity, access and monitoring are applied at once from a folder of one's own, as docs/operating.md says.
func TestThePartsAreInstalledTogether(t *testing.T) {
	ctx := needCluster(t)
	dir := documentedKustomization(t, "docs/operating.md")
	out, err := kubectl(ctx, "apply", "--dry-run=server", "--validate=strict", "-k", dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"customresourcedefinition.apiextensions.k8s.io/queues.scheduling.fairway.dev", "deployment.apps/fairway-scheduler",
		"mutatingadmissionpolicy.admissionregistration.k8s.io/fairway-stamp-pods", "configmap/fairway-grafana-dashboard",
		"validatingadmissionpolicy.admissionregistration.k8s.io/fairway-submissions", "clusterrolebinding.rbac.authorization.k8s.io/fairway-everyone-submits",
	} {
		if !strings.Contains(out, want+" ") {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if out, err = kubectl(ctx, "kustomize", dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"image: registry.example.com/fairway-scheduler:1.0\n", "checkAccess: true "} {
		if !strings.Contains(out, want) {
			t.Errorf("the manifests do not say %q", want)
		}
	}
}

// No two parts have an object of the same name: kustomize refuses that.
func TestThePartsDoNotCollide(t *testing.T) {
	ctx := needCluster(t)
	for _, identity := range []string{"identity", "identity-operators"} {
		dir := t.TempDir()
		manifests, err := filepath.Abs(filepath.Join(root, "manifests"))
		if err == nil {
			manifests, err = filepath.Rel(dir, manifests)
		}
		if err != nil {
			t.Fatal(err)
		}
		text := "resources:\n"
		for _, part := range []string{"", identity, "access", "access/deletions", "monitoring"} {
			text += "- " + filepath.Join(manifests, part) + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := kubectl(ctx, "kustomize", dir); err != nil {
			t.Errorf("%s: %v\n%s", identity, err, out)
		}
	}
}

// The configuration is read as the scheduler reads it: strictly, and validated.
func TestSchedulerConfiguration(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "manifests", "scheduler", "configuration.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file corev1.ConfigMap
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	configuration := readConfig(t, file.Data["config.yaml"])
	if err := validation.ValidateKubeSchedulerConfiguration(configuration); err != nil {
		t.Error(err)
	}
	if e := configuration.LeaderElection; !e.LeaderElect || e.ResourceNamespace != namespace || e.ResourceName == "kube-scheduler" {
		t.Errorf("the lease is not Fairway's own: %+v", e)
	}
	if n := len(configuration.Profiles); n != 1 || configuration.Profiles[0].SchedulerName != v1alpha1.SchedulerName {
		t.Fatalf("profiles: %+v", configuration.Profiles)
	}
	checkPlugins(t, &configuration.Profiles[0])
	var defaults configv1alpha1.FairwayArgs
	configv1alpha1.SetDefaults(&defaults)
	if diff := cmp.Diff(defaults, statedArgs(t, &configuration.Profiles[0])); diff != "" {
		t.Errorf("the arguments are not the defaults, each stated, so that users see what there is (-default +stated):\n%s", diff)
	}
}

// readConfig reads a configuration as the scheduler does.
func readConfig(t *testing.T, text string) *config.KubeSchedulerConfiguration {
	t.Helper()
	object, _, err := configscheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	configuration, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		t.Fatalf("it is a %T", object)
	}
	return configuration
}

func checkPlugins(t *testing.T, profile *config.KubeSchedulerProfile) {
	t.Helper()
	plugins := map[string]bool{}
	for _, p := range profile.Plugins.MultiPoint.Enabled {
		plugins[p.Name] = true
	}
	for name, want := range map[string]bool{"Fairway": true, "PrioritySort": false, "DefaultPreemption": false, "NodeResourcesFit": true} {
		if plugins[name] != want {
			t.Errorf("profile %s: plugin %s is enabled: %v, want %v", profile.SchedulerName, name, plugins[name], want)
		}
	}
}

// statedArgs are the arguments of plugin Fairway that a profile states, read strictly.
func statedArgs(t *testing.T, profile *config.KubeSchedulerProfile) (stated configv1alpha1.FairwayArgs) {
	t.Helper()
	for _, c := range profile.PluginConfig {
		if raw, ok := c.Args.(*runtime.Unknown); ok && c.Name == "Fairway" {
			if err := yaml.UnmarshalStrict(raw.Raw, &stated); err != nil {
				t.Fatal(err)
			}
		}
	}
	return stated
}

// The components change what they are for and nothing else of the configuration, in any order, and the scheduler can read what they make.
func TestComponentsOfTheConfiguration(t *testing.T) {
	ctx := needCluster(t)
	for components, want := range map[string]struct {
		checkAccess bool
		profiles    string
	}{
		"": {false, "fairway"}, "access/check": {true, "fairway"}, "operators/kuberay": {false, "fairway scheduler-plugins-scheduler"},
		"access/check operators/kuberay": {true, "fairway scheduler-plugins-scheduler"},
		"operators/kuberay access/check": {true, "fairway scheduler-plugins-scheduler"},
	} {
		text := "resources: [manifests]\ncomponents:\n"
		for component := range strings.FieldsSeq(components) {
			text += "- manifests/" + component + "\n"
		}
		out, err := kubectl(ctx, "kustomize", kustomizationFolder(t, &documents.Block{Text: text}))
		if err != nil {
			t.Fatalf("%s: %v\n%s", components, err, out)
		}
		profiles := installedProfiles(t, out)
		var names []string
		for i := range profiles {
			names = append(names, profiles[i].SchedulerName)
			checkPlugins(t, &profiles[i])
		}
		if got := strings.Join(names, " "); got != want.profiles {
			t.Errorf("%s: the profiles are %s, want %s", components, got, want.profiles)
		}
		var args configv1alpha1.FairwayArgs
		configv1alpha1.SetDefaults(&args)
		args.CheckAccess = &want.checkAccess
		if diff := cmp.Diff(args, statedArgs(t, &profiles[0])); diff != "" {
			t.Errorf("%s: the arguments (-want +stated):\n%s", components, diff)
		}
	}
}

// installedProfiles are those of the configuration in what kustomize makes.
func installedProfiles(t *testing.T, objects string) []config.KubeSchedulerProfile {
	t.Helper()
	for object := range strings.SplitSeq(objects, "\n---\n") {
		var file corev1.ConfigMap
		if err := yaml.Unmarshal([]byte(object), &file); err != nil || file.Kind != "ConfigMap" || file.Name != "fairway-scheduler" {
			continue
		}
		return readConfig(t, file.Data["config.yaml"]).Profiles
	}
	t.Fatal("no configuration")
	return nil
}

// The pods of the Deployment pass the strictest of the Pod Security Standards, which the namespace enforces.
func TestSchedulerPodIsAdmitted(t *testing.T) {
	ctx := needCluster(t)
	var deployment appsv1.Deployment
	if err := typed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "fairway-scheduler"}, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	pod.Namespace, pod.Name = namespace, "trial"
	if err := typed.Create(ctx, pod, client.DryRunAll); err != nil {
		t.Error(err)
	}
	pod = pod.DeepCopy()
	pod.Name, pod.ResourceVersion, pod.UID = "privileged", "", ""
	pod.Spec.Containers[0].SecurityContext = nil
	if err := typed.Create(ctx, pod, client.DryRunAll); err == nil {
		t.Error("the namespace enforces nothing")
	}
}

// What the scheduler may do, asked as its service account.
func TestSchedulerPermissions(t *testing.T) {
	ctx := needCluster(t)
	as := cluster.RESTConfig()
	as.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":fairway-scheduler",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	account, err := kubernetes.NewForConfig(as)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		verbs, group, resource, in, name string
		want                             bool
	}{
		{"list watch create patch delete", v1alpha1.GroupName, "queues", "", "", true},
		{"get update deletecollection", v1alpha1.GroupName, "queues", "", "", false},
		{"patch", v1alpha1.GroupName, "queues/status", "", "", true},
		{"list watch", v1alpha1.GroupName, "placementpolicies", "", "", true},
		{"create update patch delete", v1alpha1.GroupName, "placementpolicies", "", "", false},
		{"patch", v1alpha1.GroupName, "placementpolicies/status", "", "", true},
		{"list watch", v1alpha1.GroupName, "reservations", "", "", true},
		{"create update patch delete", v1alpha1.GroupName, "reservations", "user", "", false},
		{"patch", v1alpha1.GroupName, "reservations/status", "user", "", true},
		{"list watch", "scheduling.x-k8s.io", "podgroups", "", "", true},
		{"create update patch delete", "scheduling.x-k8s.io", "podgroups", "user", "", false},
		{"patch", "scheduling.x-k8s.io", "podgroups/status", "user", "", true},
		{"list watch", "scheduling.k8s.io", "podgroups", "", "", true},
		{"update patch", "scheduling.k8s.io", "podgroups/status", "user", "", false},
		{"get list watch", "", "pods", "", "", true},
		{"update patch", "", "pods", "user", "", false},
		{"patch", "", "pods/status", "user", "", true},
		{"create", "", "pods/binding", "user", "", true},
		{"create patch", "events.k8s.io", "events", "user", "", true},
		{"list watch", "", "nodes", "", "", true},
		{"update", "", "persistentvolumeclaims", "user", "", true},
		{"create", "authorization.k8s.io", "subjectaccessreviews", "", "", true},
		{"create", "coordination.k8s.io", "leases", namespace, "", true},
		{"get update", "coordination.k8s.io", "leases", namespace, "fairway-scheduler", true},
		{"update", "coordination.k8s.io", "leases", namespace, "other", false},
		{"get", "", "configmaps", "kube-system", "extension-apiserver-authentication", true},
		{"get list", "", "secrets", "user", "", false},
	} {
		for verb := range strings.FieldsSeq(tc.verbs) {
			name, sub, _ := strings.Cut(tc.resource, "/")
			review, err := account.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: tc.group, Resource: name, Subresource: sub, Namespace: tc.in, Name: tc.name,
				}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if review.Status.Allowed != tc.want {
				t.Errorf("%s %s in %q: allowed %v, want %v", verb, tc.resource, tc.in, review.Status.Allowed, tc.want)
			}
		}
	}
}
