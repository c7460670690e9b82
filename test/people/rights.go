package people

import (
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Edit gives users the ClusterRole edit in a namespace: what a member of a team has.
func (w *World) Edit(t testing.TB, namespace string, users ...*User) {
	t.Helper()
	for _, u := range users {
		w.bind(t, namespace, "edit", userSubject(u))
		w.awaitRight(t, u, true, namespace, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	}
}

// Allow gives a user a right, in a namespace or, with "", everywhere. It returns when the right is in force, and what takes it away again.
func (w *World) Allow(t testing.TB, u *User, namespace string, rule rbacv1.PolicyRule) (revoke func()) {
	t.Helper()
	return w.allow(t, u, userSubject(u), namespace, rule)
}

// AllowGroup is Allow for all members of a group.
func (w *World) AllowGroup(t testing.TB, group, namespace string, rule rbacv1.PolicyRule) (revoke func()) {
	t.Helper()
	member := &User{Name: "a member of " + group, Groups: []string{group}}
	return w.allow(t, member, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}, namespace, rule)
}

func (w *World) allow(t testing.TB, u *User, subject rbacv1.Subject, namespace string, rule rbacv1.PolicyRule) (revoke func()) {
	t.Helper()
	ctx := t.Context()
	role, err := w.Admin.Kube.RbacV1().ClusterRoles().Create(ctx,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "right-"}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
	must(t, err)
	w.bind(t, namespace, role.Name, subject)
	w.awaitRight(t, u, true, namespace, rule)
	return func() {
		t.Helper()
		must(t, w.Admin.Kube.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{}))
		w.awaitRight(t, u, false, namespace, rule)
	}
}

// Give binds a ClusterRole that exists to a user, everywhere. It returns when the role is in force, and what takes it away again.
func (w *World) Give(t testing.TB, u *User, role string) (revoke func()) {
	t.Helper()
	ctx := t.Context()
	given, err := w.Admin.Kube.RbacV1().ClusterRoles().Get(ctx, role, metav1.GetOptions{})
	must(t, err)
	binding := w.bind(t, "", role, userSubject(u))
	await := func(want bool) {
		for _, rule := range given.Rules {
			w.awaitRight(t, u, want, "", rule)
		}
	}
	await(true)
	return func() {
		t.Helper()
		must(t, w.Admin.Kube.RbacV1().ClusterRoleBindings().Delete(ctx, binding, metav1.DeleteOptions{}))
		await(false)
	}
}

func userSubject(u *User) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.Name}
}

// bind returns the name of the binding.
func (w *World) bind(t testing.TB, namespace, role string, subject rbacv1.Subject) string {
	t.Helper()
	meta, of := metav1.ObjectMeta{GenerateName: "right-"}, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	if namespace == "" {
		made, err := w.Admin.Kube.RbacV1().ClusterRoleBindings().Create(t.Context(),
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: of, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
		must(t, err)
		return made.Name
	}
	made, err := w.Admin.Kube.RbacV1().RoleBindings(namespace).Create(t.Context(),
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: of, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
	must(t, err)
	return made.Name
}

// AwaitRight returns when a user has a right that somebody else gave, in a namespace or, with "", everywhere.
func (w *World) AwaitRight(t testing.TB, u *User, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	w.awaitRight(t, u, true, namespace, rule)
}

// awaitRight waits until the API server answers so of everything in the rule: its authorizer learns of bindings by a watch.
func (w *World) awaitRight(t testing.TB, u *User, want bool, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range rule.Verbs {
		for _, resource := range rule.Resources {
			for _, name := range names {
				resource, subresource, _ := strings.Cut(resource, "/")
				asked := authorizationv1.ResourceAttributes{
					Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Name: name,
				}
				Until(t, fmt.Sprintf("%s %s %s %s %s: %v", u.Name, verb, resource, subresource, name, want), func() error {
					if got := w.may(t, u, asked); got != want {
						return fmt.Errorf("the API server says %v", got)
					}
					return nil
				})
			}
		}
	}
}

func (w *World) may(t testing.TB, u *User, asked authorizationv1.ResourceAttributes) bool {
	t.Helper()
	review, err := w.Admin.Kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: u.Name, Groups: u.Groups, ResourceAttributes: &asked},
	}, metav1.CreateOptions{})
	must(t, err)
	return review.Status.Allowed
}
