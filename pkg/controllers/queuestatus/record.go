package queuestatus

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// record is what the writer knows of one Queue.
type record struct {
	name string

	// What the API server holds, as far as we know: from the informer or from the answer to our last write, whichever is
	// newer. If a Queue was replaced by a new one with the same name, that shows here as a newer object with an empty
	// status.
	uid     types.UID
	version string
	status  v1alpha1.QueueStatus

	// What it should hold, and what that was computed from.
	desired    v1alpha1.QueueStatus
	state      ledger.QueueState
	generation int64 // as read before the snapshot that state is from; 0: not yet
	computed   bool  // desired is up to date with state, generation and status

	// What it lacks, by kind of starvation, and whether an event has said so.
	lacks [len(starvations)]reason.Reason
	told  [len(starvations)]bool

	// since is the look at which desired began to differ from status, 0 while they are equal.
	since uint64
	retry writing.Retry
}

// observe takes in the Queue as the informer shows it, if that is news. An answer to our own write is not: the informer shows it later.
func (r *record) observe(stored *unstructured.Unstructured, now time.Time) {
	if !r.olderThan(stored) {
		return
	}
	status := statusOf(stored)
	if stored.GetUID() != r.uid || !equality.Semantic.DeepEqual(status, r.status) {
		r.status, r.desired, r.computed = status, status, false
	}
	if stored.GetUID() != r.uid {
		for i := range starvations {
			r.told[i] = starvations[i].toldBefore(&status, now)
		}
	}
	r.uid, r.version = stored.GetUID(), stored.GetResourceVersion()
	r.retry = writing.Retry{}
}

func (r *record) olderThan(stored *unstructured.Unstructured) bool {
	if stored == nil || stored.GetResourceVersion() == r.version {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(stored.GetResourceVersion(), r.version)
	return err != nil || order > 0
}

// statusOf reads the part of a status that is ours. One that cannot be read counts as empty and is written again.
func statusOf(stored *unstructured.Unstructured) v1alpha1.QueueStatus {
	var status v1alpha1.QueueStatus
	content, ok := stored.Object["status"].(map[string]any)
	if !ok || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status) != nil {
		return v1alpha1.QueueStatus{}
	}
	// The conditions of others are theirs, and the API server keeps the order in which they came.
	var ours []metav1.Condition
	for _, t := range topics {
		for _, c := range status.Conditions {
			if c.Type == t.name {
				ours = append(ours, c)
			}
		}
	}
	status.Conditions = ours
	return status
}

// compute brings desired up to date. look counts the looks at the ledger.
func (r *record) compute(q ledger.QueueState, generation int64, now metav1.Time, look uint64) {
	if r.computed && r.generation == generation && sameState(r.state, q) {
		return
	}
	r.state, r.generation = q, generation
	if generation == 0 {
		// Its generation could not be read before this snapshot. Any other number might promise too much.
		return
	}
	// Compared with the last desired rather than the last written status: a condition that changed while its write waits
	// keeps its time.
	r.desired, r.computed = Status(q, r.desired, generation, now), true
	switch {
	case equality.Semantic.DeepEqual(r.desired, r.status):
		r.since = 0
	case r.since == 0:
		r.since = look
	}
}

// headStart is the advantage, in looks, of a change that a restart depends on. It goes before all later changes, but
// behind those that have waited for longer than that: even if such changes alone are more than can be written, the
// others have their turn.
const headStart = 1000

// turn orders the writes that wait: the smallest goes first.
func (r *record) turn() uint64 {
	if forgetful(r.status, r.desired) || mistimed(r.status, r.desired) || stopsLate(r.status, r.desired) {
		return r.since
	}
	return r.since + headStart
}

// due reports whether a write is wanted and may be tried.
func (r *record) due(now time.Time) bool { return r.computed && r.since != 0 && r.retry.Due(now) }

// wrote takes in the API server's answer to a write.
func (r *record) wrote(answer *unstructured.Unstructured) {
	before := r.uid
	r.status, r.since, r.retry = r.desired, 0, writing.Retry{}
	if answer == nil {
		return
	}
	r.uid, r.version = answer.GetUID(), answer.GetResourceVersion()
	if before != "" && before != r.uid {
		// Another Queue has taken the name, and the write gave it its predecessor's status. (The UID of an apply is no
		// precondition: the status subresource of custom resources ignores it.) Start over.
		r.forget()
	}
}

// forget drops what was known of the status.
func (r *record) forget() {
	r.status, r.desired, r.computed = v1alpha1.QueueStatus{}, v1alpha1.QueueStatus{}, false
}

// sameState reports whether two states of a queue give the same status. It saves converting thousands of idle queues
// while others are busy.
func sameState(a, b ledger.QueueState) bool {
	return a.Path == b.Path && a.Declared == b.Declared && a.InTree == b.InTree && a.Spec.Equal(b.Spec) && a.State == b.State &&
		a.StoppedSince == b.StoppedSince && slices.Equal(a.StoppedQueues, b.StoppedQueues) && slices.Equal(a.Problems, b.Problems) &&
		sameAmounts(a, b) && sameCounts(a, b) && sameStarts(a.Starts, b.Starts) &&
		sameStarvation(a.Starvation, b.Starvation) && a.Effective.Equal(b.Effective) && sameLimits(a, b) && queue.SameHolds(a.Holds, b.Holds)
}

func sameAmounts(a, b ledger.QueueState) bool {
	return a.Absolute == b.Absolute && a.SteadyFairShare.Equal(b.SteadyFairShare) && a.FairShare.Equal(b.FairShare) &&
		a.Allocated.Equal(b.Allocated) && a.Demand.Equal(b.Demand)
}

func sameCounts(a, b ledger.QueueState) bool {
	return a.ApplicationsPending == b.ApplicationsPending && a.ApplicationsStarting == b.ApplicationsStarting &&
		a.ApplicationsRunning == b.ApplicationsRunning && a.PodsPending == b.PodsPending && a.PodsRunning == b.PodsRunning
}

// exists reports whether there is a Queue object behind the state: it is declared, or exists and cannot be read. Queues
// that are in the tree only because of their pods have no object.
func exists(q ledger.QueueState) bool {
	return q.Declared || slices.ContainsFunc(q.Problems, func(p reason.Reason) bool { return p.Code == reason.SpecInvalid })
}
