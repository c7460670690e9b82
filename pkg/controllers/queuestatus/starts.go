package queuestatus

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// starts is what the status of a StateAware queue shows and remembers of its starts, cut to what the schema allows. A
// queue that is not in the tree keeps it, as it keeps its last good policy.
func starts(q ledger.QueueState, previous *v1alpha1.QueueStarts) *v1alpha1.QueueStarts {
	switch {
	case !q.InTree:
		return previous
	case q.Starts == nil:
		return nil
	}
	s := &v1alpha1.QueueStarts{Timeout: application.Duration(q.Starts.Timeout)}
	if q.Starts.Percentile > 0 {
		s.Percentile95 = application.Duration(q.Starts.Percentile)
	}
	for _, a := range q.Starts.Starting[:min(len(q.Starts.Starting), v1alpha1.MaxStartingShown)] {
		s.Applications = append(s.Applications, v1alpha1.StartingApplication{Name: a.Application, Since: clockTime(a.Since), Until: clockTime(a.Until)})
	}
	s.Started, s.LastStarts = convert.QueueStarts(q.Starts.Memory)
	return s
}

// clockTime rounds to the precision of the wire, so that a time that was read back equals the one that was written.
func clockTime(nanoseconds int64) *metav1.Time {
	t := metav1.Unix(0, nanoseconds).Rfc3339Copy()
	return &t
}

// sameStarts reports whether two gates give the same status.
func sameStarts(a, b *ledger.GateStatus) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Timeout == b.Timeout && a.Percentile == b.Percentile && slices.Equal(a.Starting, b.Starting) && a.Memory.Equal(b.Memory)
}

// forgetful reports whether a restart would make an application start again that has started, because the status does
// not yet say that it did.
func forgetful(stored, desired v1alpha1.QueueStatus) bool {
	return !slices.Equal(startedOf(stored), startedOf(desired)) || stored.Capacity != desired.Capacity || stored.MaxCapacity != desired.MaxCapacity
}

func startedOf(s v1alpha1.QueueStatus) []string {
	if s.Starts == nil {
		return nil
	}
	return s.Starts.Started
}
