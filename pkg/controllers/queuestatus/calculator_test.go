package queuestatus

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func TestTheStatusOfTheRootSaysWhichResourcesCount(t *testing.T) {
	for name, want := range map[queue.Path]v1alpha1.ResourceCalculator{"root": v1alpha1.CalculatorMemory, "root.a": ""} {
		q := sound(name)
		q.Spec.Calculator = queue.MemoryCalculator
		if got := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).ResourceCalculator; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Status(sound("root"), v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).ResourceCalculator; got != v1alpha1.CalculatorDominant {
		t.Errorf("by default: %q", got)
	}
}
