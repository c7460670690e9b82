package permissions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/fairway-scheduler/fairway/test/people"
)

const user = "system:serviceaccount:" + namespace + ":" + account

// auditPolicy has the API server log what the scheduler asks for, without contents.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: ["` + user + `"]}
- {level: None}
`

// right is a right that a role gives, or what a request needs. The resource is with its subresource. As a right, "" means every namespace, any name.
type right struct{ verb, group, resource, namespace, name string }

func (r right) String() string {
	text := r.verb + " " + r.resource
	if r.group != "" {
		resource, subresource, _ := strings.Cut(r.resource, "/")
		text = strings.TrimSuffix(r.verb+" "+resource+"."+r.group+"/"+subresource, "/")
	}
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	if r.name != "" {
		text += " named " + r.name
	}
	return text
}

func (r right) covers(request right) bool {
	return r.verb == request.verb && r.group == request.group && r.resource == request.resource &&
		(r.namespace == "" || r.namespace == request.namespace) && (r.name == "" || r.name == request.name)
}

// audit reads the log of the API server while that is written.
type audit struct {
	path    string
	offset  int64
	used    map[right]int // how often
	refused []string
}

// startAudit returns the flags that have the API server write a log, and its reader.
func startAudit(t *testing.T) ([]string, *audit) {
	t.Helper()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	must(t, os.WriteFile(policy, []byte(auditPolicy), 0o600))
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}, &audit{path: log, used: map[right]int{}}
}

// read takes in what was written since.
func (a *audit) read(t *testing.T) {
	t.Helper()
	file, err := os.Open(a.path)
	must(t, err)
	defer file.Close()
	_, err = file.Seek(a.offset, io.SeekStart)
	must(t, err)
	text, err := io.ReadAll(file)
	must(t, err)
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the last line may not be complete
	a.offset += int64(len(text))
	for line := range bytes.Lines(text) {
		var e auditv1.Event
		must(t, json.Unmarshal(line, &e))
		a.take(&e, string(line))
	}
}

// forget leaves out what the test asked for in the name of the account, to know who that is.
func (a *audit) forget(t *testing.T) {
	t.Helper()
	a.read(t)
	clear(a.used)
}

func (a *audit) take(e *auditv1.Event, line string) {
	switch {
	case e.User.Username != user:
		return
	case e.ResponseStatus != nil && (e.ResponseStatus.Code == http.StatusForbidden || e.ResponseStatus.Code == http.StatusUnauthorized):
		a.refused = append(a.refused, line)
	case e.ObjectRef != nil:
		request := right{e.Verb, e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Namespace, e.ObjectRef.Name}
		if e.ObjectRef.Subresource != "" {
			request.resource += "/" + e.ObjectRef.Subresource
		}
		a.used[request]++
		// API servers from 1.36 on ask themselves for a second right when the allocation or the reservations in the status of a claim change.
		if request.resource == "resourceclaims/status" {
			request.resource = "resourceclaims/binding"
			a.used[request]++
		}
	}
}

func (a *audit) uses(r right) bool {
	for request := range a.used {
		if r.covers(request) {
			return true
		}
	}
	return false
}

// verdict compares what the scheduler used with what it is granted.
func (a *audit) verdict(t *testing.T, granted []right) {
	t.Helper()
	a.read(t)
	for _, line := range a.refused {
		t.Errorf("refused: %s", line)
	}
	times := make(map[right]int, len(granted))
	for request, n := range a.used {
		// A right that another includes is one too many: only the first counts as used.
		i := slices.IndexFunc(granted, func(r right) bool { return r.covers(request) })
		if i < 0 {
			t.Errorf("not by the roles of manifests/rbac: %s", request)
			continue
		}
		times[granted[i]] += n
	}
	for _, r := range granted {
		if times[r] == 0 {
			t.Errorf("granted and not used: %s", r)
		}
	}
	if t.Failed() || testing.Verbose() {
		var lines []string
		for r, n := range times {
			lines = append(lines, fmt.Sprintf("%6d %s", n, r))
		}
		slices.Sort(lines)
		t.Logf("%d of %d rights were used:\n%s", len(times), len(granted), strings.Join(lines, "\n"))
	}
}

// grants are the rights of the scheduler's account by every role that is bound to it, those for all namespaces first.
func grants(t *testing.T, w *people.World) (all []right) {
	t.Helper()
	ctx, rbac := t.Context(), w.Admin.Kube.RbacV1()
	wide, err := rbac.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	must(t, err)
	for _, b := range wide.Items {
		if bound(b.Subjects) {
			role, err := rbac.ClusterRoles().Get(ctx, b.RoleRef.Name, metav1.GetOptions{})
			must(t, err)
			all = append(all, spell(t, role.Rules, "")...)
		}
	}
	narrow, err := rbac.RoleBindings(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	must(t, err)
	for _, b := range narrow.Items {
		if bound(b.Subjects) {
			if b.RoleRef.Kind != "Role" {
				t.Fatalf("RoleBinding %s is of a %s", b.Name, b.RoleRef.Kind)
			}
			role, err := rbac.Roles(b.Namespace).Get(ctx, b.RoleRef.Name, metav1.GetOptions{})
			must(t, err)
			all = append(all, spell(t, role.Rules, b.Namespace)...)
		}
	}
	return all
}

func bound(subjects []rbacv1.Subject) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == namespace && s.Name == account
	})
}

// spell writes out rules as single rights. A wildcard stays one, which no request uses.
func spell(t *testing.T, rules []rbacv1.PolicyRule, namespace string) (all []right) {
	t.Helper()
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 {
			t.Errorf("the scheduler asks for no such URLs: %v", rule.NonResourceURLs)
		}
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all = append(all, right{verb, group, resource, namespace, name})
					}
				}
			}
		}
	}
	return all
}

// The names of resources in an audit log and in a role are compared as text: here is what that text means.
func TestRightsCoverRequests(t *testing.T) {
	lease := right{"get", "coordination.k8s.io", "leases", namespace, account}
	for _, c := range []struct {
		granted right
		want    bool
	}{
		{lease, true},
		{right{"get", "coordination.k8s.io", "leases", "", ""}, true},
		{right{"get", "coordination.k8s.io", "leases", "default", ""}, false},
		{right{"get", "coordination.k8s.io", "leases", namespace, "another"}, false},
		{right{"get", "", "leases", namespace, account}, false},
		{right{"list", "coordination.k8s.io", "leases", namespace, account}, false},
		{right{"get", "coordination.k8s.io", "leases/status", namespace, account}, false},
		{right{"*", "*", "*", "", ""}, false},
	} {
		if got := c.granted.covers(lease); got != c.want {
			t.Errorf("%s covers %s: %v", c.granted, lease, got)
		}
	}
}
