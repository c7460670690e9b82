package plugin

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// cycle is a cluster of nodes with one cpu, and a released pod of root.a with priority 10 that requests one
// cpu.
type cycle struct {
	*testing.T
	ledger *ledger.Ledger
	client *fake.Clientset
	pods   []*v1.Pod
	nodes  []*v1.Node
}

func newCycle(t *testing.T, high *st.PodWrapper) *cycle {
	c := &cycle{T: t, ledger: ledger.New(ledger.Options{})}
	for _, path := range []queue.Path{"root.a", "root.b"} {
		c.ledger.ObserveQueue(queue.Declaration{Path: path, Spec: queue.DefaultSpec()})
	}
	c.pods = append(c.pods, high.Obj())
	c.observe(high.Obj(), "a", func(p *ledger.Pod) {})
	c.ledger.Lead(1)
	if r, ok := c.ledger.Choose(1); !ok || r.UID != "high" {
		t.Fatal("the pod is not released")
	}
	return c
}

func highPod() *st.PodWrapper {
	return st.MakePod().Namespace("team").Name("high").UID("high").Priority(10).SchedulerName("fairway").Req(map[v1.ResourceName]string{"cpu": "1"})
}

func (c *cycle) observe(p *v1.Pod, q string, change func(*ledger.Pod)) {
	l := ledger.Pod{
		UID: ledger.UID(p.UID), Namespace: p.Namespace, Name: p.Name, Queue: q, Application: q, Class: p.Name, Priority: *p.Spec.Priority,
		Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 1000}), Node: p.Spec.NodeName, Bound: 1,
	}
	change(&l)
	c.ledger.ObservePod(l, 1)
}

// runs adds a node and a pod that fills it.
func (c *cycle) runs(name, q string, priority int32, change func(*ledger.Pod)) {
	c.nodes = append(c.nodes, st.MakeNode().Name("on-"+name).Capacity(map[v1.ResourceName]string{"cpu": "1", "pods": "10"}).Obj())
	p := st.MakePod().Namespace("team").Name(name).UID(name).Priority(priority).Node("on-" + name).SchedulerName("fairway").
		Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
	c.pods = append(c.pods, p)
	if change == nil {
		change = func(*ledger.Pod) {}
	}
	c.observe(p, q, change)
}

// attempt runs the pod's cycle up to PostFilter, and returns the nominated node and the evicted pods.
func (c *cycle) attempt() (nominated string, evicted []string) {
	c.Helper()
	ctx := c.Context()
	schedulermetrics.Register()
	var objects []runtime.Object
	for _, p := range c.pods {
		objects = append(objects, p)
	}
	c.client = fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(c.client, 0)
	registry := frameworkplugins.NewInTreeRegistry()
	if err := registry.Register(Name, New(c.ledger, func() int64 { return 2 }, func() {}).Build); err != nil {
		c.Fatal(err)
	}
	conf, err := latest.Default()
	if err != nil {
		c.Fatal(err)
	}
	p := &conf.Profiles[0]
	p.SchedulerName = "fairway"
	p.Plugins.MultiPoint.Enabled = append(slices.DeleteFunc(p.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return slices.Contains([]string{"PrioritySort", "DefaultPreemption", "DynamicResources"}, p.Name)
	}), config.Plugin{Name: Name})
	f, err := frameworkruntime.NewFramework(ctx, registry, p,
		frameworkruntime.WithClientSet(c.client), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithEventRecorder(events.NewFakeRecorder(100)),
		frameworkruntime.WithSnapshotSharedLister(internalcache.NewSnapshot(c.pods[1:], c.nodes)),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()), frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithPodNominator(internalqueue.NewSchedulingQueue(nil, factory)))
	if err != nil {
		c.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	state, high := framework.NewCycleState(), c.pods[0]
	if _, status, _ := f.RunPreFilterPlugins(ctx, state, high); !status.IsSuccess() {
		c.Fatal(status.Message())
	}
	statuses := framework.NewDefaultNodeToStatus()
	for _, n := range c.nodes {
		info, err := f.SnapshotSharedLister().NodeInfos().Get(n.Name)
		if err != nil {
			c.Fatal(err)
		}
		if status := f.RunFilterPlugins(ctx, state, high, info); status.IsSuccess() {
			c.Fatalf("the pod fits on %s", n.Name)
		} else {
			statuses.Set(n.Name, status)
		}
	}
	c.client.ClearActions()
	result, _ := f.RunPostFilterPlugins(ctx, state, high, statuses)
	if result != nil && result.NominatingInfo != nil {
		if nominated = result.NominatedNodeName; nominated == "" && result.Mode() == fwk.ModeOverride {
			nominated = "none"
		}
	}
	for _, a := range c.client.Actions() {
		if d, ok := a.(clienttesting.DeleteAction); ok {
			evicted = append(evicted, d.GetName())
		}
	}
	return nominated, evicted
}

func (c *cycle) want(nominated string, evicted ...string) {
	c.Helper()
	node, gone := c.attempt()
	if diff := cmp.Diff(fmt.Sprint(nominated, evicted), fmt.Sprint(node, gone)); diff != "" {
		c.Errorf("-want +got:\n%s", diff)
	}
}

func TestPriorityPreemptsInsideALeafQueueOnly(t *testing.T) {
	c := newCycle(t, highPod())
	c.runs("cousin", "b", 0, nil)
	c.runs("equal", "a", 10, nil)
	c.want("none")
	c.runs("low", "a", 5, nil)
	c.runs("another", "b", -5, nil)
	c.want("on-low", "low")
	c.runs("lowest", "a", 0, nil) // upstream's choice among nodes
	c.want("on-lowest", "lowest")
}

func TestPodsThatAPriorityDoesNotEvict(t *testing.T) {
	for name, change := range map[string]func(*ledger.Pod){
		"leaving":                  func(p *ledger.Pod) { p.Terminating = true },
		"going for another queue":  func(p *ledger.Pod) { p.Announced = 1 },
		"of a group of several":    func(p *ledger.Pod) { p.PodGroup = "group" },
		"of another scheduler":     func(p *ledger.Pod) { p.Foreign = true },
		"of a queue that is a tie": func(p *ledger.Pod) { p.Priority = 10 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCycle(t, highPod())
			c.ledger.ObservePodGroup(ledger.PodGroup{Key: "group", MinMember: 2})
			c.runs("low", "a", 0, change)
			c.want("none")
		})
	}
}

func TestAGroupOfOnePodGivesWay(t *testing.T) {
	c := newCycle(t, highPod())
	c.ledger.ObservePodGroup(ledger.PodGroup{Key: "group", MinMember: 1})
	c.runs("low", "a", 0, func(p *ledger.Pod) { p.PodGroup = "group" })
	c.want("on-low", "low")
}

func TestPodsThatDoNotPreemptByPriority(t *testing.T) {
	c := newCycle(t, highPod().PreemptionPolicy(v1.PreemptNever))
	c.runs("low", "a", 0, nil)
	c.want("") // upstream keeps the nomination it has
}

// The room of a pod is made on one of two nodes, and it is tried on a third that has room by the ledger's arithmetic alone.
func TestAClaimantIsAnsweredWithItsNomination(t *testing.T) {
	c := newCycle(t, highPod().Priority(0))
	c.ledger.Fail("high", ledger.NoFit, 1)
	spec := queue.DefaultSpec()
	spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: 1e9}
	c.ledger.ObserveQueue(queue.Declaration{Path: "root.a", Spec: spec})
	cpu := resource.Of(resource.Entry{Name: resource.CPU, Value: 1000})
	for _, name := range []string{"one", "two"} {
		c.ledger.ObserveNode(ledger.Node{Name: "on-" + name, Allocatable: cpu, Usable: true})
		c.runs(name, "b", 0, nil)
	}
	const now = 100e9
	c.ledger.LookAtStarvation(now - 1e9)
	c.ledger.LookAtStarvation(now)
	w, open := c.ledger.Preemption(now)
	if !open {
		t.Fatal("no claim is open")
	}
	plan := preemption.Make(w, c.ledger.Feasibility(w))
	c.ledger.Adopt(w, plan, now)
	c.ledger.TakeWoken(now)
	if len(plan.Victims) != 1 || c.ledger.NominatedTo("high") == "" {
		t.Fatalf("the plan is %+v", plan)
	}
	c.ledger.ObserveNode(ledger.Node{Name: "another", Allocatable: cpu, Usable: true})
	if r, ok := c.ledger.Choose(now); !ok || r.UID != "high" {
		t.Fatal("the pod is not tried on the other node")
	}
	c.want(w.Nodes[plan.Claims[0].Nominations[0].Node].Name)
	c.ledger.Fail("high", ledger.NoFit, now)
	if c.ledger.NominatedTo("high") == "" {
		t.Error("its nomination has ended")
	}
}
