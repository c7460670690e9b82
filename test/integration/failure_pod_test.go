package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// Every way in which a pod moves that is not the end of an attempt of ours, on one control plane.
func TestEveryWayAPodMoves(t *testing.T) {
	f := failingWorld(t, 3, "")
	f.scene("gates-set-and-lifted", (*failing).gatesSetAndLifted)
	f.scene("gated-and-deleted", (*failing).gatedAndDeleted)
	f.scene("claim-not-made", (*failing).claimNotMade)
	f.scene("claim-from-template", (*failing).claimFromTemplate)
	f.scene("claim-goes-in-flight", (*failing).claimGoesInFlight)

	f.scene("deleted-behind-max", (*failing).deletedBehindMax)
	f.scene("deleted-without-queue", (*failing).deletedWithoutQueue)
	f.scene("deleted-parked", func(f *failing) { f.deletedParked() })
	f.scene("deleted-nominated", (*failing).deletedNominated)
	f.scene("finalized-waiting", (*failing).finalizedWaiting)
	f.scene("finalized-parked", func(f *failing) { f.deletedParked(withFinalizer) })
	f.scene("finalized-bound", (*failing).finalizedBound)

	f.scene("relabelled-behind-max", (*failing).relabelledBehindMax)
	f.scene("relabelled-without-queue", (*failing).relabelledWithoutQueue)
	f.scene("relabelled-parked", (*failing).relabelledParked)
	f.scene("relabelled-gated", (*failing).relabelledGated)
	f.scene("tolerated-behind-a-probe", (*failing).toleratedBehindAProbe)

	f.scene("resized-up-and-down", (*failing).resizedUpAndDown)
	f.scene("resized-behind-max", (*failing).resizedBehindMax)
	f.scene("resized-parked", (*failing).resizedParked)

	f.scene("bound-elsewhere-behind-max", (*failing).boundElsewhereBehindMax)
	f.scene("bound-elsewhere-without-queue", (*failing).boundElsewhereWithoutQueue)
	f.scene("bound-elsewhere-gated", (*failing).boundElsewhereGated)
	f.scene("bound-elsewhere-parked", (*failing).boundElsewhereParked)

	f.scene("node-name-from-the-start", (*failing).nodeNameFromTheStart)
	f.scene("static-pod", (*failing).staticPod)
	f.scene("kubelet-rejects", (*failing).kubeletRejects)
	f.scene("pod-completes", (*failing).podCompletes)
}

func withGates(names ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.SchedulingGates = nil
		for _, name := range names {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, v1.PodSchedulingGate{Name: name})
		}
	}
}

func (f *failing) gatesSetAndLifted() {
	p := f.pod("a", withGates("example.com/one", "example.com/two"))
	held := "Waiting " + f.leaf() + " SchedulingGate"
	f.untilState(p, held)
	f.settled()
	change(f, p, withGates("example.com/two"))
	f.settled()
	f.untilState(p, held)
	if used := f.used(f.leaf()); used != "" {
		f.t.Errorf("a gated pod is charged %s", used)
	}
	change(f, p, withGates())
	f.untilRuns(p, f.leaf())
}

func (f *failing) gatedAndDeleted() {
	p := f.pod("a", withGates("example.com/one"))
	f.untilState(p, "Waiting "+f.leaf()+" SchedulingGate")
	f.remove(p)
	f.untilState(p, "unknown")
}

func withClaim(name string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "device", ResourceClaimName: &name}}
	}
}

func claimNamed(name string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// claimNotMade: several pods, since who hears of a claim first, we or the plugin that is asked, differs from claim to claim.
func (f *failing) claimNotMade() {
	pods := map[string]*v1.Pod{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		claim := f.name + "-" + name
		pods[claim] = f.pod(name, withClaim(claim))
		f.untilState(pods[claim], "Waiting "+f.leaf()+" SchedulingGate")
	}
	f.settled()
	for claim := range pods {
		f.must(f.client.Create(f.ctx, claimNamed(claim)))
	}
	for _, p := range pods {
		f.untilRuns(p, f.leaf())
	}
}

// claimGoesInFlight: the claim was there when the pod was released, and is not any more when it is tried.
func (f *failing) claimGoesInFlight() {
	f.must(f.client.Create(f.ctx, claimNamed(f.name)))
	stop := f.hold(atPreFilter, "a")
	p := f.pod("a", withClaim(f.name))
	stop.wait()
	f.must(f.client.Delete(f.ctx, claimNamed(f.name)))
	f.until("the ledger knows that the claim is gone", func() (bool, string) {
		st, _ := f.s.Ledger.PodState(ledger.UID(p.UID))
		return st.Gate != "", "it does not"
	})
	if st := stop.pass(); st.IsSuccess() {
		f.t.Error("PreFilter lets a pod through without its claim")
	}
	f.untilState(p, "Waiting "+f.leaf()+" SchedulingGate")
	f.settled()
	f.must(f.client.Create(f.ctx, claimNamed(f.name)))
	f.untilRuns(p, f.leaf())
}

// claimFromTemplate: the claim is made by a controller, after the pod, from a template that comes later still.
func (f *failing) claimFromTemplate() {
	name := f.name
	p := f.pod("a", func(p *v1.Pod) {
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: &name}}
	})
	f.untilState(p, "Waiting "+f.leaf()+" SchedulingGate")
	f.settled()
	f.must(f.client.Create(f.ctx, &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}))
	f.untilRuns(p, f.leaf())
}

func (f *failing) deletedBehindMax() {
	f.limit(f.leaf(), "1")
	a := f.pod("a")
	f.untilRuns(a, f.leaf())
	b := f.pod("b")
	f.untilState(b, "Waiting "+f.leaf())
	f.settled()
	f.remove(b)
	f.untilState(b, "unknown")
	f.settled()
	f.remove(a)
	c := f.pod("c")
	f.untilRuns(c, f.leaf())
}

func (f *failing) deletedWithoutQueue() {
	p := f.pod("a", withQueue(f.leaf()+"-missing"))
	f.untilState(p, "Waiting - QueueNotFound")
	f.settled()
	f.remove(p)
	f.untilState(p, "unknown")
}

// deletedParked: the pod that says why its class waits is deleted. The next one is tried, so that somebody says it, and runs when it can.
func (f *failing) deletedParked(edits ...func(*v1.Pod)) {
	probe := f.pod("a", append(edits, f.nowhere)...)
	f.untilUnschedulable(probe, f.leaf())
	next := f.pod("b", f.nowhere)
	f.untilState(next, "Waiting "+f.leaf())
	f.settled()
	f.remove(probe)
	f.untilState(probe, "unknown", "Gone -")
	f.untilUnschedulable(next, f.leaf())
	f.until("the next one was tried", func() (bool, string) { return f.failedScheduling(next) > 0, "it only shows what the first said" })
	f.settled()
	defer f.somewhere("node-1")()
	f.untilRuns(next, f.leaf())
}

// somewhere gives a node the label that nowhere asks for, and returns how to take it away.
func (f *failing) somewhere(name string) (undo func()) {
	f.t.Helper()
	change(f, nodeNamed(name), func(n *v1.Node) { n.Labels[sceneLabel] = f.name })
	return func() { change(f, nodeNamed(name), func(n *v1.Node) { delete(n.Labels, sceneLabel) }) }
}

// deletedNominated: somebody names a node for a parked pod (an autoscaler does), which is then deleted.
func (f *failing) deletedNominated() {
	p := f.pod("a", f.nowhere)
	f.untilUnschedulable(p, f.leaf())
	changeStatus(f, p, func(p *v1.Pod) { p.Status.NominatedNodeName = "node-1" })
	f.until("kube-scheduler keeps room for the pod", func() (bool, string) {
		kept := f.nominated()
		return len(kept) == 1 && kept[0].Name == p.Name, fmt.Sprint(kept)
	})
	f.settled()
	f.remove(p)
	f.untilState(p, "unknown")
}

func (f *failing) finalizedWaiting() {
	f.limit(f.leaf(), "1")
	a := f.pod("a")
	f.untilRuns(a, f.leaf())
	b := f.pod("b", withFinalizer)
	f.untilState(b, "Waiting "+f.leaf())
	f.remove(b)
	f.untilState(b, "Gone -")
	f.settled()
	f.remove(a) // there is room under max now, and b must not take it
	c := f.pod("c")
	f.untilRuns(c, f.leaf())
	f.settled()
	change(f, b, func(p *v1.Pod) { p.Finalizers = nil })
	f.untilState(b, "unknown")
}

// finalizedBound: a bound pod counts until it is gone.
func (f *failing) finalizedBound() {
	f.limit(f.leaf(), "1")
	a := f.pod("a", withFinalizer)
	f.untilRuns(a, f.leaf())
	b := f.pod("b")
	f.untilState(b, "Waiting "+f.leaf())
	f.remove(a)
	f.until("a is being deleted", func() (bool, string) { return f.get(a).DeletionTimestamp != nil, "it is not" })
	f.settled()
	f.untilState(b, "Waiting "+f.leaf())
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
	change(f, a, func(p *v1.Pod) { p.Finalizers = nil })
	f.untilRuns(b, f.leaf())
}

func (f *failing) relabelledBehindMax() {
	f.limit(f.leaf(), "0")
	f.queue(f.leaf() + "-other")
	p := f.pod("a")
	f.untilState(p, "Waiting "+f.leaf())
	change(f, p, withQueue(f.leaf()+"-other"))
	f.untilRuns(p, f.leaf()+"-other")
}

func (f *failing) relabelledWithoutQueue() {
	p := f.pod("a", withQueue(f.leaf()+"-missing"))
	f.untilHeld(p.Name, "QueueNotFound", f.leaf()+"-missing")
	change(f, p, withQueue("a_b"))
	f.untilHeld(p.Name, "QueueNameInvalid", "a_b")
	f.settled()
	change(f, p, withQueue(f.leaf()))
	f.untilRuns(p, f.leaf())
	f.untilAccepted(p.Name)
}

// relabelledParked: the pod that its class waits behind moves to a queue that may not run it. Its class does not wait with it.
func (f *failing) relabelledParked() {
	f.queue(f.leaf() + "-other max.cpu=0")
	p := f.pod("a", f.nowhere)
	f.untilUnschedulable(p, f.leaf())
	next := f.pod("b", f.nowhere)
	f.untilState(next, "Waiting "+f.leaf())
	change(f, p, withQueue(f.leaf()+"-other"))
	f.untilState(p, "Waiting "+f.leaf()+"-other")
	f.settled()
	defer f.somewhere("node-1")()
	f.untilRuns(next, f.leaf())
	f.settled()
	f.untilState(p, "Waiting "+f.leaf()+"-other")
	change(f, p, withQueue(f.leaf()))
	f.untilRuns(p, f.leaf())
}

func (f *failing) relabelledGated() {
	f.queue(f.leaf() + "-other")
	p := f.pod("a", withGates("example.com/one"))
	f.untilState(p, "Waiting "+f.leaf()+" SchedulingGate")
	change(f, p, withQueue(f.leaf()+"-other"))
	f.untilState(p, "Waiting "+f.leaf()+"-other SchedulingGate")
	f.settled()
	change(f, p, withGates())
	f.untilRuns(p, f.leaf()+"-other")
}

// taint keeps all others off a node, gives it the scene's label, and returns how to undo that.
func (f *failing) taint(name string) (undo func()) {
	f.t.Helper()
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	change(f, node, func(n *v1.Node) {
		n.Labels[sceneLabel] = f.name
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: f.name, Effect: v1.TaintEffectNoSchedule})
	})
	return func() {
		change(f, node, func(n *v1.Node) {
			delete(n.Labels, sceneLabel)
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == f.name })
		})
	}
}

func (f *failing) tolerate(p *v1.Pod) {
	p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: f.name, Operator: v1.TolerationOpExists})
}

// toleratedBehindAProbe: a pod that learns to tolerate leaves the class of those that do not.
func (f *failing) toleratedBehindAProbe() {
	defer f.taint("node-1")()
	probe := f.pod("a", f.nowhere)
	f.untilUnschedulable(probe, f.leaf())
	next := f.pod("b", f.nowhere)
	f.untilState(next, "Waiting "+f.leaf())
	change(f, next, f.tolerate)
	f.untilRuns(next, f.leaf())
	f.settled()
	f.untilUnschedulable(probe, f.leaf())
	change(f, probe, f.tolerate)
	f.untilRuns(probe, f.leaf())
}

// resize asks for another size of the pod in place.
func (f *failing) resize(p *v1.Pod, cpu string) {
	f.t.Helper()
	text := fmt.Sprintf(`{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":%q}}}]}}`, cpu)
	_, err := f.kube.CoreV1().Pods(p.Namespace).Patch(f.ctx, p.Name, types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{}, "resize")
	f.must(err)
}

// resized says what the kubelet says once the pod has the size that its spec asks for.
func (f *failing) resized(p *v1.Pod) {
	f.t.Helper()
	changeStatus(f, p, func(p *v1.Pod) {
		size := p.Spec.Containers[0].Resources.DeepCopy()
		p.Status.ContainerStatuses = []v1.ContainerStatus{{
			Name: "c", Image: "none", Ready: true, Resources: size, AllocatedResources: size.Requests,
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{}},
		}}
	})
}

// resizedUpAndDown: usage follows the larger of what the pod has and what it wants. Over max nothing is stopped, and nothing more runs.
func (f *failing) resizedUpAndDown() {
	f.limit(f.leaf(), "2")
	a := f.pod("a")
	f.untilRuns(a, f.leaf())
	f.until("a runs", func() (bool, string) {
		now := f.get(a)
		return now.Status.Phase == v1.PodRunning, string(now.Status.Phase)
	})
	f.resized(a)
	f.resize(a, "3")
	f.untilUsed(f.leaf(), "cpu=3 memory=1Gi")
	f.untilQueueCondition(v1alpha1.ConditionOverLimit)
	f.resized(a)
	b := f.pod("b")
	f.untilState(b, "Waiting "+f.leaf())
	f.settled()
	if f.get(a).DeletionTimestamp != nil {
		f.t.Error("a pod that grew over max is deleted")
	}
	f.resize(a, "1")
	f.settled()
	f.untilUsed(f.leaf(), "cpu=3 memory=1Gi") // the kubelet has not done it yet
	f.resized(a)
	f.untilRuns(b, f.leaf())
	f.untilUsed(f.leaf(), "cpu=2 memory=2Gi")
}

func (f *failing) untilQueueCondition(kind string) {
	f.t.Helper()
	f.until(f.leaf()+" says "+kind, func() (bool, string) {
		cs := f.getQueue(f.leaf()).Status.Conditions
		return slices.ContainsFunc(cs, func(c metav1.Condition) bool { return c.Type == kind && c.Status == metav1.ConditionTrue }), fmt.Sprint(cs)
	})
}

// resizedBehindMax: too large for the queue, then not.
func (f *failing) resizedBehindMax() {
	f.limit(f.leaf(), "2")
	p := f.pod("a", withCPU("3"))
	f.untilState(p, "Waiting "+f.leaf())
	f.settled()
	f.resize(p, "2")
	f.untilRuns(p, f.leaf())
	f.untilUsed(f.leaf(), "cpu=2 memory=1Gi")
}

// resizedParked: too large for every node, then not.
func (f *failing) resizedParked() {
	p := f.pod("a", withCPU("9"))
	f.untilUnschedulable(p, f.leaf())
	f.settled()
	f.resize(p, "2")
	f.untilRuns(p, f.leaf())
	f.untilUsed(f.leaf(), "cpu=2 memory=1Gi")
}

// kubeletRejects: the kubelet sees less room than we did. The pod has failed and holds nothing.
func (f *failing) kubeletRejects() {
	f.limit(f.leaf(), "1")
	a := f.pod("a")
	f.untilRuns(a, f.leaf())
	b := f.pod("b")
	f.untilState(b, "Waiting "+f.leaf())
	changeStatus(f, a, func(p *v1.Pod) {
		p.Status.Phase, p.Status.Reason, p.Status.Message = v1.PodFailed, "OutOfcpu", "Node didn't have enough resource: cpu"
	})
	f.untilState(a, "unknown")
	f.untilRuns(b, f.leaf())
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
	if now := f.get(a); now == nil || now.Status.Phase != v1.PodFailed || !strings.HasPrefix(now.Status.Reason, "OutOf") {
		f.t.Errorf("the rejected pod is %v", now)
	}
}

func (f *failing) podCompletes() {
	f.limit(f.leaf(), "1")
	a := f.pod("a", func(p *v1.Pod) { p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: "0.1"} })
	b := f.pod("b")
	f.untilState(a, "unknown")
	f.untilRuns(b, f.leaf())
}
