package convert

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestNodeAllocatable(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{
		Capacity: amounts("cpu", "64"),
		Allocatable: amounts("cpu", "62500m", "memory", "240Gi", "ephemeral-storage", "100Gi", "pods", "110",
			"hugepages-2Mi", "0", "attachable-volumes-csi-disk", "25", "example.com/gpu", "8"),
	}}
	want := "cpu=62500m ephemeral-storage=100Gi example.com/gpu=8 memory=240Gi"
	if got := NodeAllocatable(node).String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := NodeAllocatable(&corev1.Node{}); got.Len() != 0 {
		t.Errorf("an empty node offers %v", got)
	}
}

func TestNodeUsable(t *testing.T) {
	ready := func(s corev1.ConditionStatus) []corev1.NodeCondition {
		return []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}, {Type: corev1.NodeReady, Status: s}}
	}
	for name, tc := range map[string]struct {
		node corev1.Node
		want bool
	}{
		"a ready node counts":                  {corev1.Node{Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionTrue)}}, true},
		"a node that is not ready does not":    {corev1.Node{Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionFalse)}}, false},
		"a node unheard of does not":           {corev1.Node{Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionUnknown)}}, false},
		"a node without conditions does not":   {corev1.Node{}, false},
		"a cordoned node does not":             {corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}, Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionTrue)}}, false},
		"a tainted node counts, pods may bear": {corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "set-apart", Effect: corev1.TaintEffectNoSchedule}}}, Status: corev1.NodeStatus{Conditions: ready(corev1.ConditionTrue)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NodeUsable(&tc.node); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
