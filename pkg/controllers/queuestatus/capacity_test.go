package queuestatus

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func TestStatusOfCapacities(t *testing.T) {
	byCapacity := sound("root.a")
	byCapacity.Spec.Capacity, byCapacity.Absolute = queue.AtMost(12_500), fairshare.Absolute{Capacity: 6_250_000, Max: 50_000_000}
	limited := byCapacity
	limited.Spec.MaxCapacity = queue.AtMost(50_000)
	blocked := ledger.QueueState{Path: "root.a", Declared: true}
	before := v1alpha1.QueueStatus{Capacity: "40%", MaxCapacity: "60%", AbsoluteCapacity: "20%", AbsoluteMaxCapacity: "30%"}
	for name, c := range map[string]struct {
		state ledger.QueueState
		want  [4]string
	}{
		"by weight":                        {sound("root.a"), [4]string{}},
		"by capacity":                      {byCapacity, [4]string{"12.5%", "100%", "6.25%", "50%"}},
		"with a maximum":                   {limited, [4]string{"12.5%", "50%", "6.25%", "50%"}},
		"not in force: what is remembered": {blocked, [4]string{"40%", "60%", "", ""}},
	} {
		s := Status(c.state, before, 1, metav1.NewTime(start))
		if got := [4]string{s.Capacity, s.MaxCapacity, s.AbsoluteCapacity, s.AbsoluteMaxCapacity}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
