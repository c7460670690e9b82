package queuestatus

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// What a restart needs is read back from the status as it was, also while the queue is not in the tree.
func TestStopsAreShownAndReadBack(t *testing.T) {
	q := sound("root.a")
	q.State, q.StoppedSince = queue.StateDraining, nanos(5)
	shown := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))
	if shown.State != v1alpha1.QueueDraining || !shown.StoppedSince.Equal(atSecond(5)) || shown.StoppedQueues != nil {
		t.Errorf("it shows %q since %v, %v", shown.State, shown.StoppedSince, shown.StoppedQueues)
	}
	d, err := convert.Declaration(&v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.a"}, Status: shown})
	if err != nil || d.Memory.StoppedSince != nanos(5) {
		t.Errorf("read back as %d, not %d: %v", d.Memory.StoppedSince, nanos(5), err)
	}
	q.InTree, q.State, q.StoppedSince = false, queue.StateUnstated, 0
	if kept := Status(q, shown, 1, metav1.NewTime(start)); kept.State != v1alpha1.QueueDraining || !kept.StoppedSince.Equal(atSecond(5)) {
		t.Errorf("out of the tree it shows %q since %v", kept.State, kept.StoppedSince)
	}
	q.InTree, q.State = true, queue.StateRunning
	if runs := Status(q, shown, 1, metav1.NewTime(start)); runs.State != v1alpha1.QueueRunning || runs.StoppedSince != nil {
		t.Errorf("started again, it shows %q since %v", runs.State, runs.StoppedSince)
	}
}

func TestTheStatusOfRootNamesSoManyStoppedQueues(t *testing.T) {
	root := sound("root")
	for i := range v1alpha1.MaxStoppedShown + 1 {
		root.StoppedQueues = append(root.StoppedQueues, queue.Path(fmt.Sprintf("root.%03d", i)))
	}
	names := Status(root, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start)).StoppedQueues
	if len(names) != v1alpha1.MaxStoppedShown || names[0] != "root.000" || !slices.IsSorted(names) {
		t.Errorf("%d names, the first is %s", len(names), names[0])
	}
}

func TestStopsHaveAHeadStart(t *testing.T) {
	stop := v1alpha1.QueueStatus{StoppedSince: atSecond(5)}
	names := v1alpha1.QueueStatus{StoppedQueues: []string{"root.a"}}
	for name, tc := range map[string]struct {
		stored, desired v1alpha1.QueueStatus
		urgent          bool
	}{
		"stopped": {v1alpha1.QueueStatus{}, stop, true}, "started": {stop, v1alpha1.QueueStatus{}, true}, "written": {stop, stop, false},
		"named": {v1alpha1.QueueStatus{}, names, true}, "not named any more": {names, v1alpha1.QueueStatus{}, true},
	} {
		if r := (&record{since: 5000, status: tc.stored, desired: tc.desired}); (r.turn() == 5000) != tc.urgent {
			t.Errorf("%s: its turn is %d", name, r.turn())
		}
	}
}
