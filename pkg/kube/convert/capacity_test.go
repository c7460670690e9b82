package convert

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func byCapacity(capacity, most v1alpha1.Percentage) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) { q.Spec.Capacity, q.Spec.MaxCapacity = capacity, most }
}

func inForce(capacity, most string) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) {
		q.Status.Policy, q.Status.Capacity, q.Status.MaxCapacity = v1alpha1.PolicyFair, capacity, most
	}
}

func TestCapacity(t *testing.T) {
	none := queue.Limit{}
	for name, c := range map[string]struct {
		in             *v1alpha1.Queue
		capacity, most queue.Limit
		held           queue.Division
	}{
		"none":                    {makeQueue("root.a", weight("3")), none, none, queue.Division{}},
		"one":                     {makeQueue("root.a", weight("1"), byCapacity("12.5%", "")), queue.AtMost(12_500), none, queue.Division{}},
		"nothing":                 {makeQueue("root.a", byCapacity("0%", "0.00%")), queue.AtMost(0), queue.AtMost(0), queue.Division{}},
		"everything":              {makeQueue("root.a", byCapacity("100.00%", "100%")), queue.AtMost(queue.Whole), queue.AtMost(queue.Whole), queue.Division{}},
		"two decimals":            {makeQueue("root.a", byCapacity("33.33%", "66.67%")), queue.AtMost(33_330), queue.AtMost(66_670), queue.Division{}},
		"another was in force":    {makeQueue("root.a", byCapacity("50%", ""), inForce("40%", "60%")), queue.AtMost(50_000), none, queue.Division{Known: true, Weight: 1000, Capacity: queue.AtMost(40_000), MaxCapacity: queue.AtMost(60_000)}},
		"no maximum was in force": {makeQueue("root.a", byCapacity("50%", ""), inForce("40%", "100%")), queue.AtMost(50_000), none, queue.Division{Known: true, Weight: 1000, Capacity: queue.AtMost(40_000)}},
		"a weight was in force":   {makeQueue("root.a", byCapacity("50%", ""), inForce("", "")), queue.AtMost(50_000), none, queue.Division{Known: true, Weight: 1000}},
		"a capacity was in force": {makeQueue("root.a", weight("3"), inForce("40%", "100%")), none, none, queue.Division{Known: true, Weight: 3000, Capacity: queue.AtMost(40_000)}},
	} {
		d, err := Declaration(c.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Spec.Capacity != c.capacity || d.Spec.MaxCapacity != c.most || d.InForce != c.held {
			t.Errorf("%s: %+v, %+v; in force: %+v", name, d.Spec.Capacity, d.Spec.MaxCapacity, d.InForce)
		}
	}
}

func TestRefusedCapacity(t *testing.T) {
	for _, text := range []v1alpha1.Percentage{"100.01%", "-1%", "12.555%", "50", "%", "0.5", "1e1%", "half%", " 5%"} {
		want := `queue root.a: spec.capacity: "` + string(text) + `" is not a percentage from 0% to 100% with at most two decimals, such as "12.5%"`
		if _, err := Declaration(makeQueue("root.a", byCapacity(text, ""))); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for want, q := range map[string]*v1alpha1.Queue{
		"queue root: spec.capacity: the queue root has the whole cluster: capacity and maxCapacity are for the queues below it":            makeQueue("root", byCapacity("100%", "")),
		"queue root.a: spec.maxCapacity: maxCapacity is for queues that state capacity: state max, which takes percentages of the cluster": makeQueue("root.a", byCapacity("", "50%")),
		"queue root.a: spec.capacity: a queue shares by capacity or by weight: remove weight to state capacity":                            makeQueue("root.a", weight("2"), byCapacity("50%", "")),
		"queue root.a: spec.capacity: the capacity of a queue is its guarantee: remove guaranteed to state capacity":                       makeQueue("root.a", guaranteed("cpu", "10%"), byCapacity("50%", "")),
		"queue root.b: spec.capacity: the capacity of a queue is its guarantee: remove guaranteed to state capacity":                       makeQueue("root.b", guaranteed("cpu", "1"), byCapacity("50%", "60%")),
		`queue root.c: spec.maxCapacity: "60" is not a percentage from 0% to 100% with at most two decimals, such as "12.5%"`:              makeQueue("root.c", byCapacity("50%", "60")),
	} {
		if _, err := Declaration(q); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
