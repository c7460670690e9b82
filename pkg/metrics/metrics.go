// Package metrics publishes the state of the queues, and what the scheduler has done, on the page that
// Prometheus scrapes.
//
// Input is one snapshot of the ledger per scrape, and calls from package app when a round begins, a pod is
// released, attempted or bound, or a preemption is planned. Output is series, registered with component-base
// as upstream's are. Nothing is computed between scrapes; an event of a pod changes only a counter and a
// bucket. The package decides nothing and changes nothing, so a scrape of a replica that does not lead has no
// effect.
//
// Queues may be many, and series cost memory elsewhere, so only as many queues have their own series as
// Options allow: see shown.
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
	// MaxQueues is how many queues may have their own series; with 0, none has.
	MaxQueues int
}

// Recorder counts for one scheduler. Its methods may be called from any goroutine.
type Recorder struct {
	ledger    *ledger.Ledger
	options   Options
	leading   atomic.Bool
	rounds    atomic.Uint64
	attempts  atomic.Uint64
	binds     atomic.Uint64
	backfills atomic.Uint64
	// Checks of the ledger: rounds that are complete, and what they found.
	inspections, violations atomic.Uint64
	// Reviews of access, by their results.
	allowed, denied, failed atomic.Uint64

	durations durations
	plans     plans
	followed  followed
	now       func() time.Time
}

// New returns a recorder of a ledger. Show publishes it.
func New(l *ledger.Ledger, o Options) *Recorder {
	r := &Recorder{ledger: l, options: o, now: time.Now}
	r.durations.init(o.MaxQueues)
	r.plans.init()
	return r
}

// Lead says that this process leads. From then on the page shows the queues. The page of another replica shows
// only that it does not lead; otherwise every sum over replicas would count each queue several times.
func (r *Recorder) Lead() {
	r.durations.show(shownOf(r.ledger.Snapshot().Queues, r.options.MaxQueues))
	r.leading.Store(true)
}

// Round counts a round of the dispatcher.
func (r *Recorder) Round() { r.rounds.Add(1) }

// Attempted counts an attempt of kube-scheduler to find a node for a pod.
func (r *Recorder) Attempted() { r.attempts.Add(1) }

// Inspected counts the violations that a check of a part of the ledger found, and whether it completed a round.
func (r *Recorder) Inspected(violations int, complete bool) {
	r.violations.Add(uint64(violations))
	if complete {
		r.inspections.Add(1)
	}
}

// Reviewed counts a question about access.
func (r *Recorder) Reviewed(allowed bool, err error) {
	switch {
	case err != nil:
		r.failed.Add(1)
	case allowed:
		r.allowed.Add(1)
	default:
		r.denied.Add(1)
	}
}

// Released records how long a pod took from its creation to its first release; later releases would count the
// earlier waits again.
func (r *Recorder) Released(release ledger.Release, now int64) {
	if release.First {
		r.durations.of(release.Queue).release.Observe(seconds(now - release.Created))
	}
}

// Bound counts a bind that the API server has confirmed, and records how long the pod took from its creation
// until then. A pod that the ledger no longer knows, because it was deleted meanwhile, has no creation time.
func (r *Recorder) Bound(p *ledger.PodState, now int64) {
	r.binds.Add(1)
	if p.Backfills {
		r.backfills.Add(1)
	}
	if p.Leaf == "" {
		return
	}
	r.durations.of(p.Leaf).bind.Observe(seconds(now - p.Created))
}

// seconds converts nanoseconds; the clocks of two machines may differ, so a negative duration counts as 0.
func seconds(ns int64) float64 { return float64(max(ns, 0)) / 1e9 }

// page is the collector that this process registers. A registry takes a collector only once, but tests run
// several schedulers in one process: the page has the recorder that was shown last.
type page struct {
	metrics.BaseStableCollector
	recorder atomic.Pointer[Recorder]
}

var (
	thePage  page
	register sync.Once
)

// Show publishes the recorder on the page of this process.
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
