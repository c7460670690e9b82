package plan

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const (
	rbac = "rbac.authorization.k8s.io/v1"
	// Everybody whom the API server knows.
	everybody = "system:authenticated"
	// The binding that manifests/access installs, which opens the tree to everybody.
	openBinding = "fairway-everyone-submits"
	openRole    = "fairway-submit-root"
)

type grant struct {
	verb string
	path queue.Path
}

type subjects struct{ users, groups []string }

// Grant gives the users and groups of a list a verb on a queue, by a ClusterRole and a ClusterRoleBinding.
func (p *Plan) Grant(n *Note, verb string, path queue.Path, list value.ACL) {
	if list.Nobody() {
		n.Remark("nobody: no binding")
		return
	}
	if p.grants == nil {
		p.grants = map[grant]*subjects{}
	}
	g := grant{verb, path}
	to := p.grants[g]
	if to == nil {
		to = &subjects{}
		p.grants[g] = to
	}
	if list.Everyone {
		list = value.ACL{Groups: []string{everybody}}
	}
	to.users, to.groups = union(to.users, list.Users), union(to.groups, list.Groups)
	n.shows("ClusterRoleBinding " + g.name())
}

func union(a, b []string) []string {
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

func (g grant) name() string { return g.verb + "-" + string(g.path) }

// addAccess makes the objects of all grants.
func (p *Plan) addAccess() {
	all := make([]grant, 0, len(p.grants))
	for g := range p.grants {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b grant) int {
		if c := queue.ComparePaths(a.path, b.path); c != 0 {
			return c
		}
		return -strings.Compare(a.verb, b.verb) // submit, reserve, administer
	})
	for _, g := range all {
		role := &Object{APIVersion: rbac, Kind: "ClusterRole", Name: g.name()}
		role.Put("rules", List{Map{
			{"apiGroups", List{"scheduling.fairway.dev"}}, {"resources", List{"queues"}}, {"resourceNames", List{string(g.path)}}, {"verbs", List{g.verb}},
		}})
		to := p.grants[g]
		p.access = append(p.access, role, binding(g.name(), g.name(), to.users, to.groups))
	}
}

func binding(name, role string, users, groups []string) *Object {
	b := &Object{APIVersion: rbac, Kind: "ClusterRoleBinding", Name: name}
	b.Put("roleRef", Map{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role}})
	list := List{}
	add := func(kind string, names []string) {
		for _, name := range names {
			list = append(list, Map{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}})
		}
	}
	add("User", users)
	add("Group", groups)
	b.Put("subjects", list)
	return b
}

// Close empties the binding that is installed at first, with which everybody may submit to every queue.
func (p *Plan) Close(n *Note) {
	b := binding(openBinding, openRole, nil, nil)
	b.Comment = "Closes the tree: without it the binding of this name in manifests/access lets everybody submit to all queues."
	p.access = append(p.access, b)
	n.shows("ClusterRoleBinding " + openBinding + " without subjects")
}
