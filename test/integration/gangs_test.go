package integration

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	intree "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// How the pods of a group get their nodes, on one control plane: 2 nodes of 8 cpu.
func TestAGangStartsWhole(t *testing.T) {
	f := failingWorld(t, 2, "")
	f.scene("bound-whole", (*failing).boundWhole)
	f.scene("two-sizes", (*failing).twoSizes)
	f.scene("incomplete", (*failing).incompleteHoldsNothing)
	f.scene("too-large", (*failing).tooLarge) // last: there is a node more afterwards
}

// boundWhole: four pods start together. With three of them nothing happens; then three wait in Permit for the fourth; then all are bound. What
// comes later is a pod like any other.
func (f *failing) boundWhole() {
	history := f.record()
	f.group(4, nil)
	abc := f.members([]string{"a", "b", "c"})
	for _, p := range abc {
		f.untilState(p, "Waiting "+f.leaf()+" GangIncomplete")
	}
	f.groupSays(f.name, "Pending 4 0 0 0")
	f.settled()
	f.noneBound(abc...)

	f.laterThan(abc...)
	stop := f.hold(atReserve, "d")
	d := f.pod("d", f.inGroup)
	stop.wait()
	f.untilInPermit(abc...)
	f.untilUsed(f.leaf(), "cpu=4 memory=4Gi")
	if g := gangOf(f.s, f.key()); g.Reserved != 3 || g.Bound != 0 || g.Since == 0 || g.Whole {
		f.t.Errorf("while three of four have places, the group is %+v", g)
	}
	f.until("the group says when its scheduling began", func() (bool, string) {
		out := f.kubectl("get", "podgroups.scheduling.x-k8s.io", f.name, "-o", "jsonpath={.status.phase} {.status.scheduleStartTime}")
		return strings.HasPrefix(out, "Pending 20"), out
	})
	stop.pass()
	f.untilWhole(append(abc, d)...)
	f.groupSays(f.name, "Running 4 4 0 0")

	e := f.pod("e", f.inGroup)
	f.untilRuns(e, f.leaf())
	f.groupSays(f.name, "Running 4 5 0 0")
	f.until("the history is complete", func() (bool, string) {
		versions := history.of(func(p *v1.Pod) bool { return p.UID == e.UID && p.Spec.NodeName != "" })
		return len(versions) > 0, "it is not"
	})
	there := false
	for _, p := range history.of(func(p *v1.Pod) bool { return strings.HasPrefix(p.Name, f.name) }) {
		there = there || p.UID == d.UID
		if p.Spec.NodeName != "" && !there {
			f.t.Errorf("pod %s had a node before the fourth pod was there", p.Name)
		}
	}
}

// twoSizes: two pods of 3 cpu for the one node, three of 2 cpu for the other.
func (f *failing) twoSizes() {
	for i, size := range []string{"large", "small"} {
		node := nodeNamed(fmt.Sprint("node-", i))
		change(f, node, func(n *v1.Node) { n.Labels["size"] = size })
		defer change(f, node, func(n *v1.Node) { delete(n.Labels, "size") })
	}
	other := f.pod("other", withCPU("4"), withSelector("size", "large"))
	f.untilRuns(other, f.leaf())
	f.group(5, nil)
	pods := f.members([]string{"a", "b"}, withCPU("3"), withSelector("size", "large"))
	pods = append(pods, f.members([]string{"c", "d", "e"}, withCPU("2"), withSelector("size", "small"))...)
	want := reason.Reason{Code: reason.GangWaitsForRoom, Queue: f.leaf(), PodGroup: f.key(), Details: reason.Packing{Needed: 5, Fit: 4}}
	f.untilWaitsFor(pods[0], want)
	f.settled()
	f.noneBound(pods...)
	f.remove(other)
	f.untilWhole(pods...)
	for i, p := range pods {
		want := []string{"node-0", "node-0", "node-1", "node-1", "node-1"}[i]
		if on := f.get(p).Spec.NodeName; on != want {
			f.t.Errorf("%s is on %s, want %s", p.Name, on, want)
		}
	}
}

// untilWaitsFor waits until the ledger says why the pod waits.
func (f *failing) untilWaitsFor(p *v1.Pod, want reason.Reason) {
	f.t.Helper()
	f.until(fmt.Sprintf("%s waits: %s", p.Name, want.Text()), func() (bool, string) {
		why := f.s.Ledger.Rehearse().Stopped(ledger.UID(p.UID))
		return why == want, fmt.Sprintf("%+v", why)
	})
}

// whySays waits until `kubectl fairway why` says a sentence of the pod, live and from what kubectl wrote into a file.
func (f *failing) whySays(p *v1.Pod, sentence string) {
	f.t.Helper()
	f.until("kubectl fairway why "+p.Name+" says: "+sentence, func() (bool, string) {
		live := f.fairway("", "why", p.Name, "-n", "default", "--kubeconfig", f.cluster.Kubeconfig())
		offline := f.fairway(f.dump("yaml"), "why", p.Name, "-n", "default", "-f", "-")
		unbroken := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		return strings.Contains(unbroken(live), sentence) && strings.Contains(unbroken(offline), sentence), live + "\noffline:\n" + offline
	})
}

// incompleteHoldsNothing: in a queue that runs one application at a time, a group that lacks a pod holds neither the slot nor anything else.
func (f *failing) incompleteHoldsNothing() {
	f.patch(f.leaf(), `{"maxRunningApplications":1}`)
	f.group(3, nil)
	pods := f.members([]string{"a", "b"})
	first := f.pod("first")
	f.untilRuns(first, f.leaf())
	sentence := "pod group " + f.key() + " starts with 3 pods at once, and 2 exist; it waits for the others, or for a lower minMember"
	for _, p := range pods {
		f.held(p.Name, "GangIncomplete", sentence)
		f.whySays(p, sentence)
	}
	f.remove(first)
	second := f.pod("second")
	f.untilRuns(second, f.leaf())

	pods = append(pods, f.pod("c", f.inGroup))
	for _, p := range pods {
		f.untilState(p, "Waiting "+f.leaf()+" MaxRunningApplications")
	}
	f.settled()
	f.noneBound(pods...)
	f.remove(second)
	f.untilWhole(pods...)
	for _, p := range pods {
		f.until(p.Name+" does not say that it is held any more", func() (bool, string) {
			c := queuedCondition(f.get(p))
			return c == nil || c.Status == v1.ConditionFalse, fmt.Sprint(c)
		})
	}
}

// tooLarge: 20 pods of 1 cpu on nodes of 16 cpu in all. Others go on meanwhile, and a node more lets it start.
func (f *failing) tooLarge() {
	f.group(20, nil)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("p", i))
	}
	pods := f.members(names)
	other := f.pod("other")
	f.untilRuns(other, f.leaf())
	sentence := "pod group " + f.key() + " starts with 20 pods at once, 20 cpu together, and the nodes could hold only 16 of them if they were empty; " +
		"it waits for more or larger nodes, or for a lower minMember"
	for _, p := range pods {
		f.until(p.Name+" says that its group is too large", func() (bool, string) {
			c := scheduled(f.get(p))
			return c != nil && c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable && c.Message == sentence, fmt.Sprint(c)
		})
	}
	f.whySays(pods[7], sentence)
	f.settled()
	for _, p := range pods {
		if n := f.failedScheduling(p); n > 0 {
			f.t.Errorf("%s was tried %d times", p.Name, n)
		}
	}
	f.must(f.cluster.AddNodes(f.ctx, "more", 1, v1.ResourceList{v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("32Gi")}))
	f.untilWhole(pods...)
}

// The pod groups of Kubernetes itself start as those of scheduler-plugins do.
func TestAGangOfKubernetesItselfStartsWhole(t *testing.T) {
	w := newWorld(t, 1, "8", "16Gi", "--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha2=true")
	s, _ := w.scheduler(ledger.Options{Journal: 10_000})
	w.queue("root.a")
	_, err := w.kube.SchedulingV1alpha2().PodGroups("default").Create(w.ctx, &intree.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "g"},
		Spec:       intree.PodGroupSpec{SchedulingPolicy: intree.PodGroupSchedulingPolicy{Gang: &intree.GangSchedulingPolicy{MinCount: 3}}},
	}, metav1.CreateOptions{})
	w.must(err)
	const key = "default/g (scheduling.k8s.io)"
	of := map[ledger.UID]string{}
	member := func(name string) *v1.Pod {
		p := pod(name, "root.a", "1", "1Gi")
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
		w.must(w.client.Create(w.ctx, p))
		of[ledger.UID(p.UID)] = key
		return p
	}
	member("a")
	member("b")
	w.untilHeld("a", "GangIncomplete", "pod group \""+key+"\" starts with 3 pods at once, and 2 exist")
	f := &failing{world: w, s: s}
	f.settled()
	if n := w.bound()["all"]; n != 0 {
		t.Errorf("%d pods of an incomplete group are bound", n)
	}
	member("c")
	w.untilGang(s, key, func(g ledger.PodGroupState) bool { return g.Whole && g.Bound == 3 })
	w.untilBound(3)
	f.settled()
	w.agree()
	checkGangs(t, s.Ledger.Journal(0), of, map[string]int{key: 3})
	for name, p := range w.pods() {
		if got := p.Annotations[v1alpha1.KeyPlacedQueue]; got != "root.a" {
			t.Errorf("pod %s is bound as one of queue %q", name, got)
		}
	}
}
