package convert

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

func TestAnAnnouncementNamesItsQueue(t *testing.T) {
	for message, want := range map[string]string{
		v1alpha1.PreemptionMessage + "root.a":                      "root.a",
		v1alpha1.PreemptionMessage + "root.a.b: so it is":          "root.a.b",
		v1alpha1.PreemptionMessage + "root.a, which is owed 5 cpu": "root.a",
		v1alpha1.PreemptionMessage + "root.a for pod x/y":          "root.a",
		v1alpha1.PreemptionMessage:                                 "",
	} {
		if got := AnnouncedFor(&corev1.PodCondition{Message: message}); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}
