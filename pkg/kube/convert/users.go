package convert

import (
	"errors"
	"fmt"

	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// users reads how much of a queue each user may use. The error is about the field that is named.
func users(stated *v1alpha1.QueueUsers, to *queue.Users) (field string, err error) {
	if p := stated.MinSharePercent; p != nil {
		if *p < 1 || *p > 100 {
			return "minSharePercent", fmt.Errorf("%d is not between 1 and 100", *p)
		}
		to.MinShare = queue.AtMost(int64(*p))
	}
	if f := stated.ShareFactor; f != nil {
		factor, err := weightOf(f)
		if err == nil && factor == 0 {
			err = errors.New("0 would let no user have more than one pod: state a number above 0")
		}
		if err != nil {
			return "shareFactor", err
		}
		to.ShareFactor = queue.AtMost(factor)
	}
	var weights []queue.UserWeight
	seen := map[string]bool{}
	for _, w := range stated.Weights {
		weight, err := userWeight(w.Weight, to.Least())
		if seen[w.User] {
			err = errors.New("is stated twice")
		}
		if err != nil {
			return "weights", fmt.Errorf("user %s: %w", w.User, err)
		}
		weights, seen[w.User] = append(weights, queue.UserWeight{User: w.User, Weight: weight}), true
	}
	to.Weights = queue.WeightsOf(weights...)
	return "", nil
}

// userWeight returns the weight of a user in milli. It is at most 100/minSharePercent: more would be more than the whole queue.
func userWeight(q apiresource.Quantity, minShare int64) (int64, error) {
	milli, err := weightOf(&q)
	if err != nil {
		return 0, err
	}
	if milli*minShare > 100_000 {
		return 0, fmt.Errorf("weight %s is not between 0 and 100/minSharePercent, and minSharePercent is %d", &q, minShare)
	}
	return milli, nil
}
