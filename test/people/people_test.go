package people

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// The users are who they say, may do nothing at first, and what they are given and lose takes effect.
func TestUsersAreWhoTheySay(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ctx := t.Context()
	w, err := Start(ctx, localcluster.Options{AccountPerController: true})
	must(t, err)
	t.Cleanup(func() { must(t, w.Stop()) })
	home := w.Namespace(t, "home")
	ann, robot := w.Person(t, "ann", "analysts"), w.Account(t, home, "robot")
	for u, want := range map[*User]string{ann: "ann", robot: "system:serviceaccount:" + home + ":robot"} {
		if u.Name != want {
			t.Errorf("%s is known as %s", want, u.Name)
		}
		if err := u.Client.Create(ctx, pod(home, "mine")); !apierrors.IsForbidden(err) {
			t.Errorf("%s without rights creates a pod: %v", want, err)
		}
	}
	if !slices.Contains(ann.Groups, "analysts") || !slices.Contains(robot.Groups, "system:serviceaccounts:"+home) {
		t.Errorf("groups: %v, %v", ann.Groups, robot.Groups)
	}

	w.Edit(t, home, ann)
	mine := pod(home, "mine")
	must(t, ann.Client.Create(ctx, mine))
	inside := w.Inside(t, mine)
	if inside.Name != "system:serviceaccount:"+home+":default" {
		t.Errorf("in the pod runs %s", inside.Name)
	}

	bob := ann.As(t, "bob")
	if err := bob.Client.Create(ctx, pod(home, "bobs")); !apierrors.IsForbidden(err) {
		t.Errorf("impersonation without the right: %v", err)
	}
	revoke := w.Allow(t, ann, "", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"users"}, Verbs: []string{"impersonate"}, ResourceNames: []string{"bob"}})
	w.Edit(t, home, bob)
	must(t, bob.Client.Create(ctx, pod(home, "bobs")))
	revoke()
	if err := bob.Client.Create(ctx, pod(home, "again")); !apierrors.IsForbidden(err) {
		t.Errorf("impersonation after the right was taken away: %v", err)
	}
	must(t, w.PoliciesSettle(context.Background()))
}

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}
}
