package integration

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Every way in which a node goes away from under the pods that are on it, on their way to it, and waiting for it, on one control plane.
func TestEveryWayANodeFails(t *testing.T) {
	f := failingWorld(t, 8, "")
	f.scene("cordoned", (*failing).cordoned)
	f.scene("cordoned-in-flight", (*failing).cordonedInFlight)
	f.scene("drained", (*failing).drained)
	f.scene("not-ready", (*failing).notReady)
	f.scene("removed", (*failing).removed)
	f.scene("removed-in-flight", (*failing).removedInFlight)
	f.scene("shrunk", (*failing).shrunk)
	f.scene("shrunk-in-flight", (*failing).shrunkInFlight)
}

func nodeNamed(name string) *v1.Node { return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func forNode(node string) func(*v1.Pod) { return withSelector(v1.LabelHostname, node) }

func (f *failing) cordon(name string, yes bool) {
	f.t.Helper()
	change(f, nodeNamed(name), func(n *v1.Node) { n.Spec.Unschedulable = yes })
}

// total is what all queues share.
func (f *failing) total() string { return f.s.Ledger.Snapshot().Total.String() }

func (f *failing) untilTotal(want string) {
	f.t.Helper()
	f.until("the cluster has "+want, func() (bool, string) { got := f.total(); return got == want, got })
}

// cordoned: what runs there stays and counts; nothing comes until it is uncordoned.
func (f *failing) cordoned() {
	a := f.pod("a", forNode("node-0"))
	f.untilRuns(a, f.leaf())
	f.untilTotal("cpu=64 memory=256Gi")
	defer f.cordon("node-0", false)
	f.cordon("node-0", true)
	f.untilTotal("cpu=57 memory=225Gi") // what our pods use there still counts
	b := f.pod("b", forNode("node-0"))
	f.untilUnschedulable(b, f.leaf())
	f.settled()
	f.remove(a)
	f.untilTotal("cpu=56 memory=224Gi")
	f.settled()
	f.cordon("node-0", false)
	f.untilRuns(b, f.leaf())
	f.untilTotal("cpu=64 memory=256Gi")
}

// cordonedInFlight: the attempt has seen the node as it was.
func (f *failing) cordonedInFlight() {
	stop := f.hold(atReserve, "a")
	a := f.pod("a", forNode("node-1"))
	stop.wait()
	defer f.cordon("node-1", false)
	f.cordon("node-1", true)
	f.untilTotal("cpu=56 memory=224Gi")
	stop.pass()
	f.untilRuns(a, f.leaf())
	f.untilTotal("cpu=57 memory=225Gi")
}

func (f *failing) drained() {
	var pods []*v1.Pod
	for _, name := range []string{"a", "b", "c"} {
		pods = append(pods, f.pod(name, forNode("node-2")))
	}
	for _, p := range pods {
		f.untilRuns(p, f.leaf())
	}
	defer f.cordon("node-2", false)
	f.cordon("node-2", true)
	for _, p := range pods {
		f.must(f.kube.PolicyV1().Evictions("default").Evict(f.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: "default"}}))
	}
	again := f.pod("again", forNode("node-2")) // what a controller makes in the place of the evicted
	for _, p := range pods {
		f.untilState(p, "unknown")
	}
	f.untilUnschedulable(again, f.leaf())
	f.untilUsed(f.leaf(), "")
	f.untilTotal("cpu=56 memory=224Gi")
	f.settled()
	f.cordon("node-2", false)
	f.untilRuns(again, f.leaf())
}

// notReady: a node that nobody runs says that it is not Ready, as the node lifecycle controller says of one that is silent.
func (f *failing) notReady() {
	size := v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"), v1.ResourcePods: resource.MustParse("110")}
	n := nodeNamed("silent")
	n.Labels = map[string]string{v1.LabelHostname: "silent"}
	n.Status = v1.NodeStatus{Capacity: size, Allocatable: size, Conditions: []v1.NodeCondition{readyCondition(v1.ConditionTrue)}}
	f.must(f.client.Create(f.ctx, n))
	a := f.pod("a", forNode("silent"))
	f.untilRuns(a, f.leaf())
	f.untilTotal("cpu=68 memory=264Gi")
	turn := func(status v1.ConditionStatus) {
		changeStatus(f, n, func(n *v1.Node) { n.Status.Conditions = []v1.NodeCondition{readyCondition(status)} })
	}
	// What keeps pods off is the taint that a controller gives the node, a moment later.
	notReady := func(status v1.ConditionStatus, taint string) {
		turn(status)
		f.untilTotal("cpu=65 memory=257Gi")
		f.until("the node has taint "+taint, func() (bool, string) {
			f.must(f.client.Get(f.ctx, client.ObjectKeyFromObject(n), n))
			is := func(t v1.Taint) bool { return t.Key == taint && t.Effect == v1.TaintEffectNoSchedule }
			return slices.ContainsFunc(n.Spec.Taints, is), fmt.Sprint(n.Spec.Taints)
		})
	}
	notReady(v1.ConditionFalse, v1.TaintNodeNotReady)
	notReady(v1.ConditionUnknown, v1.TaintNodeUnreachable)
	b := f.pod("b", forNode("silent"))
	f.untilUnschedulable(b, f.leaf())
	f.settled()
	f.untilState(a, "Bound "+f.leaf())
	turn(v1.ConditionTrue)
	f.untilRuns(b, f.leaf())
	f.untilTotal("cpu=68 memory=264Gi")
	f.settled()
	f.must(f.client.Delete(f.ctx, n))
	f.untilTotal("cpu=66 memory=258Gi")
}

func readyCondition(status v1.ConditionStatus) v1.NodeCondition {
	return v1.NodeCondition{Type: v1.NodeReady, Status: status, Reason: "Test", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}
}

// removed: pods of a node that is no more count until they are gone; one that waits for the node runs when it is back.
func (f *failing) removed() {
	a := f.pod("a", forNode("node-3"))
	f.untilRuns(a, f.leaf())
	f.must(f.client.Delete(f.ctx, nodeNamed("node-3")))
	f.untilTotal("cpu=57 memory=225Gi")
	b := f.pod("b", forNode("node-3"))
	f.untilUnschedulable(b, f.leaf())
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
	f.addBack("node-3")
	f.untilRuns(b, f.leaf())
	f.untilTotal("cpu=64 memory=256Gi")
	f.settled()
	f.must(f.client.Delete(f.ctx, nodeNamed("node-3")))
	f.untilTotal("cpu=58 memory=226Gi")
	f.settled()
	f.remove(a)
	f.remove(b)
	f.untilTotal("cpu=56 memory=224Gi")
	f.settled()
	f.addBack("node-3")
}

// addBack makes a node of the world again.
func (f *failing) addBack(name string) {
	f.t.Helper()
	like := &v1.Node{}
	f.must(f.client.Get(f.ctx, client.ObjectKey{Name: "node-0"}, like))
	n := nodeNamed(name)
	n.Labels, n.Annotations = map[string]string{v1.LabelHostname: name}, like.Annotations
	n.Status.Capacity, n.Status.Allocatable = like.Status.Capacity, like.Status.Allocatable
	f.must(f.client.Create(f.ctx, n))
	f.until(name+" is back", func() (bool, string) {
		f.must(f.client.Get(f.ctx, client.ObjectKeyFromObject(n), n))
		is := slices.ContainsFunc(n.Status.Conditions, func(c v1.NodeCondition) bool { return c.Type == v1.NodeReady && c.Status == v1.ConditionTrue })
		return is && len(n.Spec.Taints) == 0, "it is not Ready"
	})
}

// removedInFlight: the node goes while a pod is being bound to it. The apiserver binds all the same.
func (f *failing) removedInFlight() {
	stop := f.hold(atBind, "a")
	a := f.pod("a", forNode("node-4"))
	stop.wait()
	f.must(f.client.Delete(f.ctx, nodeNamed("node-4")))
	f.untilTotal("cpu=56 memory=224Gi")
	stop.pass()
	f.untilRuns(a, f.leaf())
	f.untilTotal("cpu=57 memory=225Gi")
	f.settled()
	f.remove(a)
	f.untilTotal("cpu=56 memory=224Gi")
	f.addBack("node-4")
}

func (f *failing) allocatable(name, cpu string) {
	f.t.Helper()
	changeStatus(f, nodeNamed(name), func(n *v1.Node) { n.Status.Allocatable[v1.ResourceCPU] = resource.MustParse(cpu) })
}

// shrunk: the node has less than what runs on it. Nothing is stopped, and nothing comes until there is room again.
func (f *failing) shrunk() {
	a := f.pod("a", forNode("node-5"), withCPU("4"))
	f.untilRuns(a, f.leaf())
	defer f.allocatable("node-5", "8")
	f.allocatable("node-5", "2")
	f.untilTotal("cpu=58 memory=256Gi")
	b := f.pod("b", forNode("node-5"))
	f.untilUnschedulable(b, f.leaf())
	f.settled()
	f.untilState(a, "Bound "+f.leaf())
	f.untilUsed(f.leaf(), "cpu=4 memory=1Gi")
	f.remove(a) // 2 of 2 are free
	f.untilRuns(b, f.leaf())
	f.settled()
	c := f.pod("c", forNode("node-5"), withCPU("4"))
	f.untilUnschedulable(c, f.leaf())
	f.allocatable("node-5", "8")
	f.untilRuns(c, f.leaf())
	f.untilTotal("cpu=64 memory=256Gi")
}

// shrunkInFlight: two pods are on their way, and there is room for one any more. The second is refused by the kubelet.
func (f *failing) shrunkInFlight() {
	stop := f.hold(atBind, "a")
	a := f.pod("a", forNode("node-6"), withCPU("4"))
	stop.wait()
	defer f.allocatable("node-6", "8")
	f.allocatable("node-6", "2")
	f.untilTotal("cpu=58 memory=256Gi")
	stop.pass()
	f.untilRuns(a, f.leaf())
	f.settled()
	changeStatus(f, a, func(p *v1.Pod) { p.Status.Phase, p.Status.Reason = v1.PodFailed, "OutOfcpu" })
	f.untilState(a, "unknown")
	f.untilUsed(f.leaf(), "")
}
