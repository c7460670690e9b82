package identity

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

var durable = flag.Bool("durable", false, "measure with an etcd that waits for the disk, as that of a real cluster does")

// What identity costs, and access: pods for Fairway are created on a control plane with the policies (or with a webhook that does the same) and on one without,
// in turns, so that whatever else the machine does falls on both. Latencies are the client's. What the API server needs for a request is steadier
// than they are: its CPU (whatever else it does meanwhile is the same on both), the memory that it allocates, and how long its admission takes.
//
//	go test ./test/identity -run=^$ -bench=PodCreate -benchtime=4000x -durable
func BenchmarkPodCreate(b *testing.B) {
	for _, tc := range []struct {
		name    string
		workers int
		as      func(testing.TB, *people.World, string) *creator
		stamps  func(testing.TB, *people.World)
		beside  func(testing.TB, *people.World) // on the other one
	}{
		{"by people", 1, byPeople, withPolicies, nil},
		{"by people, eight at a time", 8, byPeople, withPolicies, nil},
		{"by Deployments", 1, byController("replicaset-controller", "ReplicaSet", "pod-template-hash"), withPolicies, nil},
		{"by StatefulSets", 1, byController("statefulset-controller", "StatefulSet", "controller-revision-hash"), withPolicies, nil},
		{"by people, with a webhook instead", 1, byPeople, withWebhook, nil},
		{"by people, with the least that stamps", 1, byPeople, withTheLeast, nil},
		{"access beside identity, by people", 1, byPeople, withAccess, withPolicies},
		{"access beside identity, by people in a closed tree", 1, byPeople, withClosedAccess, withPolicies},
		{"access beside identity, by Deployments", 1, byController("replicaset-controller", "ReplicaSet", "pod-template-hash"), withAccess, withPolicies},
		{"access beside identity, by StatefulSets", 1, byController("statefulset-controller", "StatefulSet", "controller-revision-hash"), withAccess, withPolicies},
	} {
		b.Run(tc.name, func(b *testing.B) {
			with, without := planeOf(b, tc.as, tc.stamps), planeOf(b, tc.as, tc.beside)
			const block = 40                              // long enough that the two do not share a moment, short enough that both see the same machine
			for _, c := range []*creator{with, without} { // connections, caches, compiled expressions
				c.run(b, tc.workers, 200)
				c.took, c.before = nil, c.needs(b)
			}
			for b.ResetTimer(); len(with.took) < b.N; {
				with.run(b, tc.workers, block)
				without.run(b, tc.workers, block)
			}
			b.StopTimer()
			report(b, with, without)
		})
	}
}

func report(b *testing.B, with, without *creator) {
	b.Helper()
	n := float64(len(with.took))
	for _, p := range []struct {
		name string
		part float64
	}{{"p50", .5}, {"p90", .9}, {"p99", .99}} {
		a, z := quantile(with.took, p.part), quantile(without.took, p.part)
		b.ReportMetric(float64(a.Microseconds()), p.name+"-with-µs")
		b.ReportMetric(float64(z.Microseconds()), p.name+"-without-µs")
		b.ReportMetric(float64(a)/float64(z), p.name+"-ratio")
	}
	a, z := with.needs(b), without.needs(b)
	for i, metric := range needs {
		b.ReportMetric((a[i]-with.before[i])/n*metric.scale, metric.unit+"-with")
		b.ReportMetric((z[i]-without.before[i])/n*metric.scale, metric.unit+"-without")
	}
}

// A creator creates the same pod again and again, and keeps how long each took.
type creator struct {
	*people.User
	world  *people.World
	pod    *corev1.Pod
	took   []time.Duration
	before []float64
}

func (c *creator) run(b *testing.B, workers, n int) {
	b.Helper()
	var all sync.WaitGroup
	var mutex sync.Mutex
	for range workers {
		all.Go(func() {
			for range n / workers {
				began := time.Now()
				if _, err := c.Kube.CoreV1().Pods(c.pod.Namespace).Create(b.Context(), c.pod, metav1.CreateOptions{}); err != nil {
					b.Error(err)
				}
				d := time.Since(began)
				mutex.Lock()
				c.took = append(c.took, d)
				mutex.Unlock()
			}
		})
	}
	all.Wait()
}

// needs are what the API server counts, with the labels that a series must have.
var needs = []struct {
	unit, series, labels string
	scale                float64
}{
	{"cpu-µs", "process_cpu_seconds_total", "", 1e6},
	{"alloc-KB", "go_memstats_alloc_bytes_total", "", 1e-3},
	{"mutating-µs", "apiserver_admission_step_admission_duration_seconds_sum", `operation="CREATE",rejected="false",type="admit"`, 1e6},
	{"validating-µs", "apiserver_admission_step_admission_duration_seconds_sum", `operation="CREATE",rejected="false",type="validate"`, 1e6},
}

func (c *creator) needs(b *testing.B) []float64 {
	b.Helper()
	text, err := c.world.Admin.Kube.CoreV1().RESTClient().Get().AbsPath("/metrics").Do(b.Context()).Raw()
	must(b, err)
	found := make([]float64, len(needs))
	for line := range strings.Lines(string(text)) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, labels, _ := strings.Cut(series, "{")
		for i, metric := range needs {
			if name == metric.series && strings.Contains(labels, metric.labels) {
				v, err := strconv.ParseFloat(value, 64)
				must(b, err)
				found[i] += v
			}
		}
	}
	return found
}

// planeOf starts a control plane, with what stamps pods there, and says who creates them.
func planeOf(b *testing.B, as func(testing.TB, *people.World, string) *creator, stamps func(testing.TB, *people.World)) *creator {
	b.Helper()
	w := startWorld(b, localcluster.Options{Durable: *durable})
	b.Cleanup(func() { must(b, w.Stop()) })
	if stamps != nil {
		stamps(b, w)
	}
	home := w.Namespace(b, "cost")
	c := as(b, w, home)
	c.world = w
	if c.pod.Labels == nil {
		c.pod.Labels = map[string]string{}
	}
	c.pod.Labels[v1alpha1.KeyQueue] = "root.ads.etl"
	w.Edit(b, home, c.User)
	must(b, w.Cluster.Kill(localcluster.ControllerManager)) // which has work with the pods
	return c
}

func withPolicies(t testing.TB, w *people.World) { install(t, w, "identity") }

// withTheLeast stamps with as little as a policy can do: one policy without conditions, asked once, and nothing checks the stamp. No set of policies
// that stamps costs less.
func withTheLeast(t testing.TB, w *people.World) {
	w.Apply(t, `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: least}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{annotations: {'fairway.dev/user': request.userInfo.username}}}"}
`)
	w.Apply(t, `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: least}
spec: {policyName: least}
`)
	must(t, w.PoliciesSettle(t.Context()))
}

func withAccess(t testing.TB, w *people.World) {
	install(t, w, "identity")
	install(t, w, "access")
}

// withClosedAccess grants everybody a queue three levels down, and nothing above.
func withClosedAccess(t testing.TB, w *people.World) {
	withAccess(t, w)
	must(t, w.Admin.Kube.RbacV1().ClusterRoleBindings().Delete(t.Context(), "fairway-everyone-submits", metav1.DeleteOptions{}))
	w.Allow(t, w.Person(t, "ann", "analysts", "builders"), "", rbacv1.PolicyRule{
		Verbs: []string{"submit"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"}, ResourceNames: []string{"root.ads.etl"}})
}

func byPeople(t testing.TB, w *people.World, home string) *creator {
	return &creator{User: w.Person(t, "ann", "analysts", "builders"), pod: podFor(home, "")}
}

// byController is a controller with a pod of a template that is ann's. The pod's owner does not exist, which only the garbage collector would mind.
func byController(account, kind, label string) func(testing.TB, *people.World, string) *creator {
	return func(t testing.TB, w *people.World, home string) *creator {
		c := &creator{User: w.Account(t, "kube-system", account), pod: podFor(home, "")}
		c.pod.Labels = map[string]string{label: "7d4b9c", "app": "web"}
		c.pod.Annotations = map[string]string{"fairway.dev/user": "ann", keyGroups: "analysts,builders,system:authenticated"}
		c.pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "web", UID: "web", Controller: ptr.To(true)}}
		return c
	}
}

func quantile(all []time.Duration, part float64) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[int(part*float64(len(all)-1))]
}
