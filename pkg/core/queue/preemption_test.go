package queue_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func after(nanoseconds int64) queue.Timeout {
	return queue.Timeout{Stated: true, Nanoseconds: nanoseconds}
}

var off = queue.Timeout{Stated: true, Never: true}

// If a queue leaves a setting open, the nearest queue above that states it decides; each setting by itself.
func TestPreemptionIsInheritedFromTheNearest(t *testing.T) {
	root := queue.Preemption{FairShareThreshold: queue.AtMost(800), FairShareTimeout: after(60), GuaranteedTimeout: after(15)}
	for name, tc := range map[string]struct {
		path []queue.Preemption // below the root, downwards
		want queue.Preemption
	}{
		"nothing is stated below": {[]queue.Preemption{{}, {}}, root},
		"one is stated, two come from above": {[]queue.Preemption{{FairShareTimeout: after(30)}},
			queue.Preemption{FairShareThreshold: queue.AtMost(800), FairShareTimeout: after(30), GuaranteedTimeout: after(15)}},
		"the nearest of two": {[]queue.Preemption{{FairShareThreshold: queue.AtMost(500)}, {FairShareThreshold: queue.AtMost(900)}, {}},
			queue.Preemption{FairShareThreshold: queue.AtMost(900), FairShareTimeout: after(60), GuaranteedTimeout: after(15)}},
		"never switches off below": {[]queue.Preemption{{FairShareTimeout: off}, {}},
			queue.Preemption{FairShareThreshold: queue.AtMost(800), FairShareTimeout: off, GuaranteedTimeout: after(15)}},
		"and can be switched on again further down": {[]queue.Preemption{{GuaranteedTimeout: off}, {GuaranteedTimeout: after(5)}},
			queue.Preemption{FairShareThreshold: queue.AtMost(800), FairShareTimeout: after(60), GuaranteedTimeout: after(5)}},
	} {
		is := root
		for _, p := range tc.path {
			is = p.Under(is)
		}
		if is != tc.want {
			t.Errorf("%s: %+v, want %+v", name, is, tc.want)
		}
	}
}

func TestNotPreemptibleCannotBeUndoneBelow(t *testing.T) {
	no, yes := queue.Preemption{NotPreemptible: true}, queue.Preemption{}
	for name, tc := range map[string]struct {
		path []queue.Preemption
		want bool
	}{
		"nobody says no":              {[]queue.Preemption{yes, yes}, false},
		"the queue says no":           {[]queue.Preemption{yes, no}, true},
		"its parent says no":          {[]queue.Preemption{no, yes}, true},
		"the root says no, far above": {[]queue.Preemption{no, yes, yes, yes}, true},
	} {
		is := queue.Preemption{}
		for _, p := range tc.path {
			is = p.Under(is)
		}
		if is.NotPreemptible != tc.want {
			t.Errorf("%s: not preemptible is %t", name, is.NotPreemptible)
		}
	}
}

// What the root states for the cluster applies everywhere, even if a queue below states something else.
func TestPreemptionOfTheRootHoldsForAll(t *testing.T) {
	root := queue.Preemption{
		ObserveOnly: true, UtilizationThreshold: queue.AtMost(700), Interval: after(5), MaxWaitBeforeKill: after(30),
		TotalPerRound: queue.AtMost(100), MaxIgnoredOverCapacity: queue.AtMost(100), NaturalTerminationFactor: queue.AtMost(200),
	}
	below := queue.Preemption{
		UtilizationThreshold: queue.AtMost(0), Interval: after(1), MaxWaitBeforeKill: after(0),
		TotalPerRound: queue.AtMost(1), MaxIgnoredOverCapacity: queue.AtMost(1), NaturalTerminationFactor: queue.AtMost(1),
	}
	if got := below.Under(root); got != root {
		t.Errorf("in force is %+v, want %+v", got, root)
	}
}

func TestTimeoutRunsFromTheBeginningOfTheClock(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout queue.Timeout
		since   int64
		want    int64
	}{
		"not stated":        {queue.Timeout{}, 1000, 0},
		"never":             {off, 1000, 0},
		"no clock runs":     {after(60), 0, 0},
		"stated and begun":  {after(60), 1000, 1060},
		"stated to be none": {after(0), 1000, 1000},
	} {
		if got := tc.timeout.After(tc.since); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestThreshold(t *testing.T) {
	if got := (queue.Preemption{}).Threshold(); got != 500 {
		t.Errorf("nothing stated: %d, want 500", got)
	}
	if got := (queue.Preemption{FairShareThreshold: queue.AtMost(1000)}).Threshold(); got != 1000 {
		t.Errorf("all of it: %d", got)
	}
}
