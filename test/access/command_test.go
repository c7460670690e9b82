package access

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// command runs `kubectl fairway` with a kubeconfig.
func command(t *testing.T, kubeconfig string, args ...string) (out, failed string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cli.Run(t.Context(), append(args, "--kubeconfig", kubeconfig), cli.Environment{Out: tty.Screen{Out: &stdout}, Err: &stderr, Now: time.Now})
	return stdout.String(), stderr.String()
}

// shown are the queues with which the command says that the user may do something, "submit" or "administer", in letters: one for each of those named.
func shown(t *testing.T, out, verb string, of []string) string {
	t.Helper()
	var answer struct{ Queues []map[string]any }
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	letters := map[string]string{}
	for _, q := range answer.Queues {
		name, _ := q["name"].(string)
		letters[name] = "-"
		if q[verb] == true {
			letters[name] = "y"
		}
	}
	text := ""
	for _, name := range of {
		text += letters[name]
	}
	return text
}

// The command says what admission and the scheduler do, about others to those who may ask, and about oneself to all who may list Queues.
func TestTheCommandShowsWhatUsersMayDo(t *testing.T) {
	s := closed(t)
	shows := func(name, out, failed string) {
		t.Helper()
		administers := cmp.Or(mayAdminister[name], strings.Repeat("-", len(queues)))
		if got := shown(t, out, "submit", leaves); got != maySubmit[name] || failed != "" {
			t.Errorf("%s may submit to %s, shown is %s %s", name, maySubmit[name], got, failed)
		}
		if got := shown(t, out, "administer", queues); got != administers {
			t.Errorf("%s may administer %s, shown is %s", name, administers, got)
		}
	}
	for _, name := range s.names() {
		u := s.users[name]
		out, failed := command(t, s.Cluster.Kubeconfig(), "access", u.Name, "--groups", strings.Join(u.Groups, ","), "-o", "json")
		shows(name, out, failed)
	}
	out, failed := command(t, s.Cluster.Kubeconfig(), "access", "carol", "-o", "json") // what she may is her group's
	shows("dan", out, failed)

	adas, err := s.Cluster.KubeconfigFor("ada", "staff")
	must(t, err)
	revoke := s.Allow(t, s.users["ada"], "", rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"}})
	out, failed = command(t, adas, "access", "-o", "json")
	shows("ada", out, failed)
	if _, failed := command(t, adas, "access", "bob"); !strings.Contains(failed, "fairway-access-reviewer") {
		t.Errorf("ada asks about bob: %s", failed)
	}
	revoke()
	defer s.Give(t, s.users["ada"], "fairway-access-reviewer")()
	out, failed = command(t, adas, "access", "bob", "-o", "json")
	shows("bob", out, failed)
}
