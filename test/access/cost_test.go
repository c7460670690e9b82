package access

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What the policies of manifests/access add to the creation of a pod, beside those of manifests/identity and beside none: three namespaces in turn, so that
// all meet the same machine.
func TestTheCostOfASubmission(t *testing.T) {
	s := closed(t)
	ctx, ada := t.Context(), s.users["ada"]
	stamped := s.Namespace(t, "stamped")
	binding := &unstructured.Unstructured{}
	binding.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"})
	binding.SetName("fairway-submissions")
	only := func(selector string) {
		patch := `{"spec":{"matchResources":{"namespaceSelector":{"matchExpressions":[` + selector + `]}}}}`
		must(t, s.Admin.Client.Patch(ctx, binding.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch))))
		must(t, s.PoliciesSettle(ctx))
	}
	only(`{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["` + stamped + `"]}`)
	defer func() { // the binding as it is installed, and nobody's but its installer's
		_, err := s.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(manifests, "access", "submissions.yaml"))
		must(t, err)
		must(t, s.PoliciesSettle(ctx))
	}()
	namespaces := []string{unguarded, stamped, s.home}
	for _, namespace := range namespaces[:2] {
		defer s.Allow(t, ada, namespace, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}})()
	}
	const n = 500
	took := map[string][]time.Duration{}
	for range n {
		for _, namespace := range namespaces {
			p := s.pod("root.ads.etl.nightly")
			p.Namespace = namespace
			p.Labels["cost"] = "x"
			began := time.Now()
			must(t, ada.Client.Create(ctx, p))
			took[namespace] = append(took[namespace], time.Since(began))
		}
	}
	for _, namespace := range namespaces {
		slices.Sort(took[namespace])
		must(t, s.Admin.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(namespace), client.MatchingLabels{"cost": "x"}, client.GracePeriodSeconds(0)))
	}
	for _, percent := range []int{99, 90, 50} {
		at := func(namespace string) time.Duration { return took[namespace][n*percent/100] }
		none, identity, both := at(unguarded), at(stamped), at(s.home)
		t.Logf("p%d of a pod create: %s without policies, %s with identity, %s with access too: %.2f and %.2f times", percent, none, identity, both,
			float64(identity)/float64(none), float64(both)/float64(identity))
		if percent == 50 && both > identity*13/10 { // about a seventh, measured
			t.Errorf("access makes a pod create %.2f times as long", float64(both)/float64(identity))
		}
	}
}
