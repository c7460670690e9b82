package convert

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// maxPreferred is how many names of an annotation count, those first in the alphabet: a pod with more has no use for a delay.
const maxPreferred = 64

// PreferredNodes returns the names of the nodes that the pod prefers, each once, in order, joined by commas.
func PreferredNodes(pod *corev1.Pod) string {
	return names(pod.Annotations[v1alpha1.KeyPreferredNodes])
}

// PreferredRacks is PreferredNodes for racks.
func PreferredRacks(pod *corev1.Pod) string { return names(pod.Annotations[v1alpha1.KeyPreferredRack]) }

func names(list string) string {
	if list == "" {
		return ""
	}
	all := strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	slices.Sort(all)
	all = slices.Compact(all)
	return strings.Join(all[:min(len(all), maxPreferred)], ",")
}
