package access

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
)

// Roles returns a Review that reads roles and bindings itself, as RBAC does: for files, which no API server answers for. Queues are in no namespace, so only
// ClusterRoles and ClusterRoleBindings count. It knows no other authorizer.
func Roles(roles []*rbacv1.ClusterRole, bindings []*rbacv1.ClusterRoleBinding) Review {
	rules := map[string][]rbacv1.PolicyRule{}
	for _, r := range roles {
		rules[r.Name] = r.Rules
		if r.AggregationRule != nil && len(r.Rules) == 0 { // written by hand: a cluster has filled it in
			rules[r.Name] = aggregated(r.AggregationRule, roles)
		}
	}
	return func(_ context.Context, s access.Subject, g access.Grant) (bool, error) {
		groups := access.SplitGroups(s.Groups)
		if slices.Contains(groups, user.SystemPrivilegedGroup) {
			return true, nil
		}
		for _, b := range bindings {
			about := slices.ContainsFunc(b.Subjects, func(to rbacv1.Subject) bool { return isSubject(to, s.User, groups) })
			if about && slices.ContainsFunc(rules[b.RoleRef.Name], func(r rbacv1.PolicyRule) bool { return grants(r, g) }) {
				return true, nil
			}
		}
		return false, nil
	}
}

func aggregated(by *rbacv1.AggregationRule, roles []*rbacv1.ClusterRole) (rules []rbacv1.PolicyRule) {
	for i := range by.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&by.ClusterRoleSelectors[i])
		if err != nil {
			continue // an API server refuses it
		}
		for _, r := range roles {
			if selector.Matches(labels.Set(r.Labels)) {
				rules = append(rules, r.Rules...)
			}
		}
	}
	return rules
}

func isSubject(to rbacv1.Subject, name string, groups []string) bool {
	switch to.Kind {
	case rbacv1.UserKind:
		return to.Name == name
	case rbacv1.GroupKind:
		return slices.Contains(groups, to.Name)
	case rbacv1.ServiceAccountKind:
		return serviceaccount.MatchesUsername(to.Namespace, to.Name, name)
	}
	return false
}

func grants(r rbacv1.PolicyRule, g access.Grant) bool {
	has := func(list []string, all, one string) bool {
		return slices.Contains(list, all) || slices.Contains(list, one)
	}
	return has(r.Verbs, rbacv1.VerbAll, string(g.Verb)) &&
		has(r.APIGroups, rbacv1.APIGroupAll, v1alpha1.GroupName) &&
		has(r.Resources, rbacv1.ResourceAll, v1alpha1.QueueResource.Resource) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, string(g.Queue)))
}

// Assumed returns the groups that an API server adds to those of a user.
func Assumed(name string, groups []string) []string {
	groups = slices.Clone(groups)
	if name == user.Anonymous {
		return append(groups, user.AllUnauthenticated)
	}
	if namespace, _, err := serviceaccount.SplitUsername(name); err == nil {
		groups = append(groups, serviceaccount.MakeGroupNames(namespace)...)
	}
	return append(groups, user.AllAuthenticated)
}
