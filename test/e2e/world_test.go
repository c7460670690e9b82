package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	root = "../.." // of the source tree

	// As the manifests have it.
	systemNamespace = "fairway-system"
	serviceAccount  = "system:serviceaccount:" + systemNamespace + ":fairway-scheduler"
	leaseName       = "fairway-scheduler"

	nodes      = 6
	nodeCPU    = 8000
	nodeMemory = 32 << 30
	adhocCPU   = 6000
)

// patience bounds every wait for a condition. It is for a machine that is busy with other things; the conditions come in seconds.
const patience = 2 * time.Minute

// clock is how moments are written.
const clock = "15:04:05.000"

// tree is the queues of every test: with and without max, one max over two queues, one that a guarantee goes before.
var tree = []v1alpha1.Queue{
	declare("root"),
	declare("root.default"),
	declare("root.etl", weight("3")),
	declare("root.adhoc", limit(v1.ResourceCPU, adhocCPU, resource.Milli)),
	declare("root.batch", limit(v1.ResourceMemory, 10<<30, 0), func(q *v1alpha1.Queue) { q.Spec.Policy = v1alpha1.PolicyFIFO }),
	declare("root.lab", weight("2"), limit(v1.ResourceCPU, 12000, resource.Milli)),
	declare("root.lab.a"),
	declare("root.lab.b", limit(v1.ResourceCPU, 7000, resource.Milli), func(q *v1alpha1.Queue) {
		q.Spec.Guaranteed = v1alpha1.Amounts{v1.ResourceCPU: {Text: "3"}}
	}),
}

func declare(name string, edits ...func(*v1alpha1.Queue)) v1alpha1.Queue {
	q := v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, edit := range edits {
		edit(&q)
	}
	return q
}

func weight(text string) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) { n := resource.MustParse(text); q.Spec.Weight = &n }
}

func limit(name v1.ResourceName, value int64, scale resource.Scale) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) {
		q.Spec.Max = v1alpha1.Amounts{name: {Text: resource.NewScaledQuantity(value, scale).String()}}
	}
}

// world is a control plane with Fairway installed as its manifests say, and the clients of the test.
type world struct {
	t        *testing.T
	ctx      context.Context
	cluster  *localcluster.Cluster
	client   client.Client
	kube     kubernetes.Interface
	dir      string // for logs
	began    time.Time
	history  *history
	replicas []*replica
	fronts   []*front        // of the replicas that have one, in their order
	woken    map[sender]bool // those who were stopped while they led
	restarts []restart
}

// restart is when a server of the control plane was away.
type restart struct{ killed, served time.Time }

func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() || !*long {
		t.Skip("takes minutes: make test-long")
	}
	w := &world{t: t, ctx: t.Context(), began: time.Now(), woken: map[sender]bool{}}
	var err error
	// No kube-controller-manager: nothing here needs it, and two cores have enough to do.
	w.cluster, err = localcluster.Start(w.ctx, localcluster.Options{KWOK: true})
	w.must(err)
	t.Cleanup(func() {
		if err := w.cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.dir, err = os.MkdirTemp("", "fairway-e2e-")
	w.must(err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs of the schedulers are in %s", w.dir)
			return
		}
		_ = os.RemoveAll(w.dir)
	})
	scheme := runtime.NewScheme()
	w.must(errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	w.client, err = client.New(w.cluster.RESTConfig(), client.Options{Scheme: scheme})
	w.must(err)
	cheap := rest.CopyConfig(w.cluster.RESTConfig())
	cheap.ContentType, cheap.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+",application/json"
	w.kube, err = kubernetes.NewForConfig(cheap)
	w.must(err)
	w.install()
	w.must(w.cluster.AddNodes(w.ctx, "node", nodes, v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(nodeCPU, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(nodeMemory, resource.BinarySI),
		v1.ResourcePods:   resource.MustParse("500"),
	}))
	w.history = w.watchHistory()
	t.Cleanup(w.judgement)
	return w
}

// install applies the manifests of CRDs and access, and declares the queues.
func (w *world) install() {
	w.t.Helper()
	for _, pattern := range []string{"crds/*.yaml", "scheduler/namespace.yaml", "rbac/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, "manifests", pattern))
		w.must(err)
		if len(files) == 0 {
			w.t.Fatalf("no manifests %s", pattern)
		}
		for _, file := range files {
			w.apply(file)
		}
	}
	for i := range tree {
		q := tree[i].DeepCopy()
		// kube-apiserver says that a CRD is established a moment before every request finds it.
		w.until("Queue "+q.Name+" is created", func() (bool, string) {
			err := w.client.Create(w.ctx, q)
			return err == nil, fmt.Sprint(err)
		})
	}
}

func (w *world) apply(file string) {
	w.t.Helper()
	text, err := os.ReadFile(file)
	w.must(err)
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		w.must(err)
		if len(o.Object) > 0 {
			w.must(w.client.Create(w.ctx, o))
		}
	}
}

// stated is an absolute amount, 0 where there is none.
func stated(m v1alpha1.Amounts, name v1.ResourceName) *resource.Quantity {
	amount, ok := m[name]
	if !ok {
		return &resource.Quantity{}
	}
	q := resource.MustParse(amount.Text)
	return &q
}

func (w *world) watchHistory() *history {
	w.t.Helper()
	most, room := map[string]amounts{}, map[string]amounts{}
	for i := range tree {
		if m := tree[i].Spec.Max; m != nil {
			most[tree[i].Name] = amounts{stated(m, v1.ResourceCPU).MilliValue(), stated(m, v1.ResourceMemory).Value()}
		}
	}
	for i := range nodes {
		room[fmt.Sprintf("node-%d", i)] = amounts{nodeCPU, nodeMemory}
	}
	return watchHistory(w.t, w.kube, most, room)
}

// kubeconfig is that of the service account that the manifests give to the scheduler.
func (w *world) kubeconfig() string {
	w.t.Helper()
	path, err := w.cluster.KubeconfigFor(serviceAccount, "system:serviceaccounts", "system:serviceaccounts:"+systemNamespace)
	w.must(err)
	return path
}

func (w *world) replica(name, kubeconfig string, f *front) *replica {
	w.t.Helper()
	r := startReplica(w.t, name, kubeconfig, w.dir, f)
	w.replicas = append(w.replicas, r)
	return r
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a condition; missing says, in words, what was not so yet.
func (w *world) until(what string, done func() (ok bool, missing string)) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, missing := done()
		if ok {
			return
		}
		for _, r := range w.replicas {
			w.must(r.failure())
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %s: %s%s", what, patience, missing, w.tails())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (w *world) tails() string {
	var text strings.Builder
	for _, r := range w.replicas {
		p := r.now()
		fmt.Fprintf(&text, "\nreplica %s, process %d, logged last:\n%s", r.name, p.number, p.Tail())
	}
	return text.String()
}

// say logs a line with the time since the test began.
func (w *world) say(format string, args ...any) {
	w.t.Helper()
	w.t.Logf("%6.1fs "+format, append([]any{time.Since(w.began).Seconds()}, args...)...)
}

// untilBound waits until so many pods are bound.
func (w *world) untilBound(n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d pods are bound", n), func() (bool, string) {
		b := w.history.bound()
		return b >= n, fmt.Sprintf("%d are", b)
	})
}

// untilBoundAfter waits for a bind after a revision, and returns it.
func (w *world) untilBoundAfter(version uint64) (first bind) {
	w.t.Helper()
	w.until("pods are bound again", func() (ok bool, _ string) {
		first, ok = w.history.firstBindAfter(version)
		return ok, fmt.Sprintf("%d are bound", w.history.bound())
	})
	return first
}

// restart kills a server of the control plane as kill -9 does, starts it again, and returns when it serves and pods are bound again.
func (w *world) restart(component string) (serves, binds time.Duration) {
	w.t.Helper()
	began := time.Now()
	w.must(w.cluster.Restart(component))
	served := time.Now()
	w.restarts = append(w.restarts, restart{killed: began, served: served})
	first := w.untilBoundAfter(w.version())
	// What KWOK had in its hands is lost to it for good; one that starts looks at every pod.
	w.must(w.cluster.Restart(localcluster.KWOK))
	return served.Sub(began), first.at.Sub(began)
}

// version is the revision of this moment.
func (w *world) version() uint64 {
	w.t.Helper()
	var now uint64
	w.until("kube-apiserver answers", func() (bool, string) { // for a moment after its start it may still refuse everybody
		list, err := w.kube.CoordinationV1().Leases(systemNamespace).List(w.ctx, metav1.ListOptions{})
		if err == nil {
			now = revision(list.ResourceVersion)
		}
		return err == nil, fmt.Sprint(err)
	})
	return now
}
