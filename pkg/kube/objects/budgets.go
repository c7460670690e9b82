package objects

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Budget is a PodDisruptionBudget: the UIDs of the pods that it covers, and how many more of them may be evicted.
type Budget struct {
	Pods    []string
	Allowed int
}

// Budgets returns the budgets of the set. The status says how many pods may be evicted, as the Eviction API reads it:
// none while the status is of an older spec. A hand-written file has no status; there the spec and the pods decide.
func (s *Set) Budgets() []Budget {
	all := make([]Budget, 0, len(s.PodDisruptionBudgets))
	for _, b := range s.PodDisruptionBudgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil { // no API server lets it in
			continue
		}
		budget, healthy := Budget{}, 0
		for _, p := range s.Pods {
			if p.Namespace != b.Namespace || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || !selector.Matches(labels.Set(p.Labels)) {
				continue
			}
			budget.Pods = append(budget.Pods, string(p.UID))
			if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
				healthy++
			}
		}
		switch {
		case b.Status.ObservedGeneration == 0 && len(b.Status.Conditions) == 0 && b.Status.ExpectedPods == 0 && b.Generation == 0:
			budget.Allowed = max(0, healthy-desired(b, len(budget.Pods)))
		case b.Status.ObservedGeneration >= b.Generation:
			budget.Allowed = max(0, int(b.Status.DisruptionsAllowed))
		}
		all = append(all, budget)
	}
	return all
}

// desired returns how many of so many pods must stay. Percentages round up, as in the disruption controller.
func desired(b *policyv1.PodDisruptionBudget, pods int) int {
	of, maxUnavailable := b.Spec.MinAvailable, false
	if b.Spec.MaxUnavailable != nil {
		of, maxUnavailable = b.Spec.MaxUnavailable, true
	}
	if of == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(of, pods, true)
	switch {
	case err != nil: // no API server lets it in
		return pods
	case maxUnavailable:
		return pods - n
	}
	return n
}
