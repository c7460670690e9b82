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
			is = p.Under(is, false)
		}
		if is != tc.want {
			t.Errorf("%s: %+v, want %+v", name, is, tc.want)
		}
	}
}

// Siblings that share by weight cannot undo what is stated above, those that share by capacity can, either way.
func TestPodsThatMayBePreempted(t *testing.T) {
	type level struct {
		states     queue.Preemptible
		byCapacity bool
	}
	const nothing, yes, no = queue.PreemptibleUnstated, queue.PreemptibleYes, queue.PreemptibleNo
	for name, tc := range map[string]struct {
		path []level // from the root down
		want bool
	}{
		"nobody says anything":                    {[]level{{nothing, false}, {nothing, false}}, true},
		"the queue says no":                       {[]level{{yes, false}, {no, false}}, false},
		"its parent says no":                      {[]level{{no, false}, {nothing, false}}, false},
		"by weight it cannot be undone":           {[]level{{no, false}, {yes, false}}, false},
		"nor further down":                        {[]level{{no, false}, {nothing, false}, {yes, false}}, false},
		"by capacity it can":                      {[]level{{no, false}, {yes, true}}, true},
		"by capacity a queue says no by itself":   {[]level{{yes, false}, {yes, true}, {no, true}}, false},
		"by capacity it is inherited":             {[]level{{no, false}, {nothing, true}}, false},
		"what was undone is inherited":            {[]level{{no, false}, {yes, true}, {nothing, true}, {nothing, false}}, true},
		"what was undone can be said again":       {[]level{{no, false}, {yes, true}, {no, true}}, false},
		"and then by weight it cannot be undone":  {[]level{{no, false}, {yes, true}, {no, false}, {yes, false}}, false},
		"by capacity, below one by weight":        {[]level{{yes, false}, {no, false}, {yes, true}}, true},
		"the root says no, and one queue far off": {[]level{{no, false}, {nothing, true}, {nothing, true}, {yes, true}}, true},
	} {
		is := queue.Preemption{Preemptible: tc.path[0].states}
		for _, l := range tc.path[1:] {
			is = queue.Preemption{Preemptible: l.states}.Under(is, l.byCapacity)
		}
		if is.Preemptible.Allowed() != tc.want {
			t.Errorf("%s: preemptible is %t", name, is.Preemptible.Allowed())
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
	if got := below.Under(root, true); got != root {
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
