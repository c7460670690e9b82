package feed

import (
	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// facts are what of a node alone decides whether a pod may use it: name, labels and taints. It is a node with nothing
// else in it.
type facts = *v1.Node

func factsOf(n *v1.Node) facts {
	f := &v1.Node{}
	f.Name, f.Labels, f.Spec.Taints = n.Name, n.Labels, n.Spec.Taints
	if n.Spec.Unschedulable { // the filter NodeUnschedulable treats a cordoned node as one with this taint
		f.Spec.Taints = append(f.Spec.Taints[:len(f.Spec.Taints):len(f.Spec.Taints)],
			v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
	return f
}

// factsFor returns the facts of a node: the same pointer as before if they are unchanged.
func (f *Feed) factsFor(n *v1.Node) facts {
	now := factsOf(n)
	if before, ok := f.nodeFacts.Load(n.Name); ok && apiequality.Semantic.DeepEqual(before, now) {
		return before.(facts)
	}
	f.nodeFacts.Store(n.Name, now)
	return now
}

// eligible answers ledger.Pod.Eligible as the filters NodeName, NodeAffinity, TaintToleration and NodeUnschedulable would.
func eligible(pod *v1.Pod) func(any) bool {
	affinity, tolerations := nodeaffinity.GetRequiredNodeAffinity(pod), pod.Spec.Tolerations
	selects := len(pod.Spec.NodeSelector) > 0 || pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil
	return func(f any) bool {
		n, ok := f.(facts)
		if !ok {
			return false
		}
		if len(n.Spec.Taints) > 0 {
			// With the comparison operators, which the API server accepts only if their feature is on.
			if _, bad := corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, n.Spec.Taints, tolerations, keepsOut, true); bad {
				return false
			}
		}
		if !selects {
			return true
		}
		matches, err := affinity.Match(n)
		return err != nil || matches // an affinity that cannot be read is the filter's to refuse
	}
}

func keepsOut(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
}
