package convert

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

func TestAnAnnouncementNamesItsQueue(t *testing.T) {
	for message, want := range map[string][2]string{
		v1alpha1.PreemptionMessage + "root.a":             {"root.a", ""},
		v1alpha1.PreemptionMessage + "root.a.b: so it is": {"root.a.b", ""},
		v1alpha1.PreemptionMessage + "root.a, which is below its fair share, for pod team/p: root.b has 4 cpu above its fair share": {"root.a", "team/p"},
		v1alpha1.PreemptionMessage + "root.a, which is below its guarantee, for pod team/p; it is evicted at noon":                  {"root.a", "team/p"},
		v1alpha1.PreemptionMessage: {"", ""},
	} {
		if queue, pod := AnnouncedFor(&corev1.PodCondition{Message: message}); queue != want[0] || pod != want[1] {
			t.Errorf("%q: got %q and %q, want %q", message, queue, pod, want)
		}
	}
}
