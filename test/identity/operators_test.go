package identity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

// custom is a kind of an operator, with what manifests/identity-operators trusts for it.
type custom struct {
	version, plural, kind string
	account, namespace    string   // of the operator
	spec                  string   // with two pod templates, TEMPLATE
	annotations           []string // where their annotations are
	makes                 string   // the kind of what it makes of them: pods, or another kind of this list, or Job
}

const customTemplate = `{metadata: {labels: {a: b}}, spec: {schedulerName: fairway, restartPolicy: Never, containers: [{name: c, image: none}]}}`

var customs = []custom{
	{"ray.io/v1", "rayclusters", "RayCluster", "kuberay-operator", "kuberay-operator",
		"{headGroupSpec: {rayStartParams: {}, template: TEMPLATE}, workerGroupSpecs: [{groupName: g, rayStartParams: {}, template: TEMPLATE}]}",
		[]string{"spec.headGroupSpec.template.metadata", "spec.workerGroupSpecs.0.template.metadata"}, "Pod"},
	{"ray.io/v1", "rayjobs", "RayJob", "kuberay-operator", "kuberay-operator",
		"{entrypoint: x, submitterPodTemplate: TEMPLATE, rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: TEMPLATE}}}",
		[]string{"spec.submitterPodTemplate.metadata", "spec.rayClusterSpec.headGroupSpec.template.metadata"}, "RayCluster"},
	{"ray.io/v1", "rayservices", "RayService", "kuberay-operator", "kuberay-operator",
		"{rayClusterConfig: {headGroupSpec: {rayStartParams: {}, template: TEMPLATE}, workerGroupSpecs: [{groupName: g, rayStartParams: {}, template: TEMPLATE}]}}",
		[]string{"spec.rayClusterConfig.headGroupSpec.template.metadata", "spec.rayClusterConfig.workerGroupSpecs.0.template.metadata"}, "RayCluster"},
	{"jobset.x-k8s.io/v1alpha2", "jobsets", "JobSet", "jobset-controller-manager", "jobset-system",
		"{replicatedJobs: [{name: a, template: {spec: {template: TEMPLATE}}}, {name: b, template: {spec: {template: TEMPLATE}}}]}",
		[]string{"spec.replicatedJobs.0.template.spec.template.metadata", "spec.replicatedJobs.1.template.spec.template.metadata"}, "Job"},
	{"kubeflow.org/v1", "pytorchjobs", "PyTorchJob", "training-operator", "kubeflow",
		"{pytorchReplicaSpecs: {Master: {replicas: 1, template: TEMPLATE}, Worker: {replicas: 1, template: TEMPLATE}}}",
		[]string{"spec.pytorchReplicaSpecs.Master.template.metadata", "spec.pytorchReplicaSpecs.Worker.template.metadata"}, "Pod"},
	{"sparkoperator.k8s.io/v1beta2", "sparkapplications", "SparkApplication", "spark-operator-controller", "spark-operator",
		"{type: Scala, sparkVersion: 3.5.0, driver: {cores: 1}, executor: {cores: 1}}", []string{"spec.driver", "spec.executor"}, "Pod"},
	{"sparkoperator.k8s.io/v1beta2", "scheduledsparkapplications", "ScheduledSparkApplication", "spark-operator-controller", "spark-operator",
		"{schedule: '@daily', template: {type: Scala, sparkVersion: 3.5.0, driver: {cores: 1}, executor: {cores: 1}}}",
		[]string{"spec.template.driver", "spec.template.executor"}, "SparkApplication"},
}

// installKinds makes the API server serve the kinds, without their schemas.
func installKinds(t *testing.T, w *people.World) {
	t.Helper()
	for _, c := range customs {
		group, version, _ := strings.Cut(c.version, "/")
		annotations := "{}"
		if strings.HasSuffix(group, "k8s.io") {
			annotations = "{api-approved.kubernetes.io: unapproved}"
		}
		w.Apply(t, fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s, annotations: %[5]s}
spec:
  group: %[2]s
  names: {plural: %[1]s, kind: %[3]s, listKind: %[3]sList}
  scope: Namespaced
  versions: [{name: %[4]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, c.plural, group, c.kind, version, annotations))
	}
	kinds, err := dynamic.NewForConfig(w.Cluster.RESTConfig())
	must(t, err)
	for _, c := range customs {
		people.Until(t, c.plural+" are served", func() error {
			_, err := kinds.Resource(c.object(t, "default", "x").GroupVersionKind().GroupVersion().WithResource(c.plural)).List(t.Context(), metav1.ListOptions{})
			return err
		})
	}
}

func (c custom) object(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	u := parse(t, namespace, "spec: "+strings.ReplaceAll(c.spec, "TEMPLATE", customTemplate))
	u.SetAPIVersion(c.version)
	u.SetKind(c.kind)
	u.SetName(name)
	return u
}

// in walks to a place of the object: "spec.list.0.field".
func in(t *testing.T, u *unstructured.Unstructured, place string) map[string]any {
	t.Helper()
	var at any = u.Object
	for _, step := range strings.Split(place, ".") {
		switch now := at.(type) {
		case map[string]any:
			at = now[step]
		case []any:
			at = now[step[0]-'0']
		}
	}
	found, ok := at.(map[string]any)
	if !ok {
		t.Fatalf("%s has no %s: %v", u.GetKind(), place, u.Object)
	}
	return found
}

// stamps are those of all templates.
func (c custom) stamps(t *testing.T, u *unstructured.Unstructured) (all []stamp) {
	t.Helper()
	for _, place := range c.annotations {
		annotations := map[string]string{}
		found, _ := in(t, u, place)["annotations"].(map[string]any)
		for k, v := range found {
			annotations[k], _ = v.(string)
		}
		all = append(all, stampOf(annotations))
	}
	return all
}

func all(s stamp) []stamp { return []stamp{s, s} }

// operator is the account of an operator, which may do everything, as many may.
func (c custom) operator(t *testing.T, w *people.World) *people.User {
	t.Helper()
	_, err := w.Admin.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}, metav1.CreateOptions{})
	must(t, client.IgnoreAlreadyExists(err))
	u := w.Account(t, c.namespace, c.account)
	w.Allow(t, u, "", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}})
	return u
}

// Each template of an operator's kind is stamped like one of Kubernetes' own kinds: by who creates the object or changes a template, and by nobody else.
func TestTemplatesOfOperatorsAreStamped(t *testing.T) {
	w := world(t, withOperators)
	home := w.Namespace(t, "custom")
	ann, bob := w.Person(t, "ann", "a,b"), w.Person(t, "bob", "builders")
	everything := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	w.Allow(t, ann, home, everything)
	w.Allow(t, bob, home, everything)
	for _, c := range customs {
		t.Run(c.kind, func(t *testing.T) {
			ctx := t.Context()
			operator := c.operator(t, w)
			u := c.object(t, home, strings.ToLower(c.kind))
			in(t, u, c.annotations[0])["annotations"] = map[string]any{"fairway.dev/user": "eve", "mine": "stays", "fairway.dev/placed-queue": "root.others"}
			must(t, ann.Client.Create(ctx, u))
			if text := fmt.Sprint(u.Object["spec"]); strings.Contains(text, "root.others") {
				t.Errorf("a template is placed: %s", text)
			}
			is := func(when string, want stamp) {
				t.Helper()
				if got := c.stamps(t, fetch(t, w, u)); !slices.Equal(got, all(want)) {
					t.Errorf("%s: stamped %v, want %v", when, got, want)
				}
			}
			is("created by ann", of(ann))
			must(t, bob.Client.Patch(ctx, fetch(t, w, u), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"b"}}}`))))
			is("labelled by bob", of(ann))

			again := c.object(t, home, u.GetName())
			again.SetResourceVersion(fetch(t, w, u).GetResourceVersion())
			in(t, again, c.annotations[0])["annotations"] = map[string]any{"fairway.dev/user": "bob", "mine": "stays"}
			must(t, bob.Client.Update(ctx, again))
			is("written again by bob", of(ann))

			now := fetch(t, w, u)
			in(t, now, c.annotations[1])["labels"] = map[string]any{"operator": "s"}
			must(t, operator.Client.Update(ctx, now))
			is("written in other words by the operator", of(ann))

			now = fetch(t, w, u)
			in(t, now, c.annotations[1])["labels"] = map[string]any{"a": "c"}
			must(t, bob.Client.Update(ctx, now))
			is("changed by bob", of(bob))
		})
	}
}

// What an operator makes of such an object carries its stamp, as far as the pair of account and kind is trusted.
func TestOperatorsCarryStamps(t *testing.T) {
	w := world(t, withOperators)
	home := w.Namespace(t, "carry")
	ann, bob := w.Person(t, "ann", "analysts"), w.Person(t, "bob")
	for _, c := range customs {
		t.Run(c.kind, func(t *testing.T) {
			operator := c.operator(t, w)
			owner := metav1.OwnerReference{APIVersion: c.version, Kind: c.kind, Name: "x", UID: "x", Controller: ptr.To(true)}
			stranger := owner
			stranger.Kind = "Stranger"
			w.Allow(t, bob, home, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"", "batch", "ray.io", "sparkoperator.k8s.io"},
				Resources: []string{"pods", "jobs", "rayclusters", "sparkapplications"}})
			for _, tc := range []struct {
				as    *people.User
				owner metav1.OwnerReference
				want  stamp
			}{{operator, owner, of(ann)}, {operator, stranger, of(operator)}, {bob, owner, of(bob)}} {
				got := c.make(t, home, tc.as, tc.owner, of(ann))
				if !slices.Equal(slices.Compact(got), []stamp{tc.want}) {
					t.Errorf("made by %s for a %s: stamped %v, want %v", tc.as.Name, tc.owner.Kind, got, tc.want)
				}
			}
		})
	}
}

// make creates what the operator makes, with a stamp, and returns the stamp that it has then.
func (c custom) make(t *testing.T, namespace string, as *people.User, owner metav1.OwnerReference, carried stamp) []stamp {
	t.Helper()
	annotations := map[string]string{"fairway.dev/user": carried.user, keyGroups: carried.groups}
	switch c.makes {
	case "Pod":
		pod := podFor(namespace, "")
		pod.OwnerReferences, pod.Annotations = []metav1.OwnerReference{owner}, annotations
		must(t, as.Client.Create(t.Context(), pod, client.DryRunAll))
		return []stamp{stampOf(pod.Annotations)}
	case "Job":
		job := &batchv1.Job{}
		job.Namespace, job.GenerateName, job.OwnerReferences = namespace, "job-", []metav1.OwnerReference{owner}
		job.Spec.Template.Annotations = annotations
		job.Spec.Template.Spec = podFor("", "").Spec
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		must(t, as.Client.Create(t.Context(), job, client.DryRunAll))
		return []stamp{stampOf(job.Spec.Template.Annotations)}
	}
	made := customs[slices.IndexFunc(customs, func(o custom) bool { return o.kind == c.makes })]
	u := made.object(t, namespace, "made")
	u.SetOwnerReferences([]metav1.OwnerReference{owner})
	for _, place := range made.annotations {
		in(t, u, place)["annotations"] = map[string]any{"fairway.dev/user": carried.user, keyGroups: carried.groups}
	}
	must(t, as.Client.Create(t.Context(), u, client.DryRunAll))
	return made.stamps(t, u)
}

// spark-submit has a second way to set annotations.
func TestSparkConfSetsNoStamp(t *testing.T) {
	w := world(t, withOperators)
	home := w.Namespace(t, "spark")
	for _, c := range customs[5:] {
		u := c.object(t, home, "forged")
		spec := in(t, u, strings.TrimSuffix(c.annotations[0], ".driver"))
		spec["sparkConf"] = map[string]any{"spark.kubernetes.driver.annotation.fairway.dev/user": "ann"}
		if err := w.Admin.Client.Create(t.Context(), u); err == nil || !strings.Contains(err.Error(), "sparkConf must not set annotations") {
			t.Errorf("%s: %v", c.kind, err)
		}
		delete(spec, "sparkConf")
		refused := func(because string) {
			t.Helper()
			if err := w.Admin.Client.Create(t.Context(), u.DeepCopy()); err == nil || !strings.Contains(err.Error(), because) {
				t.Errorf("%s: want a refusal that says %q, got %v", c.kind, because, err)
			}
		}
		for _, place := range c.annotations { // "--conf spark.kubernetes.driver.annotation.fairway.dev/groups=admins,x="
			in(t, u, place)["annotations"] = map[string]any{"fairway.dev/groups=admins,x": ""}
			refused("must not contain '='")
			delete(in(t, u, place), "annotations")
		}
		for _, key := range []string{"spark.kubernetes.scheduler.name", "spark.kubernetes.driver.scheduler.name"} {
			spec["sparkConf"] = map[string]any{key: "fairway"}
			refused("in driver.schedulerName")
		}
		delete(spec, "sparkConf")
		driver := in(t, u, c.annotations[0])
		driver["template"] = map[string]any{"spec": map[string]any{"schedulerName": "fairway"}}
		refused("in driver.schedulerName")
		delete(driver, "template")
		driver["schedulerName"] = "fairway"
		spec["sparkConf"] = map[string]any{"spark.kubernetes.driver.annotation.mine": "x", "spark.kubernetes.executor.scheduler.name": "fairway"}
		must(t, w.Admin.Client.Create(t.Context(), u))
	}
}

// Without the ConfigMap nothing is created that it decides about, and kube-system goes on; it is not deleted by accident.
func TestTrustIsNotLost(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	w := startEmpty(t, localcluster.Options{AccountPerController: true}) // without fairway-system, as before the scheduler is installed
	t.Cleanup(func() { must(t, w.Stop()) })
	installKinds(t, w)
	install(t, w, "identity-operators")
	home := w.Namespace(t, "lost")
	ctx := t.Context()
	trust := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "fairway-identity"}}
	if err := w.Admin.Client.Delete(ctx, trust); err == nil || !strings.Contains(err.Error(), "need ConfigMap fairway-identity") {
		t.Errorf("the ConfigMap is deleted: %v", err)
	}
	several := client.MatchingLabels{"app.kubernetes.io/part-of": "fairway-identity"}
	if err := w.Admin.Client.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("kube-system"), several); err == nil || !strings.Contains(err.Error(), "need ConfigMap fairway-identity") {
		t.Errorf("all ConfigMaps are deleted: %v", err)
	}
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "other"}}
	must(t, w.Admin.Client.Create(ctx, other))
	must(t, w.Admin.Client.Delete(ctx, other))
	must(t, w.Admin.Client.Create(ctx, podFor(home, "")))
	// The namespace of the scheduler comes and goes.
	must(t, w.Admin.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fairway-system"}}))
	_, err := w.Kubectl(ctx, "delete", "validatingadmissionpolicy", "fairway-guard-trust")
	must(t, err)
	people.Until(t, "the ConfigMap is deleted", func() error { return w.Admin.Client.Delete(ctx, trust) })
	people.Until(t, "no pod is created", func() error {
		err := w.Admin.Client.Create(ctx, podFor(home, ""), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "no params found") {
			return fmt.Errorf("created: %v", err)
		}
		return nil
	})
	systemGoesOn(t, w, w.Admin, "system")
	_, err = w.Kubectl(ctx, "apply", "-k", manifests+"/identity-operators")
	must(t, err)
	people.Until(t, "pods are created again", func() error { return w.Admin.Client.Create(ctx, podFor(home, ""), client.DryRunAll) })

	// Uninstalling, as documented, leaves nothing that judges.
	const kinds = "validatingadmissionpolicies,mutatingadmissionpolicies,validatingadmissionpolicybindings,mutatingadmissionpolicybindings"
	_, err = w.Kubectl(ctx, "delete", kinds, "-l", "app.kubernetes.io/part-of=fairway-identity")
	must(t, err)
	left, err := w.Kubectl(ctx, "get", kinds, "-o", "name")
	must(t, err)
	if strings.Contains(left, "fairway") {
		t.Errorf("left: %s", left)
	}
	people.Until(t, "the ConfigMap is deleted again", func() error {
		_, err := w.Kubectl(ctx, "delete", "--ignore-not-found", "-k", manifests+"/identity-operators")
		return err
	})
}

// grant lets a user write the kinds of an API group.
func grant(t *testing.T, w *people.World, u *people.User, namespace, version string) {
	t.Helper()
	group, _, _ := strings.Cut(version, "/")
	w.Allow(t, u, namespace, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{group}, Resources: []string{"*"}})
}
