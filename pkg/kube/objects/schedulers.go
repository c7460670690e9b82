package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// Schedulers returns the schedulerNames of pods with a condition of Fairway, which takes the right to write the status of pods. likely are those of
// pods that have no more than its annotations, which their creators can write. Both are sorted.
func (s *Set) Schedulers() (known, likely []string) {
	for _, p := range s.Pods {
		name := p.Spec.SchedulerName
		switch {
		case name == "":
		case slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == v1alpha1.PodConditionQueued }):
			known = append(known, name)
		case p.Annotations[v1alpha1.KeyPlacedQueue] != "" && p.Spec.NodeName != "":
			likely = append(likely, name)
		}
	}
	slices.Sort(known)
	slices.Sort(likely)
	known = slices.Compact(known)
	likely = slices.DeleteFunc(slices.Compact(likely), func(name string) bool { return slices.Contains(known, name) })
	return known, likely
}
