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
		w.bind(t, namespace, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"}, u)
		w.awaitRight(t, u, true, namespace, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}})
	}
}

// Allow gives a user a right, in a namespace or, with "", everywhere. It returns when the right is in force, and what takes it away again.
func (w *World) Allow(t testing.TB, u *User, namespace string, rule rbacv1.PolicyRule) (revoke func()) {
	t.Helper()
	ctx := t.Context()
	role, err := w.Admin.Kube.RbacV1().ClusterRoles().Create(ctx,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "right-"}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{})
	must(t, err)
	w.bind(t, namespace, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}, u)
	w.awaitRight(t, u, true, namespace, rule)
	return func() {
		t.Helper()
		must(t, w.Admin.Kube.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{}))
		w.awaitRight(t, u, false, namespace, rule)
	}
}

func (w *World) bind(t testing.TB, namespace string, role rbacv1.RoleRef, u *User) {
	t.Helper()
	subject := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: u.Name}
	meta := metav1.ObjectMeta{GenerateName: "right-"}
	var err error
	if namespace == "" {
		_, err = w.Admin.Kube.RbacV1().ClusterRoleBindings().Create(t.Context(),
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: role, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
	} else {
		_, err = w.Admin.Kube.RbacV1().RoleBindings(namespace).Create(t.Context(),
			&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: role, Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
	}
	must(t, err)
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
