package metrics

import (
	"errors"
	"testing"
	"time"

	"k8s.io/component-base/metrics"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// starving is a cluster of 8 cores, all used by root.busy. root.a.b, guaranteed 1 core, has asked for 3 since
// second 100; the timeouts are 30 seconds for its guarantee and 60 for its fair share of 4.
func starving(edits ...func(*queue.Spec)) *ledger.Ledger {
	l := newLedger()
	declare(l, "root", append(edits, func(s *queue.Spec) {
		s.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: 60 * sec}
		s.Preemption.GuaranteedTimeout = queue.Timeout{Stated: true, Nanoseconds: 30 * sec}
	})...)
	declare(l, "root.a", func(s *queue.Spec) { s.Guaranteed = amounts(1000, 0) })
	declare(l, "root.a.b", func(s *queue.Spec) { s.Guaranteed = amounts(1000, 0) })
	declare(l, "root.busy")
	l.ObservePod(ledger.Pod{UID: "busy", Queue: "root.busy", Application: "busy", Node: "n", Request: amounts(8000, 8<<30), Created: sec}, 90*sec)
	pod(l, "one", "root.a.b", "asks")
	pod(l, "two", "root.a.b", "asks")
	l.Lead(100 * sec)
	l.LookAtStarvation(100 * sec)
	return l
}

func at(r *Recorder, second int64) *Recorder {
	r.now = func() time.Time { return time.Unix(second, 0) }
	return r
}

func TestStarvationIsShown(t *testing.T) {
	l := starving()
	r := at(New(l, Options{MaxQueues: 10}), 112)
	lead(r)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		`fairway_queue_starved_seconds{kind="FairShare",queue="root.a.b"}`:   12,
		`fairway_queue_starved_seconds{kind="Guaranteed",queue="root.a.b"}`:  12,
		`fairway_queue_starved_seconds{kind="FairShare",queue="root.a"}`:     12,
		`fairway_queue_starved_seconds{kind="FairShare",queue="root.busy"}`:  0,
		`fairway_queue_starved_seconds{kind="Guaranteed",queue="root.busy"}`: 0,
		`fairway_queue_claims_open{queue="root.a.b"}`:                        0,
		`fairway_preemption_claims_total`:                                    0,
		`fairway_preemption_observe_only`:                                    0,
	})
	l.LookAtStarvation(130 * sec)
	_, got = scrape(t, at(r, 130))
	wantSeries(t, got, map[string]float64{
		`fairway_queue_starved_seconds{kind="Guaranteed",queue="root.a.b"}`: 30,
		`fairway_queue_claims_open{queue="root.a.b"}`:                       1,
		`fairway_queue_claims_open{queue="root.a"}`:                         1,
		`fairway_queue_claims_open{queue="root.busy"}`:                      0,
		`fairway_preemption_claims_total`:                                   2, // of root.a and root.a.b, each to its guarantee
	})
	_, got = scrape(t, at(r, 99)) // by a clock that is late
	wantSeries(t, got, map[string]float64{`fairway_queue_starved_seconds{kind="FairShare",queue="root.a.b"}`: 0})
}

// Every claim is shown somewhere.
func TestClaimsAreShownUnderTheNearestQueueThatIs(t *testing.T) {
	l := starving()
	l.LookAtStarvation(130 * sec)
	r := New(l, Options{MaxQueues: 3}) // root, root.a, root.busy
	lead(r)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{`fairway_queue_claims_open{queue="root.a"}`: 2, `fairway_queue_claims_open{queue="root"}`: 0})
	if _, there := got[`fairway_queue_claims_open{queue="root.a.b"}`]; there {
		t.Error("a queue that is not shown is")
	}
}

func TestPlansAreShown(t *testing.T) {
	plan := func(observe string) (string, string) {
		return `fairway_preemption_plan_victims{observe_only="` + observe + `"}`, `fairway_preemption_plan_pod_seconds{observe_only="` + observe + `"}`
	}
	pods, seconds := plan("false")
	observedPods, observedSeconds := plan("true")
	l := starving(func(s *queue.Spec) { s.Preemption.ObserveOnly = true })
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		pods: 0, seconds: 0, observedPods: 0, observedSeconds: 0, `fairway_preemption_observe_only`: 1,
		`fairway_preemption_plan_duration_seconds_count`: 0, `fairway_preemption_plan_violations_total`: 0,
	})
	l.LookAtStarvation(130 * sec)
	r.Planned(250*time.Millisecond, 3, true, 90.5)
	r.Planned(30*time.Millisecond, 2, true, 60.25)
	r.Violated()
	r.Inspected(2, false)
	r.Inspected(1, true)
	r.Reviewed(true, nil)
	r.Reviewed(false, nil)
	r.Reviewed(false, errors.New("no answer"))
	r.Reviewed(false, nil)
	_, got = scrape(t, r)
	wantSeries(t, got, map[string]float64{
		pods: 0, seconds: 0, observedPods: 2, observedSeconds: 60.25, `fairway_preemption_plan_violations_total`: 1,
		`fairway_ledger_violations_total`: 3, `fairway_ledger_check_rounds_total`: 1, `fairway_preemption_stopped`: 0,
		`fairway_access_reviews_total{result="allowed"}`: 1, `fairway_access_reviews_total{result="denied"}`: 2, `fairway_access_reviews_total{result="failed"}`: 1,
		`fairway_preemption_plan_duration_seconds_count`: 2, `fairway_preemption_plan_duration_seconds_sum`: 0.28,
		`fairway_preemption_plan_duration_seconds_bucket{le="0.1"}`: 1, `fairway_preemption_plan_duration_seconds_bucket{le="0.5"}`: 2,
	})
	r.Planned(time.Millisecond, 1, false, 7)
	_, got = scrape(t, r)
	wantSeries(t, got, map[string]float64{pods: 1, seconds: 7, observedPods: 0, observedSeconds: 0})

	for _, uid := range []ledger.UID{"one", "two"} { // they ask no more: no plan says so, and none is shown
		l.ForgetPod(uid, 140*sec)
	}
	l.LookAtStarvation(140 * sec)
	_, got = scrape(t, r)
	wantSeries(t, got, map[string]float64{pods: 0, seconds: 0, `fairway_queue_claims_open{queue="root.a.b"}`: 0})
}

// counted publishes counters that a ledger could have.
type counted struct {
	metrics.BaseStableCollector
	counts ledger.PreemptionCounts
}

func (c *counted) DescribeWithStability(ch chan<- *metrics.Desc) {
	for _, d := range preemptionDescs() {
		ch <- d
	}
}

func (c *counted) CollectWithStability(ch chan<- metrics.Metric) {
	var p plans
	p.init()
	sink(ch).preemption(c.counts, nil, shown{}, &p)
}

// Each counter of the ledger has its series; refused evictions are part of the failed ones.
func TestCountsOfPreemptionAreShown(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(&counted{counts: ledger.PreemptionCounts{
		Claims: 1, Chosen: 2, Announced: 3, Evicted: 4, Failed: 15, Refused: 6, Withdrawn: 7, Stale: 8,
	}})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue()
		}
	}
	wantSeries(t, got, map[string]float64{
		"fairway_preemption_claims_total": 1, "fairway_preemption_victims_total chosen": 2, "fairway_preemption_victims_total announced": 3,
		"fairway_preemption_victims_total evicted": 4, "fairway_preemption_victims_total withdrawn": 7,
		"fairway_preemption_eviction_failures_total refused": 6, "fairway_preemption_eviction_failures_total error": 9,
		"fairway_preemption_stale_places_total": 8,
	})
}
