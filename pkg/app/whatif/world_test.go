package whatif

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// cluster is a scheduler's cache and real plugins that read it.
type cluster struct {
	*testing.T
	cache internalcache.Cache
	pods  map[string]*v1.Pod
	world preemption.World
	f     *Frameworks
}

// like has what the running scheduler shares with its profiles.
type like struct {
	fwk.Handle
	csi fwk.CSIManager
}

func (like) SharedDRAManager() fwk.SharedDRAManager { return nil }
func (l like) SharedCSIManager() fwk.CSIManager     { return l.csi }

func stockProfiles(t testing.TB) []config.KubeSchedulerProfile {
	t.Helper()
	c, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	plugins := &c.Profiles[0].Plugins.MultiPoint
	plugins.Enabled = slices.DeleteFunc(plugins.Enabled, func(p config.Plugin) bool {
		return p.Name == "DynamicResources" || p.Name == "DefaultPreemption" // they need a running scheduler, and no test here uses them
	})
	return c.Profiles
}

// newCluster is a cluster of these nodes and pods; objects are volumes and budgets. A pod whose spec names a
// node runs there, others wait.
func newCluster(t *testing.T, nodes []*v1.Node, pods []*v1.Pod, objects ...runtime.Object) *cluster {
	t.Helper()
	return newClusterWith(t, stockProfiles(t), nil, nodes, pods, objects...)
}

func newClusterWith(t *testing.T, profiles []config.KubeSchedulerProfile, plugins frameworkruntime.Registry, nodes []*v1.Node, pods []*v1.Pod, objects ...runtime.Object) *cluster {
	t.Helper()
	schedulermetrics.Register()
	ctx := t.Context()
	for _, n := range nodes {
		objects = append(objects, n)
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(objects...), 0)
	c := &cluster{T: t, cache: internalcache.New(ctx, nil, false), pods: map[string]*v1.Pod{}}
	f, err := New(ctx, Options{
		Profiles: profiles, Plugins: plugins, Cache: c.cache, Informers: factory,
		Like: like{csi: nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())},
		Pods: func(uid string) *v1.Pod { return c.pods[uid] }, Budgets: factory.Policy().V1().PodDisruptionBudgets().Lister(),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.f = f
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for _, n := range nodes {
		c.cache.AddNode(klog.FromContext(ctx), n)
		c.world.Nodes = append(c.world.Nodes, preemption.Node{Name: n.Name})
	}
	for _, p := range pods {
		c.pods[string(p.UID)] = p
		if p.Spec.NodeName != "" {
			if err := c.cache.AddPod(klog.FromContext(ctx), p); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

func (c *cluster) look() *Answers {
	c.Helper()
	a, err := c.f.Look(c.Context(), c.world)
	if err != nil {
		c.Fatal(err)
	}
	return a
}

// claimant is the claimant with that UID; pods with the same name before the dash are of one class.
func claimant(uid string) *preemption.Claimant {
	class, _, _ := strings.Cut(uid, "-")
	return &preemption.Claimant{UID: uid, Class: class}
}

// fits says on which nodes a pod fits.
func (c *cluster) fits(a *Answers, uid string, gone ...string) string {
	var names []string
	for i, n := range c.world.Nodes {
		if a.Fits(claimant(uid), i, gone) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, " ")
}

func (c *cluster) want(a *Answers, want, uid string, gone ...string) {
	c.Helper()
	if got := c.fits(a, uid, gone...); got != want {
		c.Errorf("without %q pod %s fits on %q, want %q", gone, uid, got, want)
	}
}

// node is a node with 4 cpus, in a zone named after the first letter of its name.
func node(name string) *st.NodeWrapper {
	return st.MakeNode().Name(name).Label("zone", name[:1]).Label("host", name).
		Capacity(map[v1.ResourceName]string{"cpu": "4", "memory": "8Gi", "pods": "10"})
}

func pod(name, on string, cpus int) *st.PodWrapper {
	return st.MakePod().Namespace("team").Name(name).UID(name).Node(on).SchedulerName("default-scheduler").
		Req(map[v1.ResourceName]string{"cpu": fmt.Sprint(cpus)})
}

func guard(name, app string, allowed int32) *policyv1.PodDisruptionBudget {
	b := st.MakePDB().Namespace("team").Name(name).MatchLabel("app", app).Obj()
	b.Status.DisruptionsAllowed = allowed
	return b
}
