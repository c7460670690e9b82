package convert

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Lasts returns for how long the pod says that it will run, in nanoseconds: what its annotation expects, and no longer than its activeDeadlineSeconds. 0: it
// says nothing. An annotation that is no duration above 0 says nothing.
func Lasts(pod *corev1.Pod) int64 {
	expected, err := time.ParseDuration(pod.Annotations[v1alpha1.KeyExpectedDuration])
	if err != nil {
		expected = 0
	}
	lasts := max(int64(expected), 0)
	if d := pod.Spec.ActiveDeadlineSeconds; d != nil && *d > 0 {
		if most := resource.SatMul(*d, int64(time.Second)); lasts == 0 || most < lasts {
			lasts = most
		}
	}
	return lasts
}
