package podgroupstatus

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// gang of three.
func gang(pods, bound int, whole bool) ledger.PodGroupState {
	return ledger.PodGroupState{PodGroup: ledger.PodGroup{Key: "ns/g", MinMember: 3, Whole: whole}, Pods: pods, Bound: bound}
}

func says(phase podgroup.PodGroupPhase, running, succeeded, failed int32) podgroup.PodGroupStatus {
	return podgroup.PodGroupStatus{Phase: phase, Running: running, Succeeded: succeeded, Failed: failed}
}

// there are pods of ours: with a node, and of those running, succeeded and failed ones.
func there(all, placed int, running, succeeded, failed int32) counts {
	return counts{all: all, ours: all, placed: placed, running: running, succeeded: succeeded, failed: failed}
}

func TestTheLifeOfAGroupOfThree(t *testing.T) {
	nothing := podgroup.PodGroupStatus{}
	running, scheduling := says("Running", 3, 0, 0), says("Scheduling", 0, 0, 0)
	finished, failed := says("Finished", 0, 3, 0), says("Failed", 0, 2, 1)
	for what, tc := range map[string]struct {
		g      ledger.PodGroupState
		c      counts
		before podgroup.PodGroupStatus
		want   podgroup.PodGroupStatus
	}{
		"its first pod waits":                  {gang(1, 0, false), there(1, 0, 0, 0, 0), nothing, says("Pending", 0, 0, 0)},
		"all are there and wait":               {gang(3, 0, false), there(3, 0, 0, 0, 0), says("Pending", 0, 0, 0), says("Pending", 0, 0, 0)},
		"a part is bound":                      {gang(3, 2, false), there(3, 2, 1, 0, 0), nothing, says("Unknown", 1, 0, 0)},
		"all have places, none is bound":       {gang(3, 0, true), there(3, 0, 0, 0, 0), nothing, says("Scheduling", 0, 0, 0)},
		"all are bound, as a new process sees": {gang(3, 3, false), there(3, 3, 0, 0, 0), nothing, says("Scheduling", 0, 0, 0)},
		"two of them run":                      {gang(3, 3, true), there(3, 3, 2, 0, 0), scheduling, says("Scheduling", 2, 0, 0)},
		"three run":                            {gang(3, 3, true), there(3, 3, 3, 0, 0), scheduling, running},
		"a fourth waits":                       {gang(4, 3, true), there(4, 3, 3, 0, 0), running, running},
		"one is done":                          {gang(2, 2, true), there(3, 3, 2, 1, 0), running, says("Running", 2, 1, 0)},
		"one failed":                           {gang(2, 2, true), there(3, 3, 2, 0, 1), running, says("Failed", 2, 0, 1)},
		"another takes its place":              {gang(3, 2, true), there(4, 3, 2, 0, 1), says("Failed", 2, 0, 1), says("Failed", 2, 0, 1)},
		"and runs":                             {gang(3, 3, true), there(4, 4, 3, 0, 1), says("Failed", 2, 0, 1), says("Running", 3, 0, 1)},
		"three are done":                       {gang(0, 0, false), there(3, 3, 0, 3, 0), running, finished},
		"the third done, and not yet seen so":  {gang(0, 0, false), there(3, 3, 1, 2, 0), running, says("Running", 1, 2, 0)},
		"one failed, and none is left":         {gang(0, 0, false), there(3, 3, 0, 2, 1), running, failed},
		"three were done while nobody led":     {gang(0, 0, false), there(3, 3, 0, 3, 0), says("Pending", 0, 0, 0), finished},
		"two were done while nobody led":       {gang(1, 0, false), there(3, 2, 0, 2, 0), says("Pending", 0, 0, 0), says("Pending", 0, 2, 0)},
		"a part was done and is deleted":       {gang(0, 0, false), there(2, 2, 0, 2, 0), says("Running", 2, 1, 0), says("Finished", 0, 2, 0)},
		"finished ones are deleted in part":    {gang(0, 0, false), there(1, 1, 0, 1, 0), finished, says("Finished", 0, 1, 0)},
		"failed ones are deleted in part":      {gang(0, 0, false), there(1, 1, 0, 1, 0), failed, says("Failed", 0, 1, 0)},
		"finished ones are all deleted":        {gang(0, 0, true), counts{}, finished, says("Finished", 0, 0, 0)},
		"failed ones are all deleted":          {gang(0, 0, true), counts{}, failed, says("Failed", 0, 0, 0)},
		"running ones are all deleted":         {gang(0, 0, true), counts{}, running, says("Pending", 0, 0, 0)},
		"new ones after that":                  {gang(3, 0, false), there(3, 0, 0, 0, 0), says("Finished", 0, 0, 0), says("Pending", 0, 0, 0)},
		"new ones while the old are there": {
			gang(3, 0, true), there(6, 3, 0, 3, 0), finished, finished,
		},
		"a restart, one pod in the place of another": {
			gang(1, 0, false), there(3, 2, 0, 1, 1), says("Failed", 0, 1, 1), says("Failed", 0, 1, 1),
		},
		"one waits to start that failed to be one": {gang(2, 0, false), there(3, 0, 0, 0, 1), nothing, says("Pending", 0, 0, 1)},
	} {
		got := statusOf(tc.g, tc.c, tc.before)
		if !equal(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", what, got, tc.want)
		}
	}
}

// Whatever a group comes to: as long as pods are there, its phase says exactly whether it was whole.
func TestThePhaseTellsARestartWhetherTheGroupWasWhole(t *testing.T) {
	for _, whole := range []bool{true, false} {
		for _, before := range []podgroup.PodGroupPhase{"", "Pending", "Scheduling", "Running", "Unknown", "Finished", "Failed"} {
			for i := range 3 * 3 * 3 * 3 {
				bound, running, succeeded, failed := i%3, int32(i/3%3), int32(i/9%3), int32(i/27)
				ended := int(succeeded + failed)
				c := there(1+max(bound, int(running))+ended, 0, running, succeeded, failed)
				if c.placed = bound + ended; !whole {
					c.placed, before = 0, "Pending"
				}
				g := gang(c.all-ended, bound, whole)
				if got := statusOf(g, c, says(before, 0, 0, 0)); convert.WasWhole(got) != whole {
					t.Fatalf("%+v, %+v after %s: %s, which says whole is %v", g, c, before, got.Phase, !whole)
				}
			}
		}
	}
}

func TestWhenItsSchedulingBegan(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	g := gang(3, 0, false)
	g.Since = at.Add(300 * time.Millisecond).UnixNano()
	if got := statusOf(g, there(3, 0, 0, 0, 0), podgroup.PodGroupStatus{}); !got.ScheduleStartTime.Time.Equal(at) {
		t.Errorf("first: %v", got.ScheduleStartTime)
	}
	before := says("Running", 3, 0, 0)
	before.ScheduleStartTime = metav1.NewTime(at)
	if got := statusOf(gang(3, 3, true), there(3, 3, 3, 0, 0), before); !got.ScheduleStartTime.Time.Equal(at) {
		t.Errorf("after a restart: %v", got.ScheduleStartTime)
	}
	before.Phase = "Pending"
	if got := statusOf(gang(3, 0, false), there(3, 0, 0, 0, 0), before); !got.ScheduleStartTime.IsZero() {
		t.Errorf("after its places went back: %v", got.ScheduleStartTime)
	}
}
