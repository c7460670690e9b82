package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

// systemGoesOn: in kube-system and fairway-system a user's workloads of all kinds get their pods, whatever they are called and name.
func systemGoesOn(t *testing.T, w *people.World, by *people.User, called string) {
	t.Helper()
	for _, namespace := range []string{"kube-system", "fairway-system"} {
		people.Until(t, namespace+" has a service account", func() error {
			_, err := w.Admin.Kube.CoreV1().ServiceAccounts(namespace).Get(t.Context(), "default", metav1.GetOptions{})
			return err
		})
		w.Edit(t, namespace, by)
		for _, k := range workloads {
			name := called + "-" + strings.ToLower(k.kind)
			u := k.of(t, namespace, name)
			k.set(t, u, "root.others", "metadata", "labels", v1alpha1.KeyQueue)
			must(t, by.Client.Create(t.Context(), u))
			if k.kind != "CronJob" { // its Jobs come by the minute
				pods := podsOf(t, w, namespace, name, 1)
				must(t, by.Client.Patch(t.Context(), &pods[0], people.Annotate("", "fairway.dev/user", "x")))
			}
			must(t, by.Client.Delete(t.Context(), u, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		}
	}
}

// failing is a control plane of which a test breaks policies, and a user who edits a namespace.
type failing struct {
	*people.World
	home string
	ann  *people.User
}

// broken gives policies a condition that cannot be evaluated, until repair.
func (f failing) broken(t *testing.T, policies ...string) (repair func()) {
	t.Helper()
	patch := func(text string) {
		t.Helper()
		for _, policy := range policies {
			_, err := f.Kubectl(t.Context(), "patch", policy, "--type=json", "-p", text)
			must(t, err)
		}
		must(t, f.PoliciesSettle(t.Context()))
	}
	patch(`[{"op":"add","path":"/spec/matchConditions/0","value":{"name":"broken","expression":"dyn(object).spec.nothing == 'of the kind'"}}]`)
	return func() { patch(`[{"op":"remove","path":"/spec/matchConditions/0"}]`) }
}

// refused: a policy could not be evaluated. "" stands for any.
func (f failing) refused(t *testing.T, what, by string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "no such key: nothing") || !strings.Contains(err.Error(), by) {
		t.Errorf("%s: %v", what, err)
	}
}

// othersGoOn: pods of other schedulers are none of the policies' business.
func (f failing) othersGoOn(t *testing.T) {
	t.Helper()
	other := podFor(f.home, "")
	other.Spec.SchedulerName, other.Labels = "", map[string]string{v1alpha1.KeyQueue: "root.others"}
	must(t, f.ann.Client.Create(t.Context(), other))
	must(t, f.ann.Client.Patch(t.Context(), other, people.Annotate("", "a", "b")))
}

// While a policy cannot be evaluated, nothing that it would judge is created or changed; pods of other schedulers, the system's namespaces and the life of
// what runs go on.
func TestPoliciesFailClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	w := startWorld(t, localcluster.Options{AccountPerController: true})
	t.Cleanup(func() { must(t, w.Stop()) })
	install(t, w, "identity")
	f := failing{w, w.Namespace(t, "failing"), w.Person(t, "ann")}
	w.Edit(t, f.home, f.ann)
	f.stampsFail(t)
	f.checksFail(t)
	f.accessFails(t)
}

// stampsFail: no pod for Fairway is created, and no mark of one changes.
func (f failing) stampsFail(t *testing.T) {
	t.Helper()
	ctx, ann := t.Context(), f.ann
	running := podFor(f.home, "running")
	running.Spec.NodeName = "node"
	must(t, ann.Client.Create(ctx, running))
	must(t, ann.Client.Create(ctx, workloads[0].of(t, f.home, "before")))
	podsOf(t, f.World, f.home, "before", 1)

	repair := f.broken(t, "mutatingadmissionpolicy/fairway-stamp-pods", "mutatingadmissionpolicy/fairway-stamp-templates", "validatingadmissionpolicy/fairway-guard-pods")
	f.refused(t, "a pod", "", ann.Client.Create(ctx, podFor(f.home, "")))
	for _, k := range workloads {
		f.refused(t, k.kind, "", ann.Client.Create(ctx, k.of(t, f.home, "new")))
	}
	f.refused(t, "a patch of a pod", "", ann.Client.Patch(ctx, running, people.Annotate("", "fairway.dev/user", "eve")))
	f.othersGoOn(t)
	must(t, ann.Client.Delete(ctx, running))
	systemGoesOn(t, f.World, ann, "stamps")

	repair()
	must(t, ann.Client.Create(ctx, podFor(f.home, "")))
	must(t, ann.Client.Create(ctx, workloads[0].of(t, f.home, "after")))
	for _, pod := range podsOf(t, f.World, f.home, "after", 1) {
		if got := stampOf(pod.Annotations); got != of(ann) {
			t.Errorf("stamped %v", got)
		}
	}
}

// checksFail: what is stamped right needs no check; no other pod is created, and no template.
func (f failing) checksFail(t *testing.T) {
	t.Helper()
	ctx, ann := t.Context(), f.ann
	repair := f.broken(t, "validatingadmissionpolicy/fairway-check-pods", "validatingadmissionpolicy/fairway-check-templates")
	must(t, ann.Client.Create(ctx, podFor(f.home, "")))
	placed := podFor(f.home, "")
	placed.Annotations = map[string]string{v1alpha1.KeyPlacedQueue: "root.others"}
	f.refused(t, "a pod that says where it was placed", "fairway-check-pods", ann.Client.Create(ctx, placed))
	for _, k := range workloads {
		f.refused(t, k.kind, "fairway-check-templates", ann.Client.Create(ctx, k.of(t, f.home, "unchecked")))
	}
	f.othersGoOn(t)
	systemGoesOn(t, f.World, ann, "checks")
	repair()
}

// accessFails: nothing is submitted to a queue, and no Queue is written, also by those who may.
func (f failing) accessFails(t *testing.T) {
	t.Helper()
	ctx, ann := t.Context(), f.ann
	_, err := f.Kubectl(ctx, "apply", "-f", filepath.Join(manifests, "crds", "scheduling.fairway.dev_queues.yaml"))
	must(t, err)
	_, err = f.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd/queues.scheduling.fairway.dev")
	must(t, err)
	install(t, f.World, "access")
	_, err = f.Kubectl(ctx, "delete", "clusterrolebinding", "fairway-everyone-submits")
	must(t, err)
	f.Give(t, ann, "fairway-queue-editor")
	f.Allow(t, ann, "", rbacv1.PolicyRule{
		Verbs: []string{"administer"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"}, ResourceNames: []string{"root.ann"},
	})
	pod := func(queue string) *corev1.Pod {
		p := podFor(f.home, "")
		p.Labels = map[string]string{v1alpha1.KeyQueue: queue}
		return p
	}
	queue := func(name string) *v1alpha1.Queue { return &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	people.Until(t, "the tree is closed", func() error {
		if err := ann.Client.Create(ctx, pod("root.others"), client.DryRunAll); err == nil {
			return errNotYet
		}
		return nil
	})
	must(t, ann.Client.Create(ctx, pod("root.ann")))
	must(t, ann.Client.Create(ctx, queue("root.ann.before")))

	repair := f.broken(t, "validatingadmissionpolicy/fairway-submissions", "validatingadmissionpolicy/fairway-queues")
	f.refused(t, "a pod", "fairway-submissions", ann.Client.Create(ctx, pod("root.ann")))
	for _, k := range workloads {
		u := k.of(t, f.home, "unjudged")
		k.set(t, u, "root.ann", "metadata", "labels", v1alpha1.KeyQueue)
		f.refused(t, k.kind, "fairway-submissions", ann.Client.Create(ctx, u))
	}
	f.refused(t, "a Queue", "fairway-queues", ann.Client.Create(ctx, queue("root.ann.new")))
	f.refused(t, "a change of a Queue", "fairway-queues", ann.Client.Patch(ctx, queue("root.ann.before"), merge(`{"spec":{"weight":"2"}}`)))
	must(t, ann.Client.Create(ctx, podFor(f.home, ""))) // names no queue: that is the scheduler's
	f.othersGoOn(t)
	systemGoesOn(t, f.World, ann, "access")

	repair()
	must(t, ann.Client.Create(ctx, pod("root.ann")))
	must(t, ann.Client.Create(ctx, queue("root.ann.new")))
}

// everywhereElse selects the namespaces in which policies act.
const everywhereElse = `{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","fairway-system"]}]}`

// selectors are those of policies that act elsewhere: about one ConfigMap, and about objects in no namespace.
var selectors = map[string]string{
	"fairway-guard-trust": `{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}`,
	"fairway-queues":      `{}`,
}

// The API server finds nothing wrong with the expressions, no policy can stop the system's namespaces, and all policies that judge trust judge it by the
// same words.
func TestPoliciesAreWellFormed(t *testing.T) {
	w := world(t, withOperators)
	for _, folder := range []string{"access", "access/deletions"} {
		install(t, w, folder)
		t.Cleanup(func() {
			_, err := w.Kubectl(context.Background(), "delete", "-k", filepath.Join(manifests, folder))
			must(t, err)
		})
	}
	checkAllExpressions(t, w)
	people.Until(t, "the policies are checked", func() error {
		checked, err := w.Kubectl(t.Context(), "get", "validatingadmissionpolicies", "-o", `jsonpath={range .items[*]}{.metadata.name}{" "}{.status.observedGeneration}{"\n"}{end}`)
		if err == nil && strings.Contains(checked, " \n") {
			return errors.New(checked)
		}
		return err
	})
	trust, found := map[string]string{}, map[string]bool{}
	for _, kind := range []string{"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"} {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("admissionregistration.k8s.io/v1")
		list.SetKind(kind + "List")
		must(t, w.Admin.Client.List(t.Context(), list))
		for _, policy := range list.Items {
			if !strings.HasPrefix(policy.GetName(), "fairway-") {
				continue
			}
			want := "Fail"
			if policy.GetName() == "fairway-stopped-queues" { // it grants nothing, and the scheduler holds back what it lets pass
				want = "Ignore"
			}
			if fails, _, _ := unstructured.NestedString(policy.Object, "spec", "failurePolicy"); fails != want {
				t.Errorf("%s: failurePolicy %s", policy.GetName(), fails)
			}
			selector, _, err := unstructured.NestedMap(policy.Object, "spec", "matchConstraints", "namespaceSelector")
			must(t, err)
			if text, err := json.Marshal(selector); err != nil || string(text) != cmp.Or(selectors[strings.TrimPrefix(policy.GetName(), "fairway-twin-v-")], everywhereElse) {
				t.Errorf("%s acts in namespaces %s %v", policy.GetName(), text, err)
			}
			found[policy.GetName()] = true
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
	for _, name := range []string{"fairway-submissions", "fairway-queues", "fairway-deletions", "fairway-evictions"} {
		if !found[name] {
			t.Errorf("there is no policy %s", name)
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
