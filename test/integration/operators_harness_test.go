package integration

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// operators is set by make test-operators, which builds them first: hack/build-operators.sh.
var operators = flag.Bool("operators", false, "play with operators that people run")

// operated is a world in which an operator runs as people run it, and Fairway schedules what it makes.
type operated struct {
	*world
	*history
	s *app.Scheduler
}

// operatedWorld has room for 32 pods of one cpu. It runs the operator's program, once its kinds are served.
func operatedWorld(t *testing.T, name string, start func(o *operated)) *operated {
	t.Helper()
	return operatedWorldOf(t, name, "", start)
}

// operatedWorldOf has a scheduler with these profiles, as its configuration states them.
func operatedWorldOf(t *testing.T, name, profiles string, start func(o *operated)) *operated {
	t.Helper()
	if !*operators {
		t.Skip("for make test-operators")
	}
	w := newWorld(t, 4, "8", "32Gi")
	kinds, err := dynamic.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	w.must(localcluster.InstallCRDs(w.ctx, kinds, operatorFile(w, name+"-crds")))
	o := &operated{world: w, history: w.record()}
	o.s, _ = w.run(w.options(profiles), ledger.Options{Journal: 10_000})
	start(o)
	return o
}

func operatorFile(w *world, name string) string {
	w.t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "bin", "tools", "operators", name))
	w.must(err)
	return path
}

// run starts the program of an operator. It ends with the test; what it said is shown if the test fails.
func (o *operated) run(name string, env []string, args ...string) {
	o.t.Helper()
	kubeconfig, err := filepath.Abs(o.cluster.Kubeconfig())
	o.must(err)
	log := filepath.Join(o.t.TempDir(), name+".log")
	child, err := localcluster.StartChild(localcluster.ChildSpec{
		Name: name, Program: operatorFile(o.world, name), Args: args, Dir: o.t.TempDir(), LogPath: log,
		Env: append([]string{"KUBECONFIG=" + kubeconfig}, env...),
	})
	o.must(err)
	o.t.Cleanup(func() {
		if child.Gone() {
			o.t.Errorf("%s ended: %v", name, child.State())
		}
		child.Stop(time.Second)
		if said, err := os.ReadFile(log); o.t.Failed() {
			o.t.Logf("%s: %s (%v)", name, said[max(0, len(said)-8000):], err)
		}
	})
}

// jobSets runs JobSet. Its manager fills in what a JobSet leaves out by a webhook, and does not start without a certificate for it. The webhooks
// for pods are left out: they are for JobSets that have a topology to themselves.
func jobSets(o *operated) {
	o.t.Helper()
	dir := o.t.TempDir()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	o.must(err)
	o.must(os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600))
	o.must(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	port := freePort(o.world)
	config := filepath.Join(dir, "config.yaml")
	o.must(os.WriteFile(config, []byte(fmt.Sprintf(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "0"}
webhook: {host: 127.0.0.1, port: %d, certDir: %s}
`, port, dir)), 0o600))
	o.apply(fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: jobset}
webhooks:
- name: mjobset.kb.io
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{apiGroups: [jobset.x-k8s.io], apiVersions: [v1alpha2], operations: [CREATE, UPDATE], resources: [jobsets]}]
  clientConfig: {url: "https://127.0.0.1:%d/mutate-jobset-x-k8s-io-v1alpha2-jobset", caBundle: %s}
`, port, base64.StdEncoding.EncodeToString(certificate)))
	o.run("jobset", nil, "--config="+config)
}

// trainingJobs runs the controllers of the Training operator, with pod groups for gangs.
func trainingJobs(o *operated) {
	o.t.Helper()
	o.run("training", nil, "--gang-scheduler-name=fairway")
}

// rays runs KubeRay, as it is installed without its optional webhooks. It asks the dashboard of each cluster how far a job is; as its proxy
// the test answers for all of them.
func rays(o *operated) { raysWith(o) }

func raysWith(o *operated, flags ...string) {
	o.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	o.must(err)
	server := &http.Server{Handler: http.HandlerFunc(o.dashboard), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	o.t.Cleanup(func() { _ = server.Close() })
	o.run("kuberay", []string{"HTTP_PROXY=http://" + listener.Addr().String()},
		append([]string{"--metrics-addr=0", "--health-probe-bind-address=0", "--enable-leader-election=false"}, flags...)...)
}

// installedProfiles are the profiles of the configuration that manifests install with a component.
func installedProfiles(t *testing.T, component string) string {
	t.Helper()
	dir := t.TempDir()
	manifests, err := filepath.Abs(filepath.Join("..", "..", "manifests"))
	if err == nil {
		manifests, err = filepath.Rel(dir, manifests)
	}
	text := fmt.Sprintf("resources: [%[1]s]\ncomponents: [%[1]s/%[2]s]\n", manifests, component)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	made, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "bin", "tools", "kubectl"), "kustomize", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	for object := range strings.SplitSeq(string(made), "\n---\n") {
		var file v1.ConfigMap
		if yaml.Unmarshal([]byte(object), &file) == nil && file.Kind == "ConfigMap" && file.Name == "fairway-scheduler" {
			_, profiles, _ := strings.Cut(file.Data["config.yaml"], "\nprofiles:\n")
			return "profiles:\n" + profiles
		}
	}
	t.Fatal("no configuration")
	return ""
}

// dashboard answers what the dashboard of a cluster answers of a job: it is there once the pod that submits it runs, and ends with it.
func (o *operated) dashboard(w http.ResponseWriter, r *http.Request) {
	id, asked := strings.CutPrefix(r.URL.Path, "/api/jobs/")
	if !asked {
		http.NotFound(w, r)
		return
	}
	pods := &v1.PodList{}
	if err := o.client.List(r.Context(), pods, client.InNamespace("default"), client.HasLabels{"batch.kubernetes.io/job-name"}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	status := map[v1.PodPhase]string{v1.PodRunning: "RUNNING", v1.PodSucceeded: "SUCCEEDED"}
	for i := range pods.Items {
		p := &pods.Items[i]
		for _, env := range p.Spec.Containers[0].Env {
			// The address names the service of the cluster's head, so that the job of one cluster is not looked for at another's.
			if env.Value == id && status[p.Status.Phase] != "" && says(p, "RAY_DASHBOARD_ADDRESS", r.URL.Host) {
				_ = json.NewEncoder(w).Encode(map[string]string{"submission_id": id, "status": status[p.Status.Phase]})
				return
			}
		}
	}
	http.NotFound(w, r)
}

func says(p *v1.Pod, name, value string) bool {
	for _, env := range p.Spec.Containers[0].Env {
		if env.Name == name {
			return env.Value == value
		}
	}
	return false
}

func freePort(w *world) int {
	w.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	port := listener.Addr().(*net.TCPAddr).Port
	w.must(listener.Close())
	return port
}

// template is a pod template for a queue, as YAML in one line. Its container runs for so many seconds, "" for ever.
func template(queue, container, cpu, seconds string) string {
	return fmt.Sprintf(`{metadata: {labels: {fairway.dev/queue: %s}, annotations: {fairway.dev/demo-run-seconds: %q}}, spec: {schedulerName: fairway, `+
		`containers: [{name: %s, image: none, resources: {requests: {cpu: %q, memory: 1Gi}, limits: {cpu: %q, memory: 1Gi}}}]}}`,
		queue, seconds, container, cpu, cpu)
}

// never is a template whose containers are not started again, as Jobs demand it.
func never(template string) string {
	return strings.Replace(template, "spec: {", "spec: {restartPolicy: Never, ", 1)
}

// make creates an object. An operator's webhook may need a moment until it answers.
func (o *operated) make(text string) {
	o.t.Helper()
	object := &unstructured.Unstructured{}
	o.must(yaml.Unmarshal([]byte(text), &object.Object))
	object.SetNamespace("default")
	o.until(object.GetName()+" is accepted", func() (bool, string) {
		err := o.client.Create(o.ctx, object)
		return err == nil, fmt.Sprint(err)
	})
}

// untilAll waits until all objects of a kind say so.
func (o *operated) untilAll(apiVersion, kind, what string, say func(object map[string]any) bool) {
	o.t.Helper()
	o.until("every "+kind+" "+what, func() (bool, string) {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(apiVersion)
		list.SetKind(kind + "List")
		o.must(o.client.List(o.ctx, list, client.InNamespace("default")))
		for _, item := range list.Items {
			if !say(item.Object) {
				return false, fmt.Sprintf("%s: %v; pods %v", item.GetName(), item.Object["status"], o.places())
			}
		}
		return len(list.Items) > 0, "there is none"
	})
}

// field is a string somewhere in an object.
func field(object map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(object, path...)
	return text
}

// condition reports whether an object has a condition.
func condition(object map[string]any, name string) bool {
	conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == name && c["status"] == "True" {
			return true
		}
	}
	return false
}

// places is where the pods are, or what they wait for.
func (o *operated) places() map[string]string {
	o.t.Helper()
	at := map[string]string{}
	for name, p := range o.pods() {
		at[name] = p.Spec.NodeName
		if q := queuedCondition(p); p.Spec.NodeName == "" && q != nil {
			at[name] = q.Reason + ": " + q.Message
		}
	}
	return at
}

// part is what Fairway recognises by a pod: its application, and its role there.
type part struct {
	application string
	role        application.Role
}

func partOf(p *v1.Pod) part {
	name, role := convert.ApplicationOf(p)
	return part{name, role}
}

// bindings plays the history of a queue: after each pod that got a node, see is handed those that have one and have not ended, that pod the last.
func (o *operated) bindings(queue string, see func(running []*v1.Pod)) {
	o.t.Helper()
	var running []*v1.Pod
	had := map[string]bool{}
	for _, p := range o.of(func(p *v1.Pod) bool { return p.Labels["fairway.dev/queue"] == queue && p.Spec.NodeName != "" }) {
		ended := p.DeletionTimestamp != nil || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
		switch uid := string(p.UID); {
		case ended:
			running = without(running, p)
		case !had[uid]:
			had[uid] = true
			running = append(running, p)
			see(running)
		}
	}
}

func without(pods []*v1.Pod, gone *v1.Pod) (rest []*v1.Pod) {
	for _, p := range pods {
		if p.UID != gone.UID {
			rest = append(rest, p)
		}
	}
	return rest
}

// roles counts the pods of a queue that got a node, by application and role.
func (o *operated) roles(queue string) map[string]map[string]int {
	o.t.Helper()
	n := map[string]map[string]int{}
	o.bindings(queue, func(running []*v1.Pod) {
		is := partOf(running[len(running)-1])
		if n[is.application] == nil {
			n[is.application] = map[string]int{}
		}
		n[is.application][is.role.String()]++
	})
	return n
}

// most is how many of the pods that are meant had a node at a time.
func (o *operated) most(queue string, meant func(part) bool) (most int) {
	o.t.Helper()
	o.bindings(queue, func(running []*v1.Pod) {
		n := 0
		for _, p := range running {
			n += btoi(meant(partOf(p)))
		}
		most = max(most, n)
	})
	return most
}

// mostApplications is how many applications had a pod on a node at a time.
func (o *operated) mostApplications(queue string) (most int) {
	o.t.Helper()
	o.bindings(queue, func(running []*v1.Pod) {
		names := map[string]bool{}
		for _, p := range running {
			names[partOf(p).application] = true
		}
		most = max(most, len(names))
	})
	return most
}
