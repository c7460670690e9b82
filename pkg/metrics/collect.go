package metrics

import (
	"slices"

	"k8s.io/component-base/metrics"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// sink takes the series of one scrape.
type sink chan<- metrics.Metric

func (s sink) gauge(d *metrics.Desc, value float64, labels ...string) {
	s <- metrics.NewLazyConstMetric(d, metrics.GaugeValue, value, labels...)
}

func (s sink) counter(d *metrics.Desc, value float64, labels ...string) {
	s <- metrics.NewLazyConstMetric(d, metrics.CounterValue, value, labels...)
}

func (r *Recorder) collect(out sink) {
	waits, ns := r.ledger.LockWaits()
	out.counter(lockWaits, float64(waits))
	out.counter(lockSeconds, float64(ns)/1e9)
	if !r.leading.Load() {
		out.gauge(leading, 0)
		return
	}
	out.gauge(leading, 1)
	out.counter(releases, float64(r.ledger.Releases()))
	out.counter(dispatchRounds, float64(r.rounds.Load()))
	out.counter(attempts, float64(r.attempts.Load()))
	out.counter(binds, float64(r.binds.Load()))
	out.counter(backfills, float64(r.backfills.Load()))
	groups, large := r.ledger.HeldNodes()
	out.gauge(heldNodes, float64(groups), "PodGroup")
	out.gauge(heldNodes, float64(large), "LargePods")
	out.counter(sweeperRepairs, float64(r.ledger.Repairs()))
	out.counter(inspections, float64(r.inspections.Load()))
	out.counter(wrong, float64(r.violations.Load()))
	out.counter(reviews, float64(r.allowed.Load()), "allowed")
	out.counter(reviews, float64(r.denied.Load()), "denied")
	out.counter(reviews, float64(r.failed.Load()), "failed")
	out.waiting(r.ledger.WaitingPods())

	counts, snapshot, now := r.ledger.PreemptionCounts(), r.ledger.Snapshot(), r.now().UnixNano()
	seen := shownOf(snapshot.Queues, r.options.MaxQueues)
	out.gauge(windowPods, float64(snapshot.InWindow))
	out.gauge(queues, float64(len(snapshot.Queues)))
	out.gauge(queuesShown, float64(len(seen.paths)))
	for i := range snapshot.Queues {
		if q := &snapshot.Queues[i]; q.InTree && seen.paths[q.Path] {
			out.queue(q, snapshot.Total)
			out.starved(q, now)
		}
	}
	out.problems(snapshot.Queues, seen)
	out.preemption(counts, snapshot.Queues, seen, &r.plans)
	out.reservations(&r.followed, seen)
	r.durations.show(seen)
	r.durations.collect(out)
}

// waiting publishes the number of waiting pods by reason.
func (s sink) waiting(pods map[reason.Code]int) {
	for _, code := range reason.Codes() {
		if n, some := pods[code]; some || slices.Contains(alwaysShown, code) {
			s.gauge(waitingPods, float64(n), string(code))
		}
	}
}

// alwaysShown are the reasons of limits, gates, room and turn: a dashboard must be able to distinguish 0 from
// unknown.
var alwaysShown = []reason.Code{
	reason.MaxResources, reason.MaxPodResources, reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.MaxApplications,
	reason.UserMaxApplications, reason.MaxDriverShare, reason.UserMaxDriverShare, reason.UserLimit, reason.StateAware, reason.WaitingForRoom, reason.WaitingTurn,
}

func (s sink) queue(q *ledger.QueueState, total resource.List) {
	path := string(q.Path)
	s.gauge(applications, float64(q.ApplicationsPending), path, "pending")
	s.gauge(applications, float64(q.ApplicationsStarting), path, "starting")
	s.gauge(applications, float64(q.ApplicationsRunning-q.ApplicationsCompleting), path, "running")
	s.gauge(applications, float64(q.ApplicationsCompleting), path, "completing")
	if q.Starts != nil {
		s.gauge(startingTimeout, float64(q.Starts.Timeout)/1e9, path)
	}
	if q.StoppedSince != 0 {
		s.gauge(queueStopped, 1, path, q.State.String())
	}
	s.stated(q)
	s.gauge(pods, float64(q.PodsPending), path, "pending")
	s.gauge(pods, float64(q.PodsRunning), path, "running")
	// A queue with nothing of an existing resource has 0 of it: a missing series compares with nothing, and
	// alerts must find a queue that gets nothing.
	s.amounts(steadyFairShare, path, q.SteadyFairShare.Max(zeros(total)))
	s.amounts(fairShare, path, q.FairShare.Max(zeros(total)))
	s.amounts(allocated, path, q.Allocated.Max(zeros(total)))
	s.amounts(demand, path, q.Demand.Max(zeros(total)))
	s.amounts(guaranteed, path, q.Spec.Guaranteed)
	s.amounts(maximum, path, q.Spec.Max)
}

// stated publishes what only some queues state: a capacity, and priorities.
func (s sink) stated(q *ledger.QueueState) {
	const whole = 1e8 // in millionths of a percent
	path := string(q.Path)
	if q.Spec.Capacity.Stated {
		s.gauge(capacity, float64(q.Absolute.Capacity)/whole, path)
		s.gauge(maxCapacity, float64(q.Absolute.Max)/whole, path)
	}
	if p := q.Spec.DefaultPriority; p != 0 {
		s.gauge(priority, float64(p), path, "Default")
	}
	if p := q.Spec.MaxPriority; p.Stated {
		s.gauge(priority, float64(p.Most), path, "Most")
	}
}

func zeros(of resource.List) resource.List { return of.Sub(of) }

func (s sink) amounts(d *metrics.Desc, path string, amounts resource.List) {
	for i := range amounts.Len() {
		e := amounts.At(i)
		value := float64(e.Value)
		switch {
		case e.Value == resource.Unlimited:
			continue
		case e.Name == resource.CPU:
			value /= 1000
		}
		s.gauge(d, value, path, string(e.Name))
	}
}

// problems publishes the problems of queues, each under the nearest queue that has series: every problem is
// shown somewhere.
func (s sink) problems(all []ledger.QueueState, seen shown) {
	type key struct {
		path string
		code reason.Code
	}
	count := map[key]int{}
	var order []key
	for i := range all {
		q := &all[i]
		path, ok := seen.nearest(q.Path)
		if !ok {
			continue
		}
		var codes []reason.Code // a queue may have one problem twice, for two resources
		for _, p := range q.Problems {
			if slices.Contains(codes, p.Code) {
				continue
			}
			codes = append(codes, p.Code)
			k := key{string(path), p.Code}
			if count[k] == 0 {
				order = append(order, k)
			}
			count[k]++
		}
	}
	for _, k := range order {
		s.gauge(problems, float64(count[k]), k.path, string(k.code))
	}
}
