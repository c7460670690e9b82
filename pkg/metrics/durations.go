package metrics

import (
	"sync"

	"k8s.io/component-base/metrics"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Creation times are whole seconds, so shorter buckets would show nothing; a pod may wait for its turn for
// days.
var buckets = []float64{1, 2, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600}

// durations are the histograms of the queues that are shown and have measured something.
type durations struct {
	release, bind *metrics.HistogramVec

	mu    sync.Mutex
	most  int
	level int // of the lowest level shown
	known map[queue.Path]observers
}

type observers struct{ release, bind metrics.ObserverMetric }

// discard ignores values that no shown queue takes.
type discard struct{}

func (discard) Observe(float64) {}

func (d *durations) init(most int) {
	vec := func(name, help string) *metrics.HistogramVec {
		v := metrics.NewHistogramVec(&metrics.HistogramOpts{
			Namespace: "fairway", Name: name, Help: help, Buckets: buckets, StabilityLevel: metrics.ALPHA,
		}, []string{"queue"})
		v.Create(nil) // no registry creates it: page collects it, so that removed queues are gone from the page before it is made
		return v
	}
	d.release = vec("pod_release_duration_seconds", "Time from a pod's creation, which is kept in whole seconds, to its first release to kube-scheduler.")
	d.bind = vec("pod_bind_duration_seconds", "Time from a pod's creation, which is kept in whole seconds, to its bind.")
	d.most, d.level, d.known = most, min(most, 1), map[queue.Path]observers{}
}

// of returns the observers for a queue. New queues may appear between two scrapes; those beyond the bound
// count for an ancestor.
func (d *durations) of(p queue.Path) observers {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.level == 0 {
		return observers{discard{}, discard{}}
	}
	for p = ancestorAt(p, d.level); p.Parent() != ""; p = p.Parent() {
		if o, ok := d.known[p]; ok {
			return o
		}
		if len(d.known)+1 < d.most { // one place is left for the root, which counts for queues without a place
			return d.begin(p)
		}
	}
	if o, ok := d.known[queue.Root]; ok {
		return o
	}
	return d.begin(queue.Root)
}

func (d *durations) begin(p queue.Path) observers {
	o := observers{d.release.WithLabelValues(string(p)), d.bind.WithLabelValues(string(p))}
	d.known[p] = o
	return o
}

// show removes the series of queues that are no longer shown.
func (d *durations) show(s shown) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.level = s.depth
	for p := range d.known { // each on its own: order does not matter
		if !s.paths[p] {
			delete(d.known, p)
			d.release.Delete(map[string]string{"queue": string(p)})
			d.bind.Delete(map[string]string{"queue": string(p)})
		}
	}
}

func (d *durations) collect(out sink) {
	forward(d.release.Collect, out)
	forward(d.bind.Collect, out)
}

// forward passes on the metrics of a collector of the Prometheus library; this module does not name their
// type.
func forward[M metrics.Metric](collect func(chan<- M), out sink) {
	in := make(chan M)
	go func() {
		collect(in)
		close(in)
	}()
	for m := range in {
		out <- m
	}
}
