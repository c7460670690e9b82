package whatif

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	policylisters "k8s.io/client-go/listers/policy/v1"
)

// budgets applies PodDisruptionBudgets as the Eviction API will.
type budgets struct {
	lister policylisters.PodDisruptionBudgetLister
	pod    func(uid string) *v1.Pod
	// leaving are victims of earlier plans. Those that were not evicted yet will need their budgets.
	leaving []string

	all     []budget
	in      map[string][]int // by namespace: indexes into all
	covered bool             // all is complete
}

type budget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
	allowed  int
}

// overlapping is a budget that allows no eviction: the Eviction API refuses any pod that more than one budget
// covers.
const overlapping = 0

// Budgets implements preemption.Feasibility.
func (b *budgets) Budgets(uid string) []int {
	b.list()
	if len(b.in) == 0 {
		return nil
	}
	return b.of(b.pod(uid))
}

// Allowed implements preemption.Feasibility.
func (b *budgets) Allowed(budget int) int {
	b.list()
	return b.all[budget].allowed
}

func (b *budgets) list() {
	if b.covered {
		return
	}
	b.covered, b.in, b.all = true, map[string][]int{}, []budget{overlapping: {}}
	if b.lister == nil {
		return
	}
	all, err := b.lister.List(labels.Everything())
	if err != nil {
		return // a cache returns no errors
	}
	for _, pdb := range all {
		selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
		if err != nil {
			continue // the API server ignores it, too
		}
		one := budget{PodDisruptionBudget: pdb, selector: selector, allowed: int(pdb.Status.DisruptionsAllowed)}
		if pdb.Status.ObservedGeneration < pdb.Generation {
			one.allowed = 0 // its status is older than its spec
		}
		b.in[pdb.Namespace] = append(b.in[pdb.Namespace], len(b.all))
		b.all = append(b.all, one)
	}
	for _, uid := range b.leaving {
		for _, i := range b.of(b.pod(uid)) {
			b.all[i].allowed--
		}
	}
}

func (b *budgets) of(pod *v1.Pod) []int {
	if pod == nil || pod.Status.Phase == v1.PodPending || pod.DeletionTimestamp != nil {
		return nil // its eviction disrupts nothing
	}
	covering := slices.DeleteFunc(slices.Clone(b.in[pod.Namespace]), func(i int) bool {
		return !b.all[i].selector.Matches(labels.Set(pod.Labels))
	})
	if len(covering) > 1 {
		return []int{overlapping}
	}
	return slices.DeleteFunc(covering, func(i int) bool { return b.all[i].exempts(pod) })
}

// exempts reports whether evicting the pod costs the budget nothing.
func (b *budget) exempts(pod *v1.Pod) bool {
	if _, counted := b.Status.DisruptedPods[pod.Name]; counted {
		return true
	}
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
	})
	if ready {
		return false
	}
	policy := b.Spec.UnhealthyPodEvictionPolicy
	return policy != nil && *policy == policyv1.AlwaysAllow ||
		b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
}
