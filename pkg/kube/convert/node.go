package convert

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// NodeAllocatable returns what a node offers to pods. Besides `pods`, the count of attachable volumes is left out: no pod requests it by
// that name, so there is nothing to share.
func NodeAllocatable(node *corev1.Node) resource.List {
	all := Amounts(node.Status.Allocatable)
	entries := make([]resource.Entry, 0, all.Len())
	for i := range all.Len() {
		e := all.At(i)
		if e.Value != 0 && !strings.HasPrefix(string(e.Name), corev1.ResourceAttachableVolumesPrefix) {
			entries = append(entries, e)
		}
	}
	return resource.Of(entries...)
}

// NodeUsable reports whether a node counts towards the cluster: it is Ready and not cordoned. Other taints do not matter
// here: whether they keep a pod away depends on the pod.
func NodeUsable(node *corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
