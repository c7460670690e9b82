package identity

import (
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/test/people"
)

func merge(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }

// An old annotation would make the controller of Deployments write a former template, and so get behind the pods itself.
func TestNobodyRollsBackWithoutAName(t *testing.T) {
	s := newStage(t)
	const because = "would roll back without a name"
	bob := s.w.Person(t, "bob", "builders")
	s.w.Edit(t, s.home, bob)
	web := workloads[0].of(t, s.home, "web")
	must(t, s.ann.Client.Create(t.Context(), web))
	podsOf(t, s.w, s.home, "web", 1)
	must(t, bob.Client.Patch(t.Context(), fetch(t, s.w, web), people.Annotate("spec.template", "note", "x")))
	people.Until(t, "two revisions", func() error {
		list := &appsv1.ReplicaSetList{}
		must(t, s.w.Admin.Client.List(t.Context(), list, client.InNamespace(s.home), client.MatchingLabels{"workload": "web"}))
		if len(list.Items) != 2 {
			return errNotYet
		}
		return nil
	})
	back := people.Annotate("", "deprecated.deployment.rollback.to", "1")
	s.refused(bob.Client.Patch(t.Context(), fetch(t, s.w, web), back), because)
	must(t, s.eve.Client.Status().Patch(t.Context(), fetch(t, s.w, web), back)) // the API server drops it
	asked := workloads[0].of(t, s.home, "asked")
	asked.SetAnnotations(map[string]string{"deprecated.deployment.rollback.to": "1"})
	s.refused(bob.Client.Create(t.Context(), asked), because)
	wait()
	if got := workloads[0].stamp(t, fetch(t, s.w, web)); got != of(bob) {
		t.Errorf("stamped %v", got)
	}
	must(t, bob.Client.Patch(t.Context(), fetch(t, s.w, web), people.Annotate("", "note", "y")))
}

// A StatefulSet takes orphans for its own. So a ControllerRevision that somebody wrote for an owner of another kind is not made an orphan, by the
// garbage collector either. The revisions of StatefulSets themselves are.
func TestRevisionsAreNotAdopted(t *testing.T) {
	s := newStage(t)
	ctx := t.Context()
	job := workloads[5].of(t, s.home, "owner")
	must(t, unstructured.SetNestedField(job.Object, true, "spec", "suspend"))
	must(t, s.eve.Client.Create(ctx, job))
	owners := []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "owner", UID: job.GetUID(), Controller: ptr.To(true)}}
	forged := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: "forged", OwnerReferences: owners}, Revision: 1,
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"fairway.dev/user":"ann"}},"spec":{"schedulerName":"fairway"}}}}`)}}
	must(t, s.eve.Client.Create(ctx, forged))
	beside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: "beside", OwnerReferences: owners}}
	must(t, s.eve.Client.Create(ctx, beside))
	const refusal = "is written by its controller only"
	s.refused(s.eve.Client.Patch(ctx, forged.DeepCopy(), merge(`{"metadata":{"ownerReferences":null}}`)), refusal)
	s.refused(s.eve.Client.Patch(ctx, forged.DeepCopy(), merge(`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"x","uid":"x","controller":true}]}}`)), refusal)

	must(t, s.eve.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	people.Until(t, "the garbage collector has come", func() error {
		must(t, s.w.Admin.Client.Get(ctx, client.ObjectKeyFromObject(beside), beside))
		if len(beside.OwnerReferences) > 0 {
			return errNotYet
		}
		return nil
	})
	wait()
	must(t, s.w.Admin.Client.Get(ctx, client.ObjectKeyFromObject(forged), forged))
	if metav1.GetControllerOf(forged) == nil {
		t.Error("a forged revision has no owner any more: a StatefulSet would adopt it")
	}
	must(t, s.eve.Client.Delete(ctx, forged)) // and then the Job goes, too

	// True ones are orphaned with their StatefulSet.
	set := workloads[2].of(t, s.home, "set")
	must(t, s.ann.Client.Create(ctx, set))
	podsOf(t, s.w, s.home, "set", 1)
	must(t, s.ann.Client.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	people.Until(t, "the revision of the StatefulSet is an orphan", func() error {
		list := &appsv1.ControllerRevisionList{}
		must(t, s.w.Admin.Client.List(ctx, list, client.InNamespace(s.home), client.MatchingLabels{"workload": "set"}))
		if len(list.Items) != 1 || len(list.Items[0].OwnerReferences) > 0 {
			return errNotYet
		}
		return nil
	})

	other := s.w.Account(t, "kube-system", "replicaset-controller")
	s.w.Allow(t, other, s.home, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"}})
	again := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: "again"}, Revision: 1, Data: forged.Data}
	s.refused(other.Client.Create(ctx, again), refusal)
}

// mutateByWebhook makes a webhook patch the new pods of a namespace.
func mutateByWebhook(t *testing.T, w *people.World, home string, patch func(*corev1.Pod) []any) {
	t.Helper()
	serveWebhook(t, w, patchByWebhook(func(_ *admissionv1.AdmissionRequest, pod *corev1.Pod) []any {
		return append(patch(pod), add("/metadata/labels", map[string]string{"webhook": "was-here"}))
	}), &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: home}})
	people.Until(t, "the webhook acts", func() error {
		pod := podFor(home, "")
		if err := w.Admin.Client.Create(t.Context(), pod, client.DryRunAll); err != nil || pod.Labels["webhook"] == "" {
			return fmt.Errorf("%v %w", err, errNotYet)
		}
		return nil
	})
}

// Webhooks come after the policies. A policy that patched the pod before looks again then, one that did not does not. So a stamp that a webhook
// changes is written again, or the pod is refused.
func TestPodsThatAWebhookChanges(t *testing.T) {
	s := newStage(t)
	mutateByWebhook(t, s.w, s.home, func(*corev1.Pod) []any {
		return []any{add("/spec/schedulerName", "fairway"), add("/metadata/annotations", map[string]string{"fairway.dev/user": "ann"})}
	})
	stamped := podFor(s.home, "")
	must(t, s.eve.Client.Create(t.Context(), stamped, client.DryRunAll))
	if got := stampOf(stamped.Annotations); got != of(s.eve) {
		t.Errorf("stamped %v", got)
	}
	right, late := podFor(s.home, ""), podFor(s.home, "")
	right.Annotations = map[string]string{"fairway.dev/user": of(s.eve).user, keyGroups: of(s.eve).groups}
	late.Spec.SchedulerName = ""
	for _, pod := range []*corev1.Pod{right, late} {
		s.refused(s.eve.Client.Create(t.Context(), pod, client.DryRunAll), notStamped)
	}
}

// A template for another scheduler carries no stamp, so that none is there when the scheduler changes.
func TestTemplatesForOtherSchedulers(t *testing.T) {
	s := newStage(t)
	for _, k := range workloads {
		u := k.of(t, s.home, "other-"+strings.ToLower(k.kind))
		k.set(t, u, "default-scheduler", "spec", "schedulerName")
		k.set(t, u, "ann", "metadata", "annotations", "fairway.dev/user")
		must(t, s.eve.Client.Create(t.Context(), u))
		if got := k.stamp(t, fetch(t, s.w, u)); got != (stamp{}) {
			t.Errorf("%s: stamped %v", k.kind, got)
		}
		if k.kind == "Job" {
			continue
		}
		k.set(t, u, "fairway", "spec", "schedulerName")
		u.SetResourceVersion("")
		u.SetManagedFields(nil)
		people.Until(t, k.kind+" changes its scheduler", func() error {
			return s.eve.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("eve"), client.ForceOwnership)
		})
		if got := k.stamp(t, fetch(t, s.w, u)); got != of(s.eve) {
			t.Errorf("%s: stamped %v after it became Fairway's", k.kind, got)
		}
	}
}

// Another policy that gives a pod to Fairway may come after the stamps. Then the pod is refused: none is created without.
func TestPodsThatBecomeFairwaysLate(t *testing.T) {
	s := newStage(t)
	name := "late-" + s.home
	s.w.Apply(t, strings.NewReplacer("NAME", name, "HOME", s.home).Replace(`apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: NAME}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: HOME}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  mutations:
  - {patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/spec/schedulerName", value: "fairway"}]'}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME}
`))
	must(t, s.w.PoliciesSettle(t.Context()))
	outcomes := map[string]int{}
	for range 30 { // the API server applies policies in any order
		pod := podFor(s.home, "")
		pod.Spec.SchedulerName = ""
		pod.Annotations = map[string]string{"fairway.dev/user": "ann"}
		err := s.eve.Client.Create(t.Context(), pod, client.DryRunAll)
		switch {
		case err == nil && pod.Spec.SchedulerName == "fairway" && stampOf(pod.Annotations) == of(s.eve):
			outcomes["stamped"]++
		case err != nil && strings.Contains(err.Error(), notStamped):
			outcomes["refused"]++
		default:
			t.Errorf("%v %v %v", err, pod.Spec.SchedulerName, pod.Annotations)
		}
	}
	t.Log(outcomes)
}
