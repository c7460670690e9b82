package access

import (
	"bytes"
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

// shown are the leaves for which the command says that the user may submit, in the letters of maySubmit.
func shown(t *testing.T, out string) string {
	t.Helper()
	var answer struct {
		Queues []struct {
			Name   string
			Submit bool
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	letters := map[string]string{}
	for _, q := range answer.Queues {
		letters[q.Name] = "-"
		if q.Submit {
			letters[q.Name] = "y"
		}
	}
	text := ""
	for _, leaf := range leaves {
		text += letters[leaf]
	}
	return text
}

// The command says what admission and the scheduler do, about others to those who may ask, and about oneself to all who may list Queues.
func TestTheCommandShowsWhatUsersMayDo(t *testing.T) {
	s := closed(t)
	for _, name := range s.names() {
		u := s.users[name]
		out, failed := command(t, s.Cluster.Kubeconfig(), "access", u.Name, "--groups", strings.Join(u.Groups, ","), "-o", "json")
		if got := shown(t, out); got != maySubmit[name] || failed != "" {
			t.Errorf("%s may submit to %s, shown is %s %s", name, maySubmit[name], got, failed)
		}
	}
	adas, err := s.Cluster.KubeconfigFor("ada", "staff")
	must(t, err)
	defer s.Allow(t, s.users["ada"], "", rbacv1.PolicyRule{Verbs: []string{"list"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"}})()
	out, failed := command(t, adas, "access", "-o", "json")
	if got := shown(t, out); got != maySubmit["ada"] || failed != "" {
		t.Errorf("ada is shown %s %s", got, failed)
	}
	if _, failed := command(t, adas, "access", "bob"); !strings.Contains(failed, "fairway-access-reviewer") {
		t.Errorf("ada asks about bob: %s", failed)
	}
}
