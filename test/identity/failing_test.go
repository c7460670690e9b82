package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

// systemGoesOn: in kube-system and fairway-system workloads of all kinds get their pods, for any scheduler.
func systemGoesOn(t *testing.T, w *people.World) {
	t.Helper()
	for _, namespace := range []string{"kube-system", "fairway-system"} {
		people.Until(t, namespace+" has a service account", func() error {
			_, err := w.Admin.Kube.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
			return err
		})
		for _, k := range workloads[:5] {
			name := "system-" + strings.ToLower(k.kind)
			u := k.of(t, namespace, name)
			must(t, w.Admin.Client.Create(t.Context(), u))
			pods := podsOf(t, w, namespace, name, 1)
			must(t, w.Admin.Client.Patch(t.Context(), &pods[0], people.Annotate("", "fairway.dev/user", "x")))
			must(t, w.Admin.Client.Delete(t.Context(), u, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		}
	}
}

// While a policy cannot be evaluated, no pod for Fairway is created and no mark of one changes; pods of other schedulers, the system's namespaces
// and the life of what runs go on.
func TestPoliciesFailClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	w := startWorld(t, localcluster.Options{AccountPerController: true})
	t.Cleanup(func() { must(t, w.Stop()) })
	install(t, w, "identity")
	ctx := t.Context()
	home := w.Namespace(t, "failing")
	ann := w.Person(t, "ann")
	w.Edit(t, home, ann)
	running := podFor(home, "running")
	running.Spec.NodeName = "node"
	must(t, ann.Client.Create(ctx, running))
	ours := workloads[0].of(t, home, "before")
	must(t, ann.Client.Create(ctx, ours))
	podsOf(t, w, home, "before", 1)

	patch := func(text string) {
		t.Helper()
		for _, policy := range []string{"mutatingadmissionpolicy/fairway-stamp-pods", "mutatingadmissionpolicy/fairway-stamp-templates", "validatingadmissionpolicy/fairway-guard-pods"} {
			_, err := w.Kubectl(ctx, "patch", policy, "--type=json", "-p", text)
			must(t, err)
		}
		must(t, w.PoliciesSettle(ctx))
	}
	patch(`[{"op":"add","path":"/spec/matchConditions/0","value":{"name":"broken","expression":"dyn(object).spec.nothing == 'of the kind'"}}]`)
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "no such key: nothing") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a pod", ann.Client.Create(ctx, podFor(home, "")))
	for _, k := range workloads {
		refused(k.kind, ann.Client.Create(ctx, k.of(t, home, "new")))
	}
	refused("a patch of a pod", ann.Client.Patch(ctx, running, people.Annotate("", "fairway.dev/user", "eve")))

	other := podFor(home, "other")
	other.Spec.SchedulerName = ""
	must(t, ann.Client.Create(ctx, other))
	must(t, ann.Client.Patch(ctx, other, people.Annotate("", "a", "b")))
	must(t, ann.Client.Delete(ctx, running))
	systemGoesOn(t, w)

	patch(`[{"op":"remove","path":"/spec/matchConditions/0"}]`)
	must(t, ann.Client.Create(ctx, podFor(home, "")))
	must(t, ann.Client.Create(ctx, workloads[0].of(t, home, "after")))
	for _, pod := range podsOf(t, w, home, "after", 1) {
		if got := stampOf(pod.Annotations); got != of(ann) {
			t.Errorf("stamped %v", got)
		}
	}
}

// The API server finds nothing wrong with the expressions, and all policies that judge trust judge it by the same words.
func TestPoliciesAreWellFormed(t *testing.T) {
	w := world(t, withOperators)
	checkAllExpressions(t, w)
	people.Until(t, "the policies are checked", func() error {
		checked, err := w.Kubectl(t.Context(), "get", "validatingadmissionpolicies", "-o", `jsonpath={range .items[*]}{.metadata.name}{" "}{.status.observedGeneration}{"\n"}{end}`)
		if err == nil && strings.Contains(checked, " \n") {
			return errors.New(checked)
		}
		return err
	})
	trust := map[string]string{}
	for _, kind := range []string{"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("admissionregistration.k8s.io/v1")
		list.SetKind(kind + "List")
		must(t, w.Admin.Client.List(t.Context(), list))
		for _, policy := range list.Items {
			if !strings.HasPrefix(policy.GetName(), "fairway-") {
				continue
			}
			if fails, _, _ := unstructured.NestedString(policy.Object, "spec", "failurePolicy"); fails != "Fail" {
				t.Errorf("%s: failurePolicy %s", policy.GetName(), fails)
			}
			warnings, _, err := unstructured.NestedSlice(policy.Object, "status", "typeChecking", "expressionWarnings")
			must(t, err)
			for _, warning := range warnings {
				t.Errorf("%s: %v", policy.GetName(), warning)
			}
			conditions, _, err := unstructured.NestedSlice(policy.Object, "spec", "matchConditions")
			must(t, err)
			for _, c := range conditions {
				if _, list, ok := strings.Cut(c.(map[string]any)["expression"].(string), "owner.kind in ["); ok {
					trust[policy.GetName()] = strings.Join(strings.Fields(strings.TrimRight(list, ")")), " ")
				}
			}
		}
	}
	if len(trust) != 4 {
		t.Errorf("%d policies judge trust, want 4", len(trust))
	}
	for name, words := range trust {
		if words != trust["fairway-stamp-pods"] {
			t.Errorf("%s trusts\n%s\nand fairway-stamp-pods\n%s", name, words, trust["fairway-stamp-pods"])
		}
	}
}

// checkAllExpressions lets the API server check what it does not check by itself: conditions, and everything in mutating policies but the patches,
// which it compiles when they are written. It is given policies without bindings that say the same as validations.
func checkAllExpressions(t *testing.T, w *people.World) {
	t.Helper()
	for _, kind := range []string{"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("admissionregistration.k8s.io/v1")
		list.SetKind(kind + "List")
		must(t, w.Admin.Client.List(t.Context(), list))
		for _, policy := range list.Items {
			if !strings.HasPrefix(policy.GetName(), "fairway-") || strings.HasPrefix(policy.GetName(), "fairway-twin-") {
				continue
			}
			spec := policy.Object["spec"].(map[string]any)
			var expressions []any
			conditions, _ := spec["matchConditions"].([]any)
			for _, c := range conditions {
				expressions = append(expressions, map[string]any{"expression": c.(map[string]any)["expression"]})
			}
			variables, _ := spec["variables"].([]any)
			for _, v := range variables {
				name := fmt.Sprint("variables.", v.(map[string]any)["name"])
				expressions = append(expressions, map[string]any{"expression": name + " == " + name})
			}
			if len(expressions) == 0 {
				continue
			}
			twin := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
				"failurePolicy": "Fail", "matchConstraints": spec["matchConstraints"], "validations": expressions}}}
			for _, field := range []string{"paramKind", "variables"} {
				if spec[field] != nil {
					twin.Object["spec"].(map[string]any)[field] = spec[field]
				}
			}
			twin.SetAPIVersion("admissionregistration.k8s.io/v1")
			twin.SetKind("ValidatingAdmissionPolicy")
			twin.SetName("fairway-twin-" + strings.ToLower(kind[:1]) + "-" + policy.GetName())
			must(t, w.Admin.Client.Create(t.Context(), twin))
			t.Cleanup(func() { must(t, w.Admin.Client.Delete(context.Background(), twin)) })
		}
	}
}

// On an API server that runs no mutating policies nothing is stamped; so no pod for Fairway is created, but those of templates from before. A stamp
// in another name gets on no pod and no template.
func TestStampsAreCheckedWithoutTheMutatingPolicies(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	w := startWorld(t, localcluster.Options{AccountPerController: true})
	t.Cleanup(func() { must(t, w.Stop()) })
	install(t, w, "identity")
	ctx := t.Context()
	home := w.Namespace(t, "unstamped")
	ann, eve := w.Person(t, "ann"), w.Person(t, "eve")
	w.Edit(t, home, ann, eve)
	must(t, ann.Client.Create(ctx, workloads[0].of(t, home, "before")))
	podsOf(t, w, home, "before", 1)
	_, err := w.Kubectl(ctx, "delete", "mutatingadmissionpolicies", "fairway-stamp-pods", "fairway-stamp-templates")
	must(t, err)
	must(t, w.PoliciesSettle(ctx))

	refused := func(what string, err error, because string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("%s: %v", what, err)
		}
	}
	const ofPods, ofTemplates = "of a new pod are those of its creator", "of this pod template must be those of"
	pod := podFor(home, "")
	refused("a pod", eve.Client.Create(ctx, pod), ofPods)
	pod.Annotations = map[string]string{"fairway.dev/user": "ann", "fairway.dev/groups": of(ann).groups}
	refused("a pod in another name", eve.Client.Create(ctx, pod), ofPods)
	for _, k := range workloads {
		u := k.of(t, home, "after-"+strings.ToLower(k.kind))
		refused(k.kind, eve.Client.Create(ctx, u.DeepCopy()), ofTemplates)
		k.set(t, u, "ann", "metadata", "annotations", "fairway.dev/user")
		refused(k.kind+" in another name", eve.Client.Create(ctx, u.DeepCopy()), ofTemplates)
		k.set(t, u, "default-scheduler", "spec", "schedulerName")
		refused(k.kind+" for another scheduler", eve.Client.Create(ctx, u), ofTemplates)
	}
	before := fetch(t, w, workloads[0].of(t, home, "before"))
	refused("a changed template", eve.Client.Patch(ctx, before, people.Annotate("spec.template", "note", "x")), ofTemplates)
	must(t, eve.Client.Patch(ctx, before, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`))))
	for _, pod := range podsOf(t, w, home, "before", 2) {
		if got := stampOf(pod.Annotations); got != of(ann) {
			t.Errorf("stamped %v", got)
		}
	}
}
