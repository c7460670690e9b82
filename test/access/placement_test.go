package access

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/people"
)

// queue returns a Queue, and whether there is one of that name.
func (s *team) queue(t *testing.T, name string) (*v1alpha1.Queue, bool) {
	t.Helper()
	q := &v1alpha1.Queue{}
	err := s.Admin.Client.Get(t.Context(), client.ObjectKey{Name: name}, q)
	must(t, client.IgnoreNotFound(err))
	return q, !apierrors.IsNotFound(err)
}

func (s *team) gone(t *testing.T, name string) {
	t.Helper()
	people.Until(t, name+" is gone", func() error {
		if _, exists := s.queue(t, name); exists {
			return fmt.Errorf("it is there")
		}
		return nil
	})
}

// With a placement policy, access is judged for the queue in which the policy puts a pod. No queue is created for a user who may not submit to it. The
// scheduler creates and removes queues although it administers none: the policies about Queues let it pass.
func TestNothingIsCreatedForAUserWhoMayNotSubmit(t *testing.T) {
	s, ctx := closed(t), t.Context()
	users := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.users"}, Spec: v1alpha1.QueueSpec{Children: &v1alpha1.QueueChildren{}}}
	must(t, s.Admin.Client.Create(ctx, users))
	policy := &v1alpha1.PlacementPolicy{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PlacementPolicyName}}
	policy.Spec.Mappings = []string{"u:nora:root.users.%user"} // only her pods are to move, not those that other tests have left
	policy.Spec.Rules = []v1alpha1.PlacementRule{
		{PlacementRuleFields: v1alpha1.PlacementRuleFields{Type: "Mapping", Create: ptr.To(true)}},
		{PlacementRuleFields: v1alpha1.PlacementRuleFields{Type: "Specified", Create: ptr.To(false)}},
		{PlacementRuleFields: v1alpha1.PlacementRuleFields{Type: "Default"}},
	}
	policy.Spec.RemoveEmptyAfter = "1s"
	must(t, s.Admin.Client.Create(ctx, policy))
	s.schedule(t, time.Second)

	nora, text := s.Person(t, "nora", "staff"), refusal("nora", "root.users.nora")
	s.Edit(t, s.home, nora)
	p := s.pod("")
	must(t, nora.Client.Create(ctx, p)) // it names no queue, so admission leaves it to the scheduler
	s.await(t, p, "SubmitForbidden", text)
	if _, exists := s.queue(t, "root.users.nora"); exists {
		t.Error("a queue was created for nora")
	}
	out, failed := command(t, s.Cluster.Kubeconfig(), "why", p.Name, "-n", p.Namespace)
	if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "is blocked (SubmitForbidden)") || !strings.Contains(said, text) || failed != "" {
		t.Errorf("why says %q %s", out, failed)
	}

	revoke := s.Allow(t, nora, "", right("submit", "root.users"))
	s.await(t, p, "", "runs")
	if in := p.Annotations[v1alpha1.KeyPlacedQueue]; in != "root.users.nora" {
		t.Errorf("it runs in %s", in)
	}
	if q, _ := s.queue(t, "root.users.nora"); q.Annotations[v1alpha1.KeyCreatedFor] != "nora" {
		t.Errorf("created for %q", q.Annotations[v1alpha1.KeyCreatedFor])
	}
	revoke()
	must(t, s.Admin.Client.Delete(ctx, p, client.GracePeriodSeconds(0)))
	s.gone(t, "root.users.nora")
	must(t, s.Admin.Client.Delete(ctx, policy))
	must(t, s.Admin.Client.Delete(ctx, users))
	s.gone(t, "root.users")
}
