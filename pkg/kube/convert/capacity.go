package convert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// capacity reads how a queue shares with its siblings if it is not by weight. The rest of the spec has been read.
//
// The status keeps the capacity in force over a restart. It does not keep a weight: a weight that a capacity has replaced is
// not known any more after a restart, and the one that is stated now, 1, takes its place.
func capacity(q *v1alpha1.Queue, d *queue.Declaration) error {
	for _, field := range []struct {
		name   string
		stated v1alpha1.Percentage
		to     *queue.Limit
	}{
		{"capacity", q.Spec.Capacity, &d.Spec.Capacity},
		{"maxCapacity", q.Spec.MaxCapacity, &d.Spec.MaxCapacity},
	} {
		if field.stated == "" {
			continue
		}
		part, err := partOfParent(string(field.stated))
		if err != nil {
			return refusal(q.Name, "spec."+field.name, err)
		}
		*field.to = queue.AtMost(part)
	}
	if field, err := misplacedCapacity(d); err != nil {
		return refusal(q.Name, field, err)
	}
	if q.Status.Policy != "" { // a queue has one as soon as it has been in force
		d.InForce = queue.Division{Known: true, Weight: d.Spec.Weight}
		if part, err := partOfParent(q.Status.Capacity); err == nil {
			d.InForce.Capacity = queue.AtMost(part)
		}
		if part, err := partOfParent(q.Status.MaxCapacity); err == nil && d.InForce.Capacity.Stated && part < queue.Whole {
			d.InForce.MaxCapacity = queue.AtMost(part)
		}
	}
	return nil
}

// misplacedCapacity says what the schema refuses about a capacity beside other fields.
func misplacedCapacity(d *queue.Declaration) (field string, err error) {
	capacity, most := d.Spec.Capacity.Stated, d.Spec.MaxCapacity.Stated
	switch {
	case d.Path == queue.Root && (capacity || most):
		return "spec.capacity", errors.New("the queue root has the whole cluster: capacity and maxCapacity are for the queues below it")
	case most && !capacity:
		return "spec.maxCapacity", errors.New("maxCapacity is for queues that state capacity: state max, which takes percentages of the cluster")
	case capacity && d.Spec.Weight != queue.DefaultWeight:
		return "spec.capacity", errors.New("a queue shares by capacity or by weight: remove weight to state capacity")
	case capacity && d.Spec.Guaranteed.Len()+d.Percent.Guaranteed.Len() > 0:
		return "spec.capacity", errors.New("the capacity of a queue is its guarantee: remove guaranteed to state capacity")
	}
	return "", nil
}

// partOfParent reads "12.5%" into thousandths of a percent.
func partOfParent(text string) (int64, error) {
	number, percent := strings.CutSuffix(text, "%")
	if part, err := percentage(number); percent && err == nil && part%10 == 0 {
		return part, nil
	}
	return 0, fmt.Errorf("%q is not a percentage from 0%% to 100%% with at most two decimals, such as \"12.5%%\"", text)
}
