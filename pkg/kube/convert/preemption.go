package convert

import (
	"errors"
	"fmt"
	"time"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// longestWait is the most that interval and maxWaitBeforeKill may be, as in the schema of Queue.
const longestWait = time.Hour

// preemption reads what a queue states about giving shares back.
func preemption(q *v1alpha1.Queue, spec *queue.Spec) error {
	p := q.Spec.Preemption
	if p == nil {
		return nil
	}
	if q.Name != string(queue.Root) {
		if field := ofRoot(p); field != "" {
			return refusal(q.Name, "spec.preemption."+field, errors.New("it holds over all queues, so it can be stated in the queue root only"))
		}
	}
	to := &spec.Preemption
	if p.Preemptible != nil {
		to.Preemptible = queue.StatedPreemptible(*p.Preemptible)
	}
	to.ObserveOnly = p.ObserveOnly != nil && *p.ObserveOnly
	for _, f := range []struct {
		name   string
		stated *apiresource.Quantity
		to     *queue.Limit
		zero   string // why 0 is refused, "" where it is not
	}{
		{"fairShareThreshold", p.FairShareThreshold, &to.FairShareThreshold,
			"a queue is never below 0 of its fair share; to switch preemption off for a queue, leave fairShareTimeout unset or set it to never"},
		{"utilizationThreshold", p.UtilizationThreshold, &to.UtilizationThreshold, ""},
		{"totalPerRound", p.TotalPerRound, &to.TotalPerRound, "it is not above 0, and nothing would ever be preempted"},
		{"maxIgnoredOverCapacity", p.MaxIgnoredOverCapacity, &to.MaxIgnoredOverCapacity, ""},
		{"naturalTerminationFactor", p.NaturalTerminationFactor, &to.NaturalTerminationFactor, "it is not above 0, and nothing would ever be preempted"},
	} {
		if err := part(f.stated, f.zero, f.to); err != nil {
			return refusal(q.Name, "spec.preemption."+f.name, err)
		}
	}
	for _, f := range []struct {
		name, stated      string
		shortest, longest time.Duration
		never             bool // the word is allowed
		to                *queue.Timeout
	}{
		{"fairShareTimeout", p.FairShareTimeout, shortestTimeout, longestTimeout, true, &to.FairShareTimeout},
		{"guaranteedTimeout", p.GuaranteedTimeout, shortestTimeout, longestTimeout, true, &to.GuaranteedTimeout},
		{"interval", p.Interval, time.Second, longestWait, false, &to.Interval},
		{"maxWaitBeforeKill", p.MaxWaitBeforeKill, 0, longestWait, false, &to.MaxWaitBeforeKill},
	} {
		switch d, err := duration(f.stated, f.shortest, f.longest); {
		case f.stated == "":
		case f.never && f.stated == v1alpha1.TimeoutNever:
			*f.to = queue.Timeout{Stated: true, Never: true}
		case err != nil && f.never:
			return refusal(q.Name, "spec.preemption."+f.name, fmt.Errorf("%q is neither %w, nor the word %s", f.stated, err, v1alpha1.TimeoutNever))
		case err != nil:
			return refusal(q.Name, "spec.preemption."+f.name, fmt.Errorf("%q is not %w", f.stated, err))
		default:
			*f.to = queue.Timeout{Stated: true, Nanoseconds: d.Nanoseconds()}
		}
	}
	return nil
}

// ofRoot names the first stated field that only the root can state.
func ofRoot(p *v1alpha1.QueuePreemption) string {
	switch {
	case p.ObserveOnly != nil:
		return "observeOnly"
	case p.UtilizationThreshold != nil:
		return "utilizationThreshold"
	case p.Interval != "":
		return "interval"
	case p.MaxWaitBeforeKill != "":
		return "maxWaitBeforeKill"
	case p.TotalPerRound != nil:
		return "totalPerRound"
	case p.MaxIgnoredOverCapacity != nil:
		return "maxIgnoredOverCapacity"
	case p.NaturalTerminationFactor != nil:
		return "naturalTerminationFactor"
	}
	return ""
}

// part reads a number from 0 to 1 in thousandths.
func part(q *apiresource.Quantity, zero string, to *queue.Limit) error {
	if q == nil {
		return nil
	}
	milli := scaled(*q, apiresource.Milli, saturation/1000)
	if q.Sign() < 0 || milli > 1000 || q.Cmp(*apiresource.NewMilliQuantity(milli, apiresource.DecimalSI)) != 0 {
		return fmt.Errorf("%s is not between 0 and 1 with at most three decimals", q)
	}
	if milli == 0 && zero != "" {
		return errors.New(zero)
	}
	*to = queue.AtMost(milli)
	return nil
}

// duration reads a duration within bounds. The error says what is allowed.
func duration(text string, shortest, longest time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !wholeDuration.MatchString(text) || d < shortest || d > longest {
		examples := "3s or 1m30s"
		if longest > longestWait {
			examples = "90s, 5m or 1h30m"
		}
		return 0, fmt.Errorf("a duration from %ds to %dh in hours, minutes and seconds, such as %s",
			shortest/time.Second, longest/time.Hour, examples)
	}
	return d, nil
}

// clocks reads the clocks of starvation, which go on over a restart, when they are due, and whether the fair share was claimed. A status that says
// that the queue is below its guarantee does not tell which claim is open: the guarantee's is opened again by its clock, and the other waits for its own.
// It also reads since when the queue has been stopped.
func clocks(s *v1alpha1.QueueStatus, m *queue.Memory) {
	at := func(t *metav1.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixNano()
	}
	m.BelowFairShareSince, m.BelowGuaranteedSince = at(s.BelowFairShareSince), at(s.BelowGuaranteedSince)
	if s.Preemption != nil {
		m.FairShareDue, m.GuaranteedDue = at(s.Preemption.FairShareDue), at(s.Preemption.GuaranteedDue)
	}
	m.ClaimsFairShare = s.Preemption != nil && s.Preemption.ClaimOpen && m.BelowGuaranteedSince == 0
	m.StoppedSince = at(s.StoppedSince)
}

// ClockTime is an instant of a clock of starvation as a status keeps it; nil for 0. It is rounded up to the second, which is what the wire
// holds: a clock that is read back never runs out before its time.
func ClockTime(nanoseconds int64) *metav1.Time {
	if nanoseconds == 0 {
		return nil
	}
	t := metav1.Unix(0, nanoseconds+int64(time.Second)-1).Rfc3339Copy()
	return &t
}
