package convert

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// Announcement returns the condition by which a pod shows that this scheduler is about to evict it, nil if it does not. Other schedulers
// write the same type and reason, so the message decides.
func Announcement(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler &&
			strings.HasPrefix(c.Message, v1alpha1.PreemptionMessage) && !c.LastTransitionTime.IsZero() {
			return c
		}
	}
	return nil
}

// AnnouncedFor returns what an announcement names: the path of a queue, and namespace and name of a pod that needs the room, each "" where it
// names none.
func AnnouncedFor(c *corev1.PodCondition) (queue, pod string) {
	word := func(text string) string {
		text, _, _ = strings.Cut(text, " ")
		return strings.TrimRight(text, ",:;")
	}
	text := strings.TrimPrefix(c.Message, v1alpha1.PreemptionMessage)
	_, after, _ := strings.Cut(text, " for pod ")
	return word(text), word(after)
}
