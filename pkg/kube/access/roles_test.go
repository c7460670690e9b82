package access

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestRolesGrantAsRBACDoes(t *testing.T) {
	role := func(name, verbs, group, resources string, names ...string) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"part": name}}, Rules: []rbacv1.PolicyRule{{
			Verbs: strings.Split(verbs, ","), APIGroups: []string{group}, Resources: strings.Split(resources, ","), ResourceNames: names,
		}}}
	}
	bind := func(role string, to rbacv1.Subject) *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{RoleRef: rbacv1.RoleRef{Name: role}, Subjects: []rbacv1.Subject{to}}
	}
	to := func(kind, name string) rbacv1.Subject { return rbacv1.Subject{Kind: kind, Name: name, Namespace: "ns"} }
	const group = "scheduling.fairway.dev"
	roles := []*rbacv1.ClusterRole{
		role("ads", "submit", group, "queues", "root.ads"), role("all", "*", "*", "*"), role("any", "submit,administer", group, "queues"),
		role("other-group", "*", "apps", "*"), role("other-resource", "*", group, "queues/status"), role("reader", "get,list", group, "queues"),
		{ObjectMeta: metav1.ObjectMeta{Name: "sum"}, AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"part": "ads"}}}}},
	}
	for name, c := range map[string]struct {
		role string
		to   rbacv1.Subject
		user string
		with []string
		verb access.Verb
		on   queue.Path
		want bool
	}{
		"a user":                      {"ads", to("User", "ada"), "ada", nil, access.Submit, "root.ads", true},
		"another user":                {"ads", to("User", "ada"), "bob", nil, access.Submit, "root.ads", false},
		"a group":                     {"ads", to("Group", "team"), "bob", []string{"team"}, access.Submit, "root.ads", true},
		"a user is no group":          {"ads", to("Group", "bob"), "bob", nil, access.Submit, "root.ads", false},
		"an account":                  {"ads", to("ServiceAccount", "robot"), "system:serviceaccount:ns:robot", nil, access.Submit, "root.ads", true},
		"an account elsewhere":        {"ads", to("ServiceAccount", "robot"), "system:serviceaccount:other:robot", nil, access.Submit, "root.ads", false},
		"another verb":                {"ads", to("User", "ada"), "ada", nil, access.Administer, "root.ads", false},
		"another queue":               {"ads", to("User", "ada"), "ada", nil, access.Submit, "root.ads.etl", false}, // what lies above is asked about by Decide
		"everything":                  {"all", to("User", "ada"), "ada", nil, access.Administer, "root.x", true},
		"all queues":                  {"any", to("User", "ada"), "ada", nil, access.Administer, "root.x", true},
		"another group of APIs":       {"other-group", to("User", "ada"), "ada", nil, access.Submit, "root", false},
		"a part of queues":            {"other-resource", to("User", "ada"), "ada", nil, access.Submit, "root", false},
		"reading":                     {"reader", to("User", "ada"), "ada", nil, access.Submit, "root", false},
		"a role made of others":       {"sum", to("User", "ada"), "ada", nil, access.Submit, "root.ads", true},
		"a role that is not there":    {"gone", to("User", "ada"), "ada", nil, access.Submit, "root", false},
		"those who may do everything": {"gone", to("User", "x"), "ada", []string{"system:masters"}, access.Administer, "root", true},
	} {
		t.Run(name, func(t *testing.T) {
			review := Roles(roles, []*rbacv1.ClusterRoleBinding{bind(c.role, c.to)})
			got, err := review(t.Context(), access.NewSubject(c.user, c.with), access.Grant{Queue: c.on, Verb: c.verb})
			if err != nil || got != c.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestAssumedGroups(t *testing.T) {
	for name, want := range map[string]string{
		"ada":                            "own system:authenticated",
		"system:serviceaccount:ns:robot": "own system:serviceaccounts system:serviceaccounts:ns system:authenticated",
		"system:anonymous":               "own system:unauthenticated",
	} {
		if got := Assumed(name, []string{"own"}); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
