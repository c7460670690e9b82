package access

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/test/inprocess"
	"github.com/fairway-scheduler/fairway/test/people"
)

// schedule runs the scheduler in this process as its service account, with the installed configuration and checkAccess, until the test ends. It asks
// again after a while; how many questions it asks in a second is limited, so what is new waits for those.
func (s *team) schedule(t *testing.T, again time.Duration) {
	t.Helper()
	inprocess.Start(t, s.configuration(t), s.Account(t, "fairway-system", "fairway-scheduler").Kubeconfig(t), app.Options{Recheck: again})
}

// configuration is that of the scheduler in a kustomization that installs everything.
func (s *team) configuration(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp(".", "install-") // it may name others by relative paths only
	must(t, err)
	defer func() { must(t, os.RemoveAll(folder)) }()
	up := filepath.Join("..", manifests)
	must(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"),
		fmt.Appendf(nil, "resources: [%[1]s, %[1]s/identity, %[1]s/access]\ncomponents: [%[1]s/access/check]\n", up), 0o600))
	all, err := s.Kubectl(t.Context(), "kustomize", folder)
	must(t, err)
	for text := range strings.SplitSeq(all, "\n---\n") {
		var object struct {
			Kind string
			Data map[string]string
		}
		must(t, yaml.Unmarshal([]byte(text), &object))
		if config := object.Data["config.yaml"]; object.Kind == "ConfigMap" && strings.Contains(config, "checkAccess: true") {
			return config
		}
	}
	t.Fatal("no configuration says checkAccess: true")
	return ""
}

// unguarded is a namespace without admission policies, where anybody may write any stamp. The scheduler is the only lock there.
const unguarded = "kube-system"

// stamped is a pod that says to be of a user.
func (s *team) stamped(u *people.User, queue string) *corev1.Pod {
	p := s.pod(queue)
	p.Namespace = unguarded
	p.Annotations = map[string]string{v1alpha1.KeyUser: u.Name, v1alpha1.KeyGroups: strings.Join(u.Groups, ",")}
	return p
}

// fate is what blocks a pod, the reason and message of its condition, or "" and "runs".
func fate(p *corev1.Pod) (reason, message string, err error) {
	if p.Spec.NodeName != "" {
		return "", "runs", nil
	}
	for _, c := range p.Status.Conditions {
		if c.Type == v1alpha1.PodConditionQueued && c.Status == corev1.ConditionTrue {
			return c.Reason, c.Message, nil
		}
	}
	return "", "", fmt.Errorf("it waits and says nothing")
}

func (s *team) fate(t *testing.T, p *corev1.Pod) (reason, message string, err error) {
	t.Helper()
	if err := s.Admin.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		return "", "", err
	}
	return fate(p)
}

func (s *team) await(t *testing.T, p *corev1.Pod, reason, message string) {
	t.Helper()
	people.Until(t, p.Name+" "+reason+message, func() error {
		is, says, err := s.fate(t, p)
		if err == nil && (is != reason || message != "" && says != message) {
			err = fmt.Errorf("%s %s", is, says)
		}
		return err
	})
}

// admitAll takes the policy for submissions out of force until the test ends. Pods and templates are stamped as ever.
func (s *team) admitAll(t *testing.T) {
	t.Helper()
	for _, name := range []string{"fairway-submissions", "fairway-submissions-otherwise"} {
		must(t, s.Admin.Client.Delete(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	must(t, s.PoliciesSettle(t.Context()))
	t.Cleanup(func() {
		ctx := context.Background()
		_, err := s.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(manifests, "access", "submissions.yaml"))
		must(t, err)
		must(t, s.PoliciesSettle(ctx))
	})
}

// submitted is a pod, or what has a controller make one. The pod has the label work.
func (s *team) submitted(t *testing.T, kind, queue, work string) client.Object {
	t.Helper()
	if kind == "Pod" {
		p := s.pod(queue)
		p.Labels["work"] = work
		return p
	}
	o, _ := ways[kind](t, s, queue).(*unstructured.Unstructured)
	must(t, unstructured.SetNestedField(o.Object, work, "spec", "template", "metadata", "labels", "work"))
	if kind == "Job" {
		must(t, unstructured.SetNestedField(o.Object, int64(1), "spec", "parallelism"))
	} else {
		must(t, unstructured.SetNestedField(o.Object, work, "spec", "selector", "matchLabels", "work"))
		must(t, unstructured.SetNestedField(o.Object, int64(1), "spec", "replicas"))
	}
	return o
}

// Where admission refuses nothing, the scheduler comes to the same answers, in the same words: each user, each queue, and pods that users and controllers
// make, with the stamps that they get.
func TestTheSchedulerJudgesAsAdmissionDoes(t *testing.T) {
	s := closed(t)
	s.admitAll(t)
	s.schedule(t, time.Minute)
	began, want, made := time.Now(), map[string]string{}, map[string]client.Object{}
	for _, name := range s.names() {
		for i, queue := range leaves {
			for _, kind := range []string{"Pod", "Deployment", "Job"} {
				work := fmt.Sprintf("%s-%s-%s", name, queue, kind)
				o := s.submitted(t, kind, queue, work)
				must(t, s.users[name].Client.Create(t.Context(), o))
				made[work], want[work] = o, " runs"
				if maySubmit[name][i] != 'y' {
					want[work] = "SubmitForbidden " + refusal(s.users[name].Name, queue)
				}
			}
		}
	}
	people.Until(t, "all run or are blocked", func() error {
		pods := &corev1.PodList{}
		if err := s.Admin.Client.List(t.Context(), pods, client.InNamespace(s.home), client.HasLabels{"work"}); err != nil {
			return err
		}
		got := map[string]string{}
		for i := range pods.Items {
			if p := &pods.Items[i]; want[p.Labels["work"]] != "" {
				reason, says, _ := fate(p)
				got[p.Labels["work"]] = reason + " " + says
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("(-want +got)\n%s", diff)
		}
		return nil
	})
	t.Logf("%d cases in %s", len(want), time.Since(began))

	p, text := made["dan-root.web-Pod"], refusal("dan", "root.web")
	people.Until(t, "an event says so", func() error {
		events := &eventsv1.EventList{}
		err := s.Admin.Client.List(t.Context(), events, client.InNamespace(p.GetNamespace()))
		for i := range events.Items {
			if e := &events.Items[i]; e.Regarding.UID == p.GetUID() && e.Reason == "SubmitForbidden" && e.Note == text {
				return nil
			}
		}
		return fmt.Errorf("none of %d does (%w)", len(events.Items), err)
	})
	out, failed := command(t, s.Cluster.Kubeconfig(), "why", p.GetName(), "-n", p.GetNamespace())
	if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "is blocked (SubmitForbidden)") || !strings.Contains(said, text) || failed != "" {
		t.Errorf("why says %q %s", out, failed)
	}
}

// What changes while pods wait takes effect without a restart. What runs goes on.
func TestAGrantAndItsEndTakeEffectOnPodsThatWait(t *testing.T) {
	s := closed(t)
	s.schedule(t, time.Second)
	dan := s.users["dan"]
	p := s.stamped(dan, "root.web")
	must(t, s.Admin.Client.Create(t.Context(), p))
	s.await(t, p, "SubmitForbidden", refusal("dan", "root.web"))
	revoke := s.Allow(t, dan, "", right("submit", "root.web"))
	s.await(t, p, "", "runs")
	revoke()
	gated := s.stamped(dan, "root.web")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "later"}}
	must(t, s.Admin.Client.Create(t.Context(), gated))
	s.await(t, gated, "SubmitForbidden", "")
	if _, says, err := s.fate(t, p); says != "runs" {
		t.Errorf("the pod that ran: %s %v", says, err)
	}
}

// A pod that names no queue goes to root.default, and the scheduler judges that. A pod without a stamp counts for its service account.
func TestPodsWithoutQueueOrStamp(t *testing.T) {
	s := closed(t)
	s.schedule(t, time.Second)
	unnamed := s.pod("")
	must(t, s.users["ada"].Client.Create(t.Context(), unnamed))
	s.await(t, unnamed, "SubmitForbidden", refusal("ada", "root.default"))
	erins := s.pod("")
	must(t, s.users["erin"].Client.Create(t.Context(), erins))
	s.await(t, erins, "", "runs")

	bare := s.stamped(s.users["dan"], "root.web")
	bare.Annotations = nil
	must(t, s.Admin.Client.Create(t.Context(), bare))
	account := "system:serviceaccount:" + unguarded + ":default"
	s.await(t, bare, "SubmitForbidden", refusal(account, "root.web"))
	revoke := s.Allow(t, &people.User{Name: account, Groups: []string{"system:serviceaccounts", "system:authenticated"}}, "", right("submit", "root.web"))
	s.await(t, bare, "", "runs")
	revoke()
}

// With everybody let in, the scheduler starts everything that names a queue that exists, whether the policies stamp it or not.
func TestAnOpenTreeStartsEverything(t *testing.T) {
	s := world(t)
	s.install(t, "access")
	s.schedule(t, time.Second)
	for _, name := range s.names() {
		p := s.stamped(s.users[name], "root.web")
		must(t, s.Admin.Client.Create(t.Context(), p))
		s.await(t, p, "", "runs")
	}
	bare := s.stamped(s.users["dan"], "root.web")
	bare.Annotations = nil
	must(t, s.Admin.Client.Create(t.Context(), bare))
	s.await(t, bare, "", "runs")
}
