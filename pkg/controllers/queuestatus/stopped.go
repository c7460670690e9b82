package queuestatus

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// stateOf is whether a queue takes new applications. One that is not in the tree keeps what it was, as with its policy.
func stateOf(q ledger.QueueState, previous v1alpha1.QueueStatus) v1alpha1.QueueState {
	if !q.InTree {
		return previous.State
	}
	return v1alpha1.QueueState(q.State.String())
}

// stoppedSince is what a restart needs to know which applications go on.
func stoppedSince(q ledger.QueueState, previous v1alpha1.QueueStatus) *metav1.Time {
	if !q.InTree {
		return previous.StoppedSince
	}
	return convert.ClockTime(q.StoppedSince) // which has whole seconds
}

// stoppedQueues is what admission reads, cut to what the schema takes. The scheduler blocks what admission lets pass.
func stoppedQueues(q ledger.QueueState) []string {
	var names []string
	for _, p := range q.StoppedQueues[:min(len(q.StoppedQueues), v1alpha1.MaxStoppedShown)] {
		names = append(names, string(p))
	}
	return names
}

// stopsLate: a restart, or admission, does not know yet of a queue that was stopped or started.
func stopsLate(stored, desired v1alpha1.QueueStatus) bool {
	return !stored.StoppedSince.Equal(desired.StoppedSince) || !slices.Equal(stored.StoppedQueues, desired.StoppedQueues)
}
