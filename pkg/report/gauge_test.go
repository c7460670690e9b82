package report

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Of 100 cores and 1000 GiB, the queue has 20 cores (20%) and 500 GiB (50%): memory is dominant.
func TestAGaugeShowsTheDominantResource(t *testing.T) {
	q := Queue{Allocated: of(20, 500), Demand: of(40, 600), FairShare: of(60, 600), SteadyFairShare: of(25, 250), Guaranteed: of(0, 100), Max: of(50, 900)}
	want := Gauge{Resource: resource.Memory, Allocated: 500, Demand: 600, FairShare: 600, SteadyFairShare: 250, Guaranteed: 100, Max: 900, Limited: true}
	if got := GaugeOf(q, of(100, 1000), ""); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := GaugeOf(q, of(100, 1000), resource.CPU), (Gauge{resource.CPU, 200, 400, 600, 250, 0, 500, true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := GaugeOf(q, of(100, 1000), "").Text(), "memory: 50% allocated, fair share 60%, steady share 25%, guaranteed 10%, max 90%"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAGaugeOfAQueueThatHasNothing(t *testing.T) {
	for name, c := range map[string]struct {
		q     Queue
		total resource.List
		want  Gauge
	}{
		"its fair share decides":      {Queue{FairShare: of(10, 500)}, of(100, 1000), Gauge{Resource: resource.Memory, FairShare: 500, Max: 1000}},
		"then its steady share":       {Queue{SteadyFairShare: of(50, 10)}, of(100, 1000), Gauge{Resource: resource.CPU, SteadyFairShare: 500, Max: 1000}},
		"nothing at all":              {Queue{}, of(100, 1000), Gauge{Resource: resource.CPU, Max: 1000}},
		"an empty cluster":            {Queue{Allocated: of(1, 1)}, resource.List{}, Gauge{Resource: resource.CPU, Max: 1000}},
		"memory alone counts":         {Queue{Allocated: of(90, 100), Calculator: queue.MemoryCalculator}, of(100, 1000), Gauge{Resource: resource.Memory, Allocated: 100, Max: 1000}},
		"a max of more than there is": {Queue{Allocated: of(10, 0), Max: of(200, 0)}, of(100, 1000), Gauge{Resource: resource.CPU, Allocated: 100, Max: 1000, Limited: true}},
		"a max of 0":                  {Queue{FairShare: of(10, 0), Max: of(0, 0)}, of(100, 1000), Gauge{Resource: resource.CPU, FairShare: 100, Limited: true}},
	} {
		if got := GaugeOf(c.q, c.total, ""); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTheSettingsOfAQueueSayWhereTheyComeFrom(t *testing.T) {
	q := Queue{Name: "root.a", Policy: "Fair", Weight: 1500, Max: of(10, 0), Effective: Effective{
		Policy: Sourced{"Fair", "root"}, FairShareTimeout: Sourced{"1m0s", FromDefault}, MaxPodResources: []SourcedAmount{{resource.CPU, 4000, "root"}},
	}}
	got := map[string][2]string{}
	for _, row := range q.Settings(Layout{}).Rows {
		got[row[0]] = [2]string{row[1], row[2]}
	}
	for name, want := range map[string][2]string{
		"policy": {"Fair", "root"}, "weight": {"1.5", "root.a"}, "max cpu": {"10", "root.a"}, "maxPodResources cpu": {"4", "root"}, "fairShareTimeout": {"1m0s", "default"},
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	q.Weight = queue.DefaultWeight
	if row := q.Settings(Layout{}).Rows[1]; row[0] != "weight" || row[2] != "-" {
		t.Errorf("nobody knows whether the default weight is stated: %q", row)
	}
	if _, said := got["guaranteedTimeout"]; said {
		t.Error("a value that the queue has not is said")
	}
}

func TestALimitThatIsReachedStandsOut(t *testing.T) {
	q := Queue{Allocated: of(10, 1), Max: of(10, 2), Limits: Limits{RunningApplications: CountLimit{1, queue.AtMost(2)}, Applications: CountLimit{3, queue.AtMost(3)}}}
	table := q.LimitsUsed(Layout{})
	want := []struct {
		row     [3]string
		reached bool
	}{
		{[3]string{"max cpu", "10", "10"}, true}, {[3]string{"max memory", "1Gi", "2Gi"}, false},
		{[3]string{"maxRunningApplications", "1", "2"}, false}, {[3]string{"maxApplications", "3", "3"}, true},
	}
	if len(table.Rows) != len(want) {
		t.Fatalf("%q", table.Rows)
	}
	for i, w := range want {
		if got := [3]string(table.Rows[i]); got != w.row || table.Emphasised(i) != w.reached {
			t.Errorf("%q, stands out: %v; want %q, %v", got, table.Emphasised(i), w.row, w.reached)
		}
	}
}

// A queue that holds a thousandth of a percent too much is over, although a bar shows no difference; what does not count does not.
func TestAQueueIsOverExactly(t *testing.T) {
	total := of(1_000_000, 1_000_000)
	for name, c := range map[string]struct {
		q    Queue
		want bool
	}{
		"more":                        {Queue{Allocated: of(11, 10), FairShare: of(10, 10)}, true},
		"the same":                    {Queue{Allocated: of(10, 10), FairShare: of(10, 10)}, false},
		"less of the dominant":        {Queue{Allocated: of(12, 10), FairShare: of(10, 13)}, false},
		"something, with no share":    {Queue{Allocated: of(1, 0)}, true},
		"nothing":                     {Queue{}, false},
		"more of what does not count": {Queue{Allocated: of(11, 10), FairShare: of(10, 10), Calculator: queue.MemoryCalculator}, false},
	} {
		if got := c.q.IsOver(total); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (Queue{Allocated: of(1, 1)}).IsOver(resource.List{}) {
		t.Error("over in an empty cluster")
	}
}
