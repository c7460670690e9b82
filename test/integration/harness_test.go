// Package integration proves Fairway on a real control plane: etcd, kube-apiserver, kube-controller-manager and KWOK, started here.
package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/inprocess"
)

var (
	// long runs storms at their full length: make test-long.
	long     = flag.Bool("long", false, "run storms at their full length")
	churnFor = flag.Duration("churn", 0, "how long TestNoPlanIsRefusedInChurn takes; 0: three minutes with -long, else it is skipped")
)

// patience bounds every wait for a condition. It is for a machine that is busy with other things; the conditions come in seconds.
const patience = 2 * time.Minute

// world is one control plane with Queues installed, and a client for it.
type world struct {
	t       *testing.T
	ctx     context.Context
	cluster *localcluster.Cluster
	client  client.WithWatch
	kube    kubernetes.Interface
}

// newWorld gives a test a control plane of its own until it ends, with nodes of one size. Such tests run beside each other, as many as go test's -parallel says.
// The flags are more flags for kube-apiserver.
func newWorld(t *testing.T, nodes int, cpu, memory string, flags ...string) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t, nodes, cpu, memory, flags...)
}

// newWorldAlone is for a test beside which no other may run, because it reads the metrics of this process.
func newWorldAlone(t *testing.T, nodes int, cpu, memory string, flags ...string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	p := takePlane(t, flags)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, cluster: p.cluster}
	var err error
	w.client, err = client.NewWithWatch(p.cluster.RESTConfig(), client.Options{Scheme: clientscheme.Scheme})
	w.must(err)
	w.kube, err = kubernetes.NewForConfig(p.cluster.RESTConfig())
	w.must(err)
	if p.before == nil {
		w.installCRD(queueCRD)
		w.installCRD(podGroupCRD)
		w.installCRD(policyCRD)
		w.installCRD(reservationCRD)
		p.before, err = p.list(ctx)
		w.must(err)
	}
	w.must(p.cluster.AddNodes(ctx, "node", nodes, v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory), v1.ResourcePods: resource.MustParse("1000"),
	}))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a condition of the cluster; what says, in words, what was missing last.
func (w *world) until(what string, done func() (bool, string)) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ok, missing := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %s: %s", what, patience, missing)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// The definitions that an installation brings.
const (
	queueCRD    = "scheduling.fairway.dev_queues.yaml"
	podGroupCRD = "scheduling.x-k8s.io_podgroups.yaml"
	policyCRD   = "scheduling.fairway.dev_placementpolicies.yaml"

	reservationCRD = "scheduling.fairway.dev_reservations.yaml"
)

// installCRD installs a definition and waits until its kind is served.
func (w *world) installCRD(file string) {
	w.t.Helper()
	c, err := apiextensionsclient.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	crd := w.readCRD(file)
	_, err = c.ApiextensionsV1().CustomResourceDefinitions().Create(w.ctx, crd, metav1.CreateOptions{})
	w.must(err)
	w.until(crd.Spec.Names.ListKind+" is served", func() (bool, string) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.ListKind})
		err := w.client.List(w.ctx, list)
		return err == nil, fmt.Sprint(err)
	})
}

func (w *world) readCRD(file string) *apiextensions.CustomResourceDefinition {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "manifests", "crds", file))
	w.must(err)
	crd := &apiextensions.CustomResourceDefinition{}
	w.must(yaml.Unmarshal(text, crd))
	return crd
}

// options are the flags of a scheduler. config is the text of a KubeSchedulerConfiguration, "" for none.
func (w *world) options(config string) *options.Options {
	w.t.Helper()
	flags := map[string]string{"kubeconfig": w.cluster.Kubeconfig(), "leader-elect": "false", "secure-port": "0"}
	if config != "" {
		path := filepath.Join(w.t.TempDir(), "config.yaml")
		text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n" +
			"clientConnection: {kubeconfig: " + w.cluster.Kubeconfig() + ", qps: 1000, burst: 2000}\n" + config
		w.must(os.WriteFile(path, []byte(text), 0o600))
		flags["config"] = path
	}
	opts := options.NewOptions()
	for _, fs := range opts.Flags.FlagSets {
		for name, value := range flags {
			if fs.Lookup(name) != nil {
				w.must(fs.Set(name, value))
			}
		}
	}
	return opts
}

// scheduler runs fairway-scheduler in this process until stop is called or the test ends. Edits are made before anything runs.
func (w *world) scheduler(o ledger.Options, edits ...func(*app.Scheduler)) (s *app.Scheduler, stop func()) {
	w.t.Helper()
	return w.run(w.options(""), o, edits...)
}

func (w *world) run(opts *options.Options, o ledger.Options, edits ...func(*app.Scheduler)) (s *app.Scheduler, stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(w.ctx, klog.Background()))
	s, err := app.Setup(ctx, opts, app.Options{Ledger: o})
	w.must(err)
	for _, edit := range edits {
		edit(s)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		inprocess.Run(ctx, s)
	}()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return s, stop
}

// queue declares a queue, written as name and fields: "root.a weight=3 max.cpu=4 guaranteed.memory=1Gi policy=FIFO".
func (w *world) queue(text string) {
	w.t.Helper()
	words := strings.Fields(text)
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	for _, word := range words[1:] {
		field, value, _ := strings.Cut(word, "=")
		field, name, _ := strings.Cut(field, ".")
		switch field {
		case "users":
			if q.Spec.Users == nil {
				q.Spec.Users = &v1alpha1.QueueUsers{}
			}
			switch name {
			case "minSharePercent":
				q.Spec.Users.MinSharePercent = count(w, value)
			case "shareFactor":
				n := resource.MustParse(value)
				q.Spec.Users.ShareFactor = &n
			default:
				w.t.Fatalf("unknown field in %q", word)
			}
		case "weight":
			n := resource.MustParse(value)
			q.Spec.Weight = &n
		case "capacity":
			q.Spec.Capacity = v1alpha1.Percentage(value)
		case "maxCapacity":
			q.Spec.MaxCapacity = v1alpha1.Percentage(value)
		case "policy":
			q.Spec.Policy = v1alpha1.QueuePolicy(value)
		case "max":
			q.Spec.Max = set(q.Spec.Max, name, value)
		case "maxDriverShare":
			n := resource.MustParse(value)
			q.Spec.MaxDriverShare = &n
		case "maxPodResources":
			q.Spec.MaxPodResources = set(q.Spec.MaxPodResources, name, value)
		case "maxRunningApplications":
			q.Spec.MaxRunningApplications = count(w, value)
		case "maxApplications":
			q.Spec.MaxApplications = count(w, value)
		case "maxPriority":
			q.Spec.MaxPriority = count(w, value)
		case "defaultPriority":
			q.Spec.DefaultPriority = count(w, value)
		case "maxStarting":
			q.Spec.MaxStarting = count(w, value)
		case "startingTimeout":
			q.Spec.StartingTimeout = value
		case "guaranteed":
			q.Spec.Guaranteed = set(q.Spec.Guaranteed, name, value)
		case "preemption":
			w.preemption(q, name, value)
		default:
			w.t.Fatalf("unknown field in %q", word)
		}
	}
	w.must(w.client.Create(w.ctx, q))
}

func count(w *world, text string) *int32 {
	w.t.Helper()
	n, err := strconv.ParseInt(text, 10, 32)
	w.must(err)
	return ptr.To(int32(n))
}

func set(m v1alpha1.Amounts, name, value string) v1alpha1.Amounts {
	if m == nil {
		m = v1alpha1.Amounts{}
	}
	m[v1.ResourceName(name)] = v1alpha1.Amount{Text: value}
	return m
}

// pod makes, without creating it, a pod for a queue ("" asks for none).
func pod(name, queue, cpu, memory string) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{}},
		Spec: v1.PodSpec{
			SchedulerName: v1alpha1.SchedulerName,
			Containers: []v1.Container{{
				Name: "c", Image: "none",
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
					v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory),
				}},
			}},
		},
	}
	if queue != "" {
		p.Labels[v1alpha1.KeyQueue] = queue
	}
	return p
}

// create creates pods from several connections; the order among them is the apiserver's.
func (w *world) create(pods ...*v1.Pod) {
	w.t.Helper()
	const writers = 16
	errs := make(chan error, writers)
	for i := range writers {
		go func() {
			for j := i; j < len(pods); j += writers {
				if err := w.client.Create(w.ctx, pods[j]); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range writers {
		w.must(<-errs)
	}
}

// pods lists the pods that are not finished, by name.
func (w *world) pods() map[string]*v1.Pod {
	w.t.Helper()
	list := &v1.PodList{}
	w.must(w.client.List(w.ctx, list, client.InNamespace("default")))
	byName := map[string]*v1.Pod{}
	for i := range list.Items {
		if p := &list.Items[i]; p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			byName[p.Name] = p
		}
	}
	return byName
}

// bound counts the unfinished pods with a node, by the queue they are charged to.
func (w *world) bound() map[string]int {
	w.t.Helper()
	n := map[string]int{}
	for _, p := range w.pods() {
		if p.Spec.NodeName != "" {
			n[p.Annotations[v1alpha1.KeyPlacedQueue]]++
			n["all"]++
		}
	}
	return n
}

func (w *world) untilBound(n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d pods are bound", n), func() (bool, string) {
		b := w.bound()
		return b["all"] == n, fmt.Sprint(b)
	})
}

func (w *world) getQueue(name string) *v1alpha1.Queue {
	w.t.Helper()
	q := &v1alpha1.Queue{}
	w.must(w.client.Get(w.ctx, client.ObjectKey{Name: name}, q))
	return q
}

// queuedCondition is what a pod says about being held, nil if it says nothing.
func queuedCondition(p *v1.Pod) *v1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == v1alpha1.PodConditionQueued {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

func (w *world) eventsOf(pod string) []v1.Event {
	w.t.Helper()
	list, err := w.kube.CoreV1().Events("default").List(w.ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.name", pod).String(),
	})
	w.must(err)
	return list.Items
}
