// Package access proves manifests/access and the scheduler's own checks on a real control plane with RBAC and real users: who may submit to which
// queue, who may write which Queue, and that both locks say the same in the same words.
package access

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

var manifests = filepath.Join("..", "..", "manifests")

// team is a control plane with a tree of queues, closed to all but those who were granted something.
type team struct {
	*people.World
	home  string // a namespace in which all may edit
	users map[string]*people.User
	ready bool
}

var shared struct {
	sync.Mutex
	*team
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if shared.team != nil {
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// queues of the tree, all without children but root.ads and root.ads.etl.
var queues = []string{"root.ads", "root.ads.etl", "root.ads.etl.nightly", "root.ads.etl.day", "root.ads.adhoc", "root.web", "root.default"}

// leaves, and who may submit there, by what granted has.
var leaves = []string{"root.ads.etl.nightly", "root.ads.etl.day", "root.ads.adhoc", "root.web", "root.default"}

var maySubmit = map[string]string{ // one letter for each of the leaves
	"ada":   "yyy--",
	"bob":   "yy---",
	"carol": "---y-",
	"robot": "y----",
	"dan":   "-----",
	"erin":  "yyyyy",
}

var mayAdminister = map[string]string{ // one letter for each of the queues; nobody else any
	"bob":  "-yyy---",
	"erin": "yyyyyyy",
}

// granted is what the users were given themselves. dan has nothing, carol what her group web has, erin a role that is installed.
var granted = []struct{ user, verb, queue string }{
	{"ada", "submit", "root.ads"}, {"bob", "administer", "root.ads.etl"}, {"robot", "submit", "root.ads.etl.nightly"},
}

func right(verb, queue string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"}, ResourceNames: []string{queue}}
}

// world starts the control plane, with everything installed but the binding that opens the tree.
func world(t *testing.T) *team {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.team != nil {
		if !shared.ready {
			t.Fatal("the world of all tests did not come up: see the first of them")
		}
		return shared.team
	}
	ctx := t.Context()
	w, err := people.Start(context.Background(), localcluster.Options{AccountPerController: true, KWOK: true})
	must(t, err)
	shared.team = &team{World: w, users: map[string]*people.User{}}
	s := shared.team
	must(t, w.Cluster.AddNodes(ctx, "node", 1, corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100"), corev1.ResourceMemory: resource.MustParse("400Gi"), corev1.ResourcePods: resource.MustParse("1000"),
	}))
	s.install(t, "")
	_, err = w.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd/queues.scheduling.fairway.dev")
	must(t, err)
	s.install(t, "identity")
	s.install(t, "access")
	must(t, w.PoliciesSettle(ctx))
	s.home = w.Namespace(t, "home")
	for _, name := range []string{"ada", "bob", "dan", "erin"} {
		s.users[name] = w.Person(t, name, "staff")
	}
	s.users["carol"], s.users["robot"] = w.Person(t, "carol", "staff", "web"), w.Account(t, s.home, "robot")
	for _, u := range s.users {
		w.Edit(t, s.home, u)
	}
	for _, g := range granted {
		s.Allow(t, s.users[g.user], "", right(g.verb, g.queue))
	}
	s.AllowGroup(t, "web", "", right("submit", "root.web"))
	s.Give(t, s.users["erin"], "fairway-administer-root")
	for _, q := range queues {
		must(t, w.Admin.Client.Create(ctx, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: q}}))
	}
	s.ready = true
	return s
}

func (s *team) install(t *testing.T, folder string) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), "apply", "--server-side", "--validate=strict", "-k", filepath.Join(manifests, folder))
	must(t, err)
}

// closed is world, with the tree closed to all but those who were granted something.
func closed(t *testing.T) *team {
	t.Helper()
	s := world(t)
	must(t, client.IgnoreNotFound(s.Admin.Client.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "fairway-everyone-submits"}})))
	people.Until(t, "dan may not submit", func() error {
		if err := s.users["dan"].Client.Create(t.Context(), s.pod("root.web"), client.DryRunAll); err == nil {
			return fmt.Errorf("dan may")
		}
		return nil
	})
	return s
}

func (s *team) names() []string {
	names := make([]string, 0, len(s.users))
	for name := range s.users {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pod asks for a queue by its label; "" names none.
func (s *team) pod(queue string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.home, GenerateName: "pod-"}}
	p.Spec = corev1.PodSpec{SchedulerName: v1alpha1.SchedulerName, Containers: []corev1.Container{{Name: "c", Image: "none", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")},
	}}}}
	if queue != "" {
		p.Labels = map[string]string{v1alpha1.KeyQueue: queue}
	}
	return p
}

// parse makes an object of YAML, in which QUEUE is a queue.
func (s *team) parse(t *testing.T, text, queue string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(strings.ReplaceAll(text, "QUEUE", queue)), &u.Object))
	u.SetNamespace(s.home)
	u.SetGenerateName("made-")
	return u
}

// refusal is what a user is told who may not submit, by the API server and by the scheduler.
func refusal(user, queue string) string {
	return reason.Reason{Code: reason.SubmitForbidden, Queue: queue, Details: reason.Submitter{User: user}}.Text()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
