package metrics

import (
	"strconv"
	"sync"
	"time"

	"k8s.io/component-base/metrics"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

var (
	starvedSeconds = desc("queue_starved_seconds",
		"How long the queue has been without a break below its guarantee (kind Guaranteed) or its threshold of its fair share (kind FairShare); 0: it is not.", "queue", "kind")
	claimsOpen = desc("queue_claims_open",
		"Queues with an open claim on pods of other queues: the queue itself, and those below it that have no series of their own.", "queue")

	stopped     = desc("preemption_stopped", "1 while a violation found in the ledger stops preemption, else 0.")
	observeOnly = desc("preemption_observe_only", "1 while preemption is planned and shown, and no pod is evicted.")
	claims      = desc("preemption_claims_total", "Claims that were opened, as a timeout had passed.")
	victims     = desc("preemption_victims_total", "Pods by how far their preemption came: chosen, announced, evicted, or withdrawn.", "step")
	failures    = desc("preemption_eviction_failures_total",
		"Evictions that failed and are tried again: refused by a disruption budget, or for an error.", "cause")
	stalePlaces = desc("preemption_stale_places_total", "Places that a plan had found and that the world had overtaken.")
	violations  = desc("preemption_plan_violations_total", "Plans that broke an invariant and of which nothing was carried out. It should stay at 0.")

	planVictims = desc("preemption_plan_victims", "Pods that the last plan takes, while a claim is open.", "observe_only")
	planSeconds = desc("preemption_plan_pod_seconds", "Pod-seconds that the last plan costs: how long its victims have run, while a claim is open.", "observe_only")
)

func preemptionDescs() []*metrics.Desc {
	return []*metrics.Desc{starvedSeconds, claimsOpen, stopped, observeOnly, claims, victims, failures, stalePlaces, violations, planVictims, planSeconds}
}

// planBuckets: a plan for a few pods takes milliseconds, one for hundreds in a large cluster seconds.
var planBuckets = []float64{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10}

// plans is what was recorded of plans.
type plans struct {
	duration *metrics.HistogramVec // without labels

	mu          sync.Mutex
	violations  uint64
	victims     int // of the last plan
	podSeconds  float64
	observeOnly bool
}

func (p *plans) init() {
	p.duration = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Namespace: "fairway", Name: "preemption_plan_duration_seconds", Help: "Time to make a plan, from the copy of the ledger to the last nomination.",
		Buckets: planBuckets, StabilityLevel: metrics.ALPHA,
	}, nil)
	p.duration.Create(nil) // no registry creates it
	p.duration.WithLabelValues()
}

// Planned records a plan: how long it took to make, its number of victims, how many seconds they have run
// together, and whether it is only for show.
func (r *Recorder) Planned(took time.Duration, victims int, observeOnly bool, podSeconds float64) {
	r.plans.duration.WithLabelValues().Observe(took.Seconds())
	r.plans.mu.Lock()
	defer r.plans.mu.Unlock()
	r.plans.victims, r.plans.observeOnly, r.plans.podSeconds = victims, observeOnly, podSeconds
}

// Violated counts a plan that broke an invariant.
func (r *Recorder) Violated() {
	r.plans.mu.Lock()
	defer r.plans.mu.Unlock()
	r.plans.violations++
}

// preemption publishes claims and counts. A plan is shown as long as there is a claim: without a claim, no
// later plan replaces it.
func (s sink) preemption(c ledger.PreemptionCounts, all []ledger.QueueState, seen shown, p *plans) {
	open, some := map[queue.Path]int{}, false
	for i := range all {
		q := &all[i]
		if q.Path == queue.Root {
			s.gauge(observeOnly, flag(q.Spec.Preemption.ObserveOnly))
		}
		if path, ok := seen.nearest(q.Path); q.Starvation.Claiming {
			some = true
			if ok {
				open[path]++
			}
		}
	}
	for i := range all {
		if q := &all[i]; q.InTree && seen.paths[q.Path] {
			s.gauge(claimsOpen, float64(open[q.Path]), string(q.Path))
		}
	}
	s.gauge(stopped, flag(c.Stopped))
	s.counter(claims, float64(c.Claims))
	s.counter(victims, float64(c.Chosen), "chosen")
	s.counter(victims, float64(c.Announced), "announced")
	s.counter(victims, float64(c.Evicted), "evicted")
	s.counter(victims, float64(c.Withdrawn), "withdrawn")
	s.counter(failures, float64(c.Refused), "refused")
	s.counter(failures, float64(c.Failed-c.Refused), "error")
	s.counter(stalePlaces, float64(c.Stale))
	forward(p.duration.Collect, s)

	p.mu.Lock()
	defer p.mu.Unlock()
	s.counter(violations, float64(p.violations))
	for _, is := range []bool{false, true} {
		shown := flag(some && p.observeOnly == is)
		s.gauge(planVictims, shown*float64(p.victims), strconv.FormatBool(is))
		s.gauge(planSeconds, shown*p.podSeconds, strconv.FormatBool(is))
	}
}

// starved publishes the clocks of a queue.
func (s sink) starved(q *ledger.QueueState, now int64) {
	for kind, since := range [...]int64{
		preemption.BelowGuaranteed: q.Starvation.BelowGuaranteedSince, preemption.BelowFairShare: q.Starvation.BelowFairShareSince,
	} {
		value := 0.0
		if since != 0 {
			value = seconds(now - since)
		}
		s.gauge(starvedSeconds, value, string(q.Path), preemption.Kind(kind).String())
	}
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
