package feed

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// What a pod shows to whoever adds nodes is read from it: type, status and reason, while it has no node and is not about to go.
func TestAPodComesWithWhatItShowsToAutoscalers(t *testing.T) {
	l := ledger.New(ledger.Options{})
	f := &Feed{
		Ledger: l, Classes: &Classes{}, Kick: func() {}, Now: func() int64 { return 1 }, Gate: func(*v1.Pod) string { return "" },
		Ours: func(string) bool { return true },
	}
	says := func(kind v1.PodConditionType, status v1.ConditionStatus, reason, message string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Status.Conditions = []v1.PodCondition{
				{Type: v1.PodInitialized, Status: v1.ConditionTrue}, {Type: kind, Status: status, Reason: reason, Message: message},
			}
		}
	}
	unschedulable := says(v1.PodScheduled, v1.ConditionFalse, "Unschedulable", "0/1 nodes are available.")
	for name, c := range map[string]struct {
		edits []func(*v1.Pod)
		want  string
	}{
		"nothing":           {nil, ""},
		"unschedulable":     {[]func(*v1.Pod){unschedulable}, "0/1 nodes are available."},
		"without-a-message": {[]func(*v1.Pod){says(v1.PodScheduled, v1.ConditionFalse, "Unschedulable", "")}, "Unschedulable"},
		"gated":             {[]func(*v1.Pod){says(v1.PodScheduled, v1.ConditionFalse, "SchedulingGated", "gated")}, ""},
		"failed":            {[]func(*v1.Pod){says(v1.PodScheduled, v1.ConditionFalse, "SchedulerError", "no answer")}, ""},
		"another-condition": {[]func(*v1.Pod){says(v1.PodReady, v1.ConditionFalse, "Unschedulable", "no")}, ""},
		"bound":             {[]func(*v1.Pod){unschedulable, func(p *v1.Pod) { p.Spec.NodeName = "n" }}, ""},
		"being-deleted":     {[]func(*v1.Pod){unschedulable, func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{} }}, ""},
	} {
		f.ObservePod(pod(name, c.edits...))
		if s, known := l.PodState(ledger.UID(name)); !known || s.Unschedulable != c.want {
			t.Errorf("%s: got %q, want %q", name, s.Unschedulable, c.want)
		}
	}
}
