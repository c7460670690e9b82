package feed

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// openFeed is a feed into a ledger of its own that takes every pod for ours and that nobody else gates.
func openFeed() *Feed {
	return &Feed{
		Ledger: ledger.New(ledger.Options{}), Classes: &Classes{}, Kick: func() {}, Now: func() int64 { return 1 },
		Gate: func(*v1.Pod) string { return "" }, Ours: func(string) bool { return true },
	}
}

// What a pod shows to cluster autoscalers is read from it (type, status and reason) while it has no node and is not being deleted.
func TestAPodComesWithWhatItShowsToAutoscalers(t *testing.T) {
	f := openFeed()
	l := f.Ledger
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

// The time at which a pod got its node is read from the pod, so the next leader and a picture made from a dump count from the same moment.
func TestAPodComesWithWhenItWasBound(t *testing.T) {
	f := openFeed()
	l := f.Ledger
	at := func(second int64) metav1.Time { return metav1.Unix(second, 0) }
	scheduled := func(status v1.ConditionStatus, since metav1.Time) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Status.Conditions = []v1.PodCondition{
				{Type: v1.PodInitialized, Status: v1.ConditionTrue, LastTransitionTime: at(900)},
				{Type: v1.PodScheduled, Status: status, LastTransitionTime: since},
			}
		}
	}
	started := func(p *v1.Pod) { start := at(200); p.Status.StartTime = &start }
	node := func(p *v1.Pod) { p.Spec.NodeName = "n" }
	for name, c := range map[string]struct {
		edits []func(*v1.Pod)
		want  int64
	}{
		"waiting":                 {nil, 0},
		"waiting-but-scheduled":   {[]func(*v1.Pod){scheduled(v1.ConditionTrue, at(300)), started}, 0},
		"scheduled":               {[]func(*v1.Pod){node, scheduled(v1.ConditionTrue, at(300)), started}, 300e9},
		"being-deleted":           {[]func(*v1.Pod){node, scheduled(v1.ConditionTrue, at(300)), func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{} }}, 300e9},
		"still-says-it-waits":     {[]func(*v1.Pod){node, scheduled(v1.ConditionFalse, at(300)), started}, 200e9},
		"does-not-say-since-when": {[]func(*v1.Pod){node, scheduled(v1.ConditionTrue, metav1.Time{}), started}, 200e9},
		"started":                 {[]func(*v1.Pod){node, started}, 200e9},
		"says-nothing":            {[]func(*v1.Pod){node}, 100e9},
	} {
		f.ObservePod(pod(name, append(c.edits, func(p *v1.Pod) { p.CreationTimestamp = at(100) })...))
		if s, known := l.PodState(ledger.UID(name)); !known || s.Bound != c.want {
			t.Errorf("%s: got %d, want %d", name, s.Bound, c.want)
		}
	}
}

// What an earlier process of the scheduler has said about a preemption is read back from the pods.
func TestAPodComesWithWhatPreemptionLeftOnIt(t *testing.T) {
	f := openFeed()
	l := f.Ledger
	says := func(kind v1.PodConditionType, status v1.ConditionStatus, reason, message string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Status.Conditions = []v1.PodCondition{
				{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: metav1.Unix(900, 0)},
				{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Unix(1000, 0)},
			}
		}
	}
	const ours = "Preempted by queue root.a, which has less than its fair share"
	on := func(p *v1.Pod) { p.Spec.NodeName = "n" }
	nominated := func(p *v1.Pod) { p.Status.NominatedNodeName = "m" }
	leaving := func(p *v1.Pod) { at := metav1.Unix(1030, 0); p.DeletionTimestamp = &at }
	announced := says(v1.DisruptionTarget, v1.ConditionTrue, "PreemptionByScheduler", ours)
	type left struct {
		deadline, announced int64
		nominated           string
	}
	for name, c := range map[string]struct {
		edits []func(*v1.Pod)
		want  left
	}{
		"nothing":            {nil, left{}},
		"runs":               {[]func(*v1.Pod){on}, left{}},
		"announced":          {[]func(*v1.Pod){on, announced}, left{announced: 1000e9}},
		"announced-and-gone": {[]func(*v1.Pod){on, announced, leaving}, left{announced: 1000e9, deadline: 1030e9}},
		"withdrawn":          {[]func(*v1.Pod){on, says(v1.DisruptionTarget, v1.ConditionFalse, "PreemptionByScheduler", ours)}, left{}},
		"by-another":         {[]func(*v1.Pod){on, says(v1.DisruptionTarget, v1.ConditionTrue, "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")}, left{}},
		"evicted-by-hand":    {[]func(*v1.Pod){on, says(v1.DisruptionTarget, v1.ConditionTrue, "EvictionByEvictionAPI", ours)}, left{}},
		"another-condition":  {[]func(*v1.Pod){on, says(v1.PodReadyToStartContainers, v1.ConditionTrue, "PreemptionByScheduler", ours)}, left{}},
		"nominated":          {[]func(*v1.Pod){nominated}, left{nominated: "m"}},
		"nominated-once":     {[]func(*v1.Pod){nominated, on}, left{}},
		"being-deleted":      {[]func(*v1.Pod){on, leaving}, left{deadline: 1030e9}},
	} {
		f.ObservePod(pod(name, c.edits...))
		s, known := l.PodState(ledger.UID(name))
		if got := (left{s.Deadline, s.Announced, s.Nominated}); !known || got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
