package access

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/people"
)

// editQueues lets a user write Queues, as far as the policies do.
func (s *team) editQueues(t *testing.T, name string) (revoke func()) {
	t.Helper()
	return s.Allow(t, s.users[name], "", rbacv1.PolicyRule{
		Verbs: []string{"get", "create", "update", "patch", "delete"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"},
	})
}

func queueNamed(name string, owners ...metav1.OwnerReference) *v1alpha1.Queue {
	return &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
}

// What the owner of a part of the tree may not do there: take room from the queues of others, or pass a queue off as created by placement.
func TestWhatTakesAdministerOnRoot(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	defer s.editQueues(t, "bob")()
	defer s.editQueues(t, "erin")()
	const (
		name       = "root.ads.etl.own"
		preemption = "user bob may not state spec.preemption of queue " + name
		marks      = "user bob may not write label fairway.dev/created-by or annotation fairway.dev/created-for of queue " + name
	)
	plain := func(*v1alpha1.Queue) {}
	preempts := func(q *v1alpha1.Queue) { q.Spec.Preemption = &v1alpha1.QueuePreemption{FairShareTimeout: "1m"} }
	labelled := func(q *v1alpha1.Queue) { q.Labels = map[string]string{v1alpha1.KeyCreatedBy: "placement"} }
	annotated := func(q *v1alpha1.Queue) { q.Annotations = map[string]string{v1alpha1.KeyCreatedFor: "zoe"} }
	for what, tc := range map[string]struct {
		before func(*v1alpha1.Queue) // nil: it is created
		change func(*v1alpha1.Queue)
		text   string // "": bob may
	}{
		"create it":                      {nil, plain, ""},
		"create it with preemption":      {nil, preempts, preemption},
		"create it preempting nothing":   {nil, func(q *v1alpha1.Queue) { q.Spec.Preemption = &v1alpha1.QueuePreemption{} }, preemption},
		"create it as placement":         {nil, labelled, marks},
		"create it for a user":           {nil, annotated, marks},
		"preempt":                        {plain, preempts, preemption},
		"be preempted for nobody":        {plain, func(q *v1alpha1.Queue) { q.Spec.Preemption = &v1alpha1.QueuePreemption{Preemptible: new(bool)} }, preemption},
		"preempt sooner":                 {preempts, func(q *v1alpha1.Queue) { q.Spec.Preemption.FairShareTimeout = "1s" }, preemption},
		"preempt no more":                {preempts, func(q *v1alpha1.Queue) { q.Spec.Preemption = nil }, preemption},
		"change a queue that preempts":   {preempts, func(q *v1alpha1.Queue) { q.Spec.MaxRunningApplications = new(int32) }, ""},
		"add the label":                  {plain, labelled, marks},
		"add the annotation":             {plain, annotated, marks},
		"change the label":               {labelled, func(q *v1alpha1.Queue) { q.Labels[v1alpha1.KeyCreatedBy] = "x" }, marks},
		"change the annotation":          {annotated, func(q *v1alpha1.Queue) { q.Annotations[v1alpha1.KeyCreatedFor] = "x" }, marks},
		"take off the label":             {labelled, func(q *v1alpha1.Queue) { q.Labels = nil }, ""},
		"take off the annotation":        {annotated, func(q *v1alpha1.Queue) { q.Annotations = nil }, ""},
		"change a queue of placement's":  {labelled, func(q *v1alpha1.Queue) { q.Spec.MaxRunningApplications = new(int32) }, ""},
		"annotate it with something own": {plain, func(q *v1alpha1.Queue) { q.Annotations = map[string]string{"x": "y"} }, ""},
	} {
		for user, may := range map[string]bool{"bob": tc.text == "", "erin": true} {
			q := queueNamed(name)
			write := func() error { return s.users[user].Client.Create(ctx, q, client.DryRunAll) }
			if tc.before != nil {
				tc.before(q)
				must(t, s.Admin.Client.Create(ctx, q))
				write = func() error { return s.users[user].Client.Update(ctx, q, client.DryRunAll) }
			}
			tc.change(q)
			err := write()
			if may && err != nil || !may && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.text) ||
				!strings.Contains(err.Error(), "this takes the verb administer on queues.scheduling.fairway.dev, for root")) {
				t.Errorf("%s, %s: %v", user, what, err)
			}
			if tc.before != nil {
				must(t, s.users["bob"].Client.Delete(ctx, queueNamed(name))) // whatever it states
			}
		}
	}
}

// Deletion in the foreground, or without dependents, is finished by the garbage collector; a Queue whose owner is gone goes.
func TestKubernetesCollectsQueues(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	defer s.editQueues(t, "bob")()
	bob := s.users["bob"].Client
	gone := func(name string) {
		t.Helper()
		people.Until(t, name+" is gone", func() error {
			if err := s.Admin.Client.Get(ctx, types.NamespacedName{Name: name}, &v1alpha1.Queue{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there: %w", err)
			}
			return nil
		})
	}
	owner := queueNamed("root.ads.etl.owner")
	must(t, bob.Create(ctx, owner))
	must(t, bob.Create(ctx, queueNamed("root.ads.etl.owned", metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Queue", Name: owner.Name, UID: owner.UID,
	})))
	for _, name := range []string{"root.ads.etl.foreground", "root.ads.etl.orphan"} {
		must(t, bob.Create(ctx, queueNamed(name)))
	}
	must(t, bob.Delete(ctx, owner))
	must(t, bob.Delete(ctx, queueNamed("root.ads.etl.foreground"), client.PropagationPolicy(metav1.DeletePropagationForeground)))
	must(t, bob.Delete(ctx, queueNamed("root.ads.etl.orphan"), client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	gone("root.ads.etl.foreground")
	gone("root.ads.etl.orphan")
	gone("root.ads.etl.owned")
}
