package scenario

import (
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// setUsers sets what each user of a queue may use.
func setUsers(users *queue.Users, o option) (err error) {
	switch {
	case o.Key == "users.weights":
		var weights []queue.UserWeight
		for _, part := range o.Vals {
			user, weight, _ := strings.Cut(strings.TrimSpace(part), "=")
			n, err := parseWeight(weight)
			if err != nil {
				return fmt.Errorf("%s: %w", o.Key, err)
			}
			weights = append(weights, queue.UserWeight{User: user, Weight: n})
		}
		users.Weights = queue.WeightsOf(weights...)
	case o.Key == "users.minSharePercent":
		users.MinShare, err = parseCountOrUnset(o)
	case o.value() == "unset":
		users.ShareFactor = queue.Limit{}
	default:
		var factor int64
		factor, err = parseWeight(o.value())
		users.ShareFactor = queue.AtMost(factor)
	}
	return err
}
