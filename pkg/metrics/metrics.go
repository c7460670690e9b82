// Package metrics shows the state of the queues, and what the scheduler has done, on the page that Prometheus scrapes.
//
// In: one snapshot of the ledger for each scrape, and calls of the composition (package app) when a round begins, a pod is released,
// attempted or bound, a preemption planned. Out: series, registered with component-base as upstream's are. Nothing is computed between scrapes, and nothing
// but a counter and a bucket is touched for a pod. It decides nothing and changes nothing; it never begins the ledger's work, so a replica
// that does not lead is scraped without effect.
//
// Queues are many and series cost memory elsewhere, so only as many queues get series of their own as Options say: see shown.
package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Options of a Recorder.
type Options struct {
	// MaxQueues bounds the queues that get series of their own; 0: none does.
	MaxQueues int
}

// Recorder counts for one scheduler. Its methods may be called from any goroutine.
type Recorder struct {
	ledger   *ledger.Ledger
	options  Options
	leading  atomic.Bool
	rounds   atomic.Uint64
	attempts atomic.Uint64
	binds    atomic.Uint64
	// Checks of the ledger: rounds that are complete, and what they found.
	inspections, violations atomic.Uint64

	durations durations
	plans     plans
	now       func() time.Time
}

// New returns a recorder of what the ledger holds. Show puts it on the page.
func New(l *ledger.Ledger, o Options) *Recorder {
	r := &Recorder{ledger: l, options: o, now: time.Now}
	r.durations.init(o.MaxQueues)
	r.plans.init()
	return r
}

// Lead says that this process leads. From now on the page shows the queues; that of a replica that does not lead shows that it does not,
// else every sum over replicas would count what is there once for each.
func (r *Recorder) Lead() {
	r.durations.show(shownOf(r.ledger.Snapshot().Queues, r.options.MaxQueues))
	r.leading.Store(true)
}

// Round counts a round of the dispatcher.
func (r *Recorder) Round() { r.rounds.Add(1) }

// Attempted counts an attempt of kube-scheduler to find a node for a pod.
func (r *Recorder) Attempted() { r.attempts.Add(1) }

// Inspected counts what a look at a part of the ledger found, and whether a round ended with it.
func (r *Recorder) Inspected(violations int, complete bool) {
	r.violations.Add(uint64(violations))
	if complete {
		r.inspections.Add(1)
	}
}

// Released notes how long a pod took from its creation to its first release; later ones would count its earlier waits again.
func (r *Recorder) Released(release ledger.Release, now int64) {
	if release.First {
		r.durations.of(release.Queue).release.Observe(seconds(now - release.Created))
	}
}

// Bound counts a bind that the API server has confirmed, and how long the pod took from its creation to there. A pod that the ledger does
// not know any more, deleted meanwhile, has no creation.
func (r *Recorder) Bound(p *ledger.PodState, now int64) {
	r.binds.Add(1)
	if p.Leaf == "" {
		return
	}
	r.durations.of(p.Leaf).bind.Observe(seconds(now - p.Created))
}

// seconds of a duration in nanoseconds; the clocks of two machines may disagree, and nothing takes less than no time.
func seconds(ns int64) float64 { return float64(max(ns, 0)) / 1e9 }

// page is what this process registers. A registry takes a collector once, while tests run several schedulers in one process: the one that
// was shown last is on the page.
type page struct {
	metrics.BaseStableCollector
	recorder atomic.Pointer[Recorder]
}

var (
	thePage  page
	register sync.Once
)

// Show puts the recorder on the page of this process.
func Show(r *Recorder) {
	register.Do(func() { legacyregistry.CustomMustRegister(&thePage) })
	thePage.recorder.Store(r)
}

// DescribeWithStability implements metrics.StableCollector.
func (p *page) DescribeWithStability(ch chan<- *metrics.Desc) {
	for _, d := range descs() {
		ch <- d
	}
}

// CollectWithStability implements metrics.StableCollector.
func (p *page) CollectWithStability(ch chan<- metrics.Metric) {
	if r := p.recorder.Load(); r != nil {
		r.collect(ch)
	}
}
