package identity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A driver of Spark is created without an owner, which the operator's webhook adds together with driver.schedulerName. So it carries the stamp only
// if it is not Fairway's before.
func TestSparkDriversCarryStamps(t *testing.T) {
	w := world(t, withOperators)
	home := w.Namespace(t, "driver")
	ann, spark := w.Person(t, "ann", "analysts"), customs[5]
	operator := spark.operator(t, w)
	mutateByWebhook(t, w, home, func(*corev1.Pod) []any {
		return []any{add("/spec/schedulerName", "fairway"), add("/metadata/ownerReferences", []metav1.OwnerReference{
			{APIVersion: spark.version, Kind: spark.kind, Name: "x", UID: "x", Controller: ptr.To(true)}})}
	})
	for before, want := range map[string]stamp{"": of(ann), "fairway": of(operator)} {
		pod := podFor(home, "")
		pod.Spec.SchedulerName = before
		pod.Annotations = map[string]string{"fairway.dev/user": of(ann).user, keyGroups: of(ann).groups}
		must(t, operator.Client.Create(t.Context(), pod, client.DryRunAll))
		if got := stampOf(pod.Annotations); got != want {
			t.Errorf("created for scheduler %q: stamped %v, want %v", before, got, want)
		}
	}
}

// What decides what runs for a Ray object is more than its templates; how many pods run is not part of it.
func TestRaySpecsAreStampedLikeTemplates(t *testing.T) {
	w := world(t, withOperators)
	home := w.Namespace(t, "ray")
	ann, bob := w.Person(t, "ann"), w.Person(t, "bob")
	everything := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	w.Allow(t, ann, home, everything)
	w.Allow(t, bob, home, everything)
	step := func(path string, value any) client.Patch {
		text, err := json.Marshal([]any{add(path, value)})
		must(t, err)
		return client.RawPatch(types.JSONPatchType, text)
	}
	for i, tc := range []struct{ cluster, other string }{
		{"/spec", "/spec/rayVersion"}, {"/spec/rayClusterSpec", "/spec/entrypoint"}, {"/spec/rayClusterConfig", "/spec/serveConfigV2"},
	} {
		c := customs[i]
		t.Run(c.kind, func(t *testing.T) {
			for n, changed := range []string{tc.cluster + "/autoscalerOptions", tc.cluster + "/headGroupSpec/rayStartParams", tc.other} {
				u := c.object(t, home, fmt.Sprint(strings.ToLower(c.kind), "-", n))
				must(t, ann.Client.Create(t.Context(), u))
				is := func(when string, want stamp) {
					t.Helper()
					if got := c.stamps(t, fetch(t, w, u)); !slices.Equal(got, all(want)) {
						t.Errorf("%s: stamped %v, want %v", when, got, want)
					}
				}
				must(t, bob.Client.Patch(t.Context(), fetch(t, w, u), step("/spec/suspend", true)))
				if c.kind != "RayJob" { // that of the test has no workers
					for _, field := range []string{"replicas", "minReplicas", "maxReplicas"} {
						must(t, bob.Client.Patch(t.Context(), fetch(t, w, u), step(tc.cluster+"/workerGroupSpecs/0/"+field, 3)))
					}
				}
				is("scaled by bob", of(ann))
				must(t, bob.Client.Patch(t.Context(), fetch(t, w, u), step(changed, map[string]any{"image": "bobs"})))
				is("bob changed "+changed, of(bob))
			}
		})
	}
}

// The names of a PyTorchJob's roles are its author's.
func TestRolesOfPyTorchJobsHaveAnyName(t *testing.T) {
	w := world(t, withOperators)
	c := customs[4]
	u := parse(t, w.Namespace(t, "roles"), "spec: "+strings.NewReplacer("TEMPLATE", customTemplate, "Master", "a/b", "Worker", "a~1b").Replace(c.spec))
	u.SetAPIVersion(c.version)
	u.SetKind(c.kind)
	u.SetName("roles")
	must(t, w.Admin.Client.Create(t.Context(), u))
	c.annotations = []string{"spec.pytorchReplicaSpecs.a/b.template.metadata", "spec.pytorchReplicaSpecs.a~1b.template.metadata"}
	if got := c.stamps(t, u); !slices.Equal(got, all(of(w.Admin))) {
		t.Errorf("stamped %v", got)
	}
}
