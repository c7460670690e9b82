package integration

import (
	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// Pods to which another scheduler gave a node.

// boundElsewhereBehindMax: another scheduler may bind a pod that a limit blocks. The pod counts all the same.
func (f *failing) boundElsewhereBehindMax() {
	f.limit(f.leaf(), "0")
	p := f.pod("a")
	f.untilState(p, "Waiting "+f.leaf())
	f.bind(p, "node-2")
	f.untilRuns(p, f.leaf())
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
	f.untilQueueCondition(v1alpha1.ConditionOverLimit)
}

// boundElsewhereWithoutQueue: a pod that somebody else bound makes no queue. It counts in the nearest one above that it names.
func (f *failing) boundElsewhereWithoutQueue() {
	ghost := f.leaf() + "-missing"
	p := f.pod("a", withQueue(ghost))
	f.untilState(p, "Waiting - QueueNotFound")
	f.bind(p, "node-2")
	f.untilRuns(p, "root")
	f.settled()
	f.untilUsed(ghost, "no such queue")
}

// boundElsewhereGated: the API server refuses to bind a gated pod, so the other scheduler takes the gates off just before.
func (f *failing) boundElsewhereGated() {
	f.limit(f.leaf(), "0")
	p := f.pod("a", withGates("example.com/one"))
	f.untilState(p, "Waiting "+f.leaf()+" SchedulingGate")
	change(f, p, withGates())
	f.bind(p, "node-2")
	f.untilRuns(p, f.leaf())
}

// boundElsewhereParked: the pods behind it do not wait for ever.
func (f *failing) boundElsewhereParked() {
	probe := f.pod("a", f.nowhere)
	f.untilUnschedulable(probe, f.leaf())
	next := f.pod("b", f.nowhere)
	f.untilState(next, "Waiting "+f.leaf())
	f.bind(probe, "node-2")
	f.untilRuns(probe, f.leaf())
	f.settled()
	defer f.somewhere("node-1")()
	f.untilRuns(next, f.leaf())
}

// nodeNameFromTheStart: pods that nobody scheduled count in the queue they ask for, whatever state it is in, or in the nearest one above it.
func (f *failing) nodeNameFromTheStart() {
	f.limit(f.leaf(), "1")
	a := f.pod("a", onNode("node-0"), withCPU("2"))
	f.untilRuns(a, f.leaf())
	f.untilUsed(f.leaf(), "cpu=2 memory=1Gi")
	f.untilQueueCondition(v1alpha1.ConditionOverLimit)
	b := f.pod("b", onNode("node-1"), withQueue(f.leaf()+"-missing"))
	f.untilRuns(b, "root")
	c := f.pod("c", onNode("node-2"), withQueue("a_b"))
	f.untilRuns(c, "root")
	d := f.pod("d") // the limit is used up
	f.untilState(d, "Waiting "+f.leaf())
	f.settled()
	f.remove(a)
	f.untilRuns(d, f.leaf())
}

func asMirrorPod(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "static"} }

// staticPod: the kubelet starts it and asks nobody. Another's takes room on its node; one with our schedulerName counts in a queue.
func (f *failing) staticPod() {
	another := f.pod("a", asMirrorPod, onNode("node-1"), withCPU("8"), func(p *v1.Pod) { p.Spec.SchedulerName = v1.DefaultSchedulerName })
	p := f.pod("b", withSelector(v1.LabelHostname, "node-1"))
	f.untilUnschedulable(p, f.leaf())
	f.settled()
	if used := f.used(f.leaf()); used != "" {
		f.t.Errorf("another's pod is charged to us: %s", used)
	}
	f.remove(another)
	f.untilRuns(p, f.leaf())
	ours := f.pod("c", asMirrorPod, onNode("node-1"), withCPU("2"))
	f.untilRuns(ours, f.leaf())
	f.untilUsed(f.leaf(), "cpu=3 memory=2Gi")
	f.settled()
	f.remove(ours)
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
}
