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

// AnnouncedFor returns the path of the queue that an announcement names.
func AnnouncedFor(c *corev1.PodCondition) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(c.Message, v1alpha1.PreemptionMessage), " ")
	return strings.TrimRight(path, ",:;")
}
