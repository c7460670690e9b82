package access

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// What the policies of manifests/access add to the creation of a pod, beside those of manifests/identity and beside none: three namespaces in turn, so that
// all meet the same machine.
func TestTheCostOfASubmission(t *testing.T) {
	s := closed(t)
	ada := s.users["ada"]
	stamped := s.Namespace(t, "stamped")
	defer s.except(t, stamped, "fairway-submissions", "submissions.yaml")()
	namespaces := []string{unguarded, stamped, s.home}
	for _, namespace := range namespaces[:2] {
		defer s.Allow(t, ada, namespace, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}})()
	}
	took := s.timed(t, namespaces)
	for _, percent := range []int{99, 90, 50} {
		at := func(namespace string) time.Duration { return took[namespace][len(took[namespace])*percent/100] }
		none, identity, both := at(unguarded), at(stamped), at(s.home)
		t.Logf("p%d of a pod create: %s without policies, %s with identity, %s with access too: %.2f and %.2f times", percent, none, identity, both,
			float64(identity)/float64(none), float64(both)/float64(identity))
		if percent == 50 && both > identity*13/10 { // about a seventh, measured
			t.Errorf("access makes a pod create %.2f times as long", float64(both)/float64(identity))
		}
	}
}

// What the policy of stopped queues adds to the creation of a pod, while none is stopped and while 500 are: two namespaces in turn, of which the policy judges one.
func TestTheCostOfStoppedQueues(t *testing.T) {
	s := closed(t)
	ada := s.users["ada"]
	unjudged := s.Namespace(t, "unjudged")
	defer s.except(t, unjudged, "fairway-stopped-queues", "stopped.yaml")()
	defer s.Allow(t, ada, unjudged, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}})()
	defer s.showStopped(t, 0)
	for _, stopped := range []int{0, v1alpha1.MaxStoppedShown} {
		s.showStopped(t, stopped)
		took := s.timed(t, []string{unjudged, s.home})
		for _, percent := range []int{99, 90, 50} {
			at := func(namespace string) time.Duration { return took[namespace][len(took[namespace])*percent/100] }
			without, with := at(unjudged), at(s.home)
			t.Logf("%d stopped: p%d of a pod create: %s without the policy of stopped queues, %s with it: %.2f times", stopped, percent, without, with,
				float64(with)/float64(without))
			if percent == 50 && with > without*14/10 {
				t.Errorf("%d stopped: the policy makes a pod create %.2f times as long", stopped, float64(with)/float64(without))
			}
		}
	}
}

// except has a policy of manifests/access not judge a namespace, until restore is called.
func (s *team) except(t *testing.T, namespace, binding, file string) (restore func()) {
	t.Helper()
	ctx := t.Context()
	patch := `{"spec":{"matchResources":{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["` + namespace + `"]}]}}}}`
	b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: binding}}
	must(t, s.Admin.Client.Patch(ctx, b, client.RawPatch(types.MergePatchType, []byte(patch))))
	must(t, s.PoliciesSettle(ctx))
	return func() { // the binding as it is installed, and nobody's but its installer's
		_, err := s.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(manifests, "access", file))
		must(t, err)
		must(t, s.PoliciesSettle(ctx))
	}
}

// timed creates 500 pods in each of the namespaces, in turn, and returns how long that took, the shortest first.
func (s *team) timed(t *testing.T, namespaces []string) map[string][]time.Duration {
	t.Helper()
	ctx, took := t.Context(), map[string][]time.Duration{}
	for range 500 {
		for _, namespace := range namespaces {
			p := s.pod("root.ads.etl.nightly")
			p.Namespace = namespace
			p.Labels["cost"] = "x"
			began := time.Now()
			must(t, s.users["ada"].Client.Create(ctx, p))
			took[namespace] = append(took[namespace], time.Since(began))
		}
	}
	for _, namespace := range namespaces {
		slices.Sort(took[namespace])
		must(t, s.Admin.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(namespace), client.MatchingLabels{"cost": "x"}, client.GracePeriodSeconds(0)))
	}
	return took
}

// showStopped writes so many queues into the status of root as stopped.
func (s *team) showStopped(t *testing.T, n int) {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"root.stopped-%03d"`, i)
	}
	patch := `{"status":{"stoppedQueues":[` + strings.Join(names, ",") + `]}}`
	root := queueNamed(v1alpha1.RootQueue) // which a scheduler may have created
	if err := s.Admin.Client.Create(t.Context(), root.DeepCopy()); !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	must(t, s.Admin.Client.Status().Patch(t.Context(), root, client.RawPatch(types.MergePatchType, []byte(patch))))
}
