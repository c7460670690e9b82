package convert

import (
	"fmt"
	"regexp"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// The range of startingTimeout, as in the schema of Queue.
const (
	shortestTimeout = time.Second
	longestTimeout  = 24 * time.Hour
)

// wholeDuration is the spelling that the schema accepts; Go's has fractions and smaller units, too.
var wholeDuration = regexp.MustCompile(`^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$`)

// starting reads what bounds the starts of a StateAware queue. Stated under another policy it does nothing there.
func starting(q *v1alpha1.Queue, spec *queue.Spec) error {
	if n := q.Spec.MaxStarting; n != nil {
		if *n < 1 || int64(*n) > queue.MostStarting {
			return refusal(q.Name, "spec.maxStarting", fmt.Errorf("%d is not between 1 and %d", *n, queue.MostStarting))
		}
		spec.MaxStarting = queue.AtMost(int64(*n))
	}
	switch text := q.Spec.StartingTimeout; text {
	case "":
	case v1alpha1.StartingTimeoutAdaptive:
		spec.StartingTimeout = queue.StartingTimeout{Adaptive: true}
	default:
		d, err := duration(text, shortestTimeout, longestTimeout)
		if err != nil {
			return refusal(q.Name, "spec.startingTimeout", fmt.Errorf("%q is neither %w, nor the word %s", text, err, v1alpha1.StartingTimeoutAdaptive))
		}
		spec.StartingTimeout = queue.StartingTimeout{Nanoseconds: d.Nanoseconds()}
	}
	return nil
}

// memory reads what a status keeps over a restart. What cannot be read there is passed over: a queue is what its spec says, and one that
// remembers less lets applications start a little later.
func memory(s *v1alpha1.QueueStarts) queue.Memory {
	if s == nil {
		return queue.Memory{}
	}
	m := queue.Memory{Started: s.Started}
	for _, text := range s.LastStarts {
		if d, err := time.ParseDuration(text); err == nil && d >= 0 {
			m.Starts = append(m.Starts, d.Nanoseconds())
		}
	}
	return m
}

// QueueStarts is what a status keeps over a restart, cut to what it can hold: names as they come, durations the newest.
func QueueStarts(m queue.Memory) (started, lastStarts []string) {
	for _, d := range m.Starts[max(len(m.Starts)-v1alpha1.MaxStartsRemembered, 0):] {
		lastStarts = append(lastStarts, application.Duration(max(d, 0)))
	}
	return m.Started[:min(len(m.Started), v1alpha1.MaxStartedRemembered)], lastStarts
}
