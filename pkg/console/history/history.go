// Package history remembers the queues of earlier moments, in bounded memory.
//
// Input is the tree of each moment, with its time. Output is the tree as it was at a time, and the course of one queue. However long it watches, it
// keeps so many samples and so many bytes at most: when there are more, every second sample goes, and from then on half as many are taken.
//
// The package knows no clock. It is for one goroutine at a time.
package history

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// History is what is remembered.
type History struct {
	mostSamples, mostBytes int

	samples []sample // oldest first
	every   int64    // nanoseconds from one sample to the next, at least
	bytes   int      // an estimate: see bytesOf
}

// sample is the queues at one time. Queues that did not change since the sample before are shared with it.
type sample struct {
	at      int64
	cluster resource.List
	queues  []*point
	starved []report.StarvedQueue
}

// point is what is remembered of a queue.
type point struct {
	name, state, policy                              string
	weight                                           int64
	calculator                                       queue.Calculator
	steady, fair, guaranteed, max, allocated, demand resource.List
	podsPending, podsRunning                         int64
	pending, starting, running                       int64 // applications
}

// New returns an empty history. every is the time between its samples at first.
func New(every int64, mostSamples, mostBytes int) *History {
	return &History{every: every, mostSamples: max(mostSamples, 2), mostBytes: mostBytes}
}

func pointOf(q *report.Queue) point {
	return point{
		name: q.Name, state: q.State, policy: q.Policy, weight: q.Weight, calculator: q.Calculator, steady: q.SteadyFairShare, fair: q.FairShare,
		guaranteed: q.Guaranteed, max: q.Max, allocated: q.Allocated, demand: q.Demand, podsPending: q.Pending, podsRunning: q.Running,
		pending: q.ApplicationsPending, starting: q.ApplicationsStarting, running: q.ApplicationsRunning,
	}
}

func (p *point) queue() report.Queue {
	return report.Queue{
		Name: p.name, State: p.state, Policy: p.policy, Weight: p.weight, Calculator: p.calculator, SteadyFairShare: p.steady, FairShare: p.fair,
		Guaranteed: p.guaranteed, Max: p.max, Allocated: p.allocated, Demand: p.demand, Pending: p.podsPending, Running: p.podsRunning,
		ApplicationsPending: p.pending, ApplicationsStarting: p.starting, ApplicationsRunning: p.running,
	}
}

func (p *point) equal(o *point) bool {
	return p.name == o.name && p.state == o.state && p.policy == o.policy && p.weight == o.weight && p.calculator == o.calculator &&
		p.steady.Equal(o.steady) && p.fair.Equal(o.fair) && p.guaranteed.Equal(o.guaranteed) && queue.SameLimits(p.max, o.max) &&
		p.allocated.Equal(o.allocated) && p.demand.Equal(o.demand) && p.podsPending == o.podsPending && p.podsRunning == o.podsRunning &&
		p.pending == o.pending && p.starting == o.starting && p.running == o.running
}

// Add remembers a tree, unless too little time has passed since the last one.
func (h *History) Add(at int64, t report.Tree, starved report.Starved) {
	var last *sample
	if n := len(h.samples); n > 0 {
		if last = &h.samples[n-1]; at < last.at+h.every {
			return
		}
	}
	s := sample{at: at, cluster: t.Cluster, queues: make([]*point, len(t.Queues)), starved: starved.Queues}
	was := map[string]*point{}
	if last != nil {
		for _, p := range last.queues {
			was[p.name] = p
		}
	}
	fresh := 0
	for i := range t.Queues {
		p := pointOf(&t.Queues[i])
		if old := was[p.name]; old != nil && old.equal(&p) {
			s.queues[i] = old
			continue
		}
		s.queues[i] = &p
		fresh++
	}
	h.samples, h.bytes = append(h.samples, s), h.bytes+bytesOf(fresh, len(s.queues), len(s.starved))
	for len(h.samples) > 2 && (len(h.samples) > h.mostSamples || h.bytes > h.mostBytes) {
		h.thin()
	}
}

// bytesOf estimates what points, places of points and starved queues take.
func bytesOf(points, places, starved int) int { return points*900 + places*8 + starved*160 + 200 }

// thin drops every second sample, but not the last.
func (h *History) thin() {
	kept := h.samples[:0]
	for i, s := range h.samples {
		if i%2 == 0 || i == len(h.samples)-1 {
			kept = append(kept, s)
		}
	}
	clear(h.samples[len(kept):])
	h.samples, h.every, h.bytes = kept, 2*h.every, 0
	seen := map[*point]bool{}
	for _, s := range h.samples {
		before := len(seen)
		for _, p := range s.queues {
			seen[p] = true
		}
		h.bytes += bytesOf(len(seen)-before, len(s.queues), len(s.starved))
	}
}

// Times are those of the samples, oldest first.
func (h *History) Times() []int64 {
	times := make([]int64, len(h.samples))
	for i := range h.samples {
		times[i] = h.samples[i].at
	}
	return times
}

// At is the tree of the last sample that is not later; of the first one, if all are. false: there is none.
func (h *History) At(at int64) (t report.Tree, starved report.Starved, when int64, ok bool) {
	if len(h.samples) == 0 {
		return t, starved, 0, false
	}
	i, found := slices.BinarySearchFunc(h.samples, at, func(s sample, at int64) int { return int(min(max(s.at-at, -1), 1)) })
	if !found {
		i = max(i-1, 0)
	}
	s := &h.samples[i]
	t.Cluster = s.cluster
	for _, p := range s.queues {
		t.Queues = append(t.Queues, p.queue())
	}
	return t, report.Starved{Queues: s.starved}, s.at, true
}

// Course is one queue over time, oldest first. Where it was not there, there is no moment.
type Course []Moment

// Moment is a queue at one time.
type Moment struct {
	At      int64
	Cluster resource.List
	Queue   report.Queue
}

// Of is the course of a queue.
func (h *History) Of(name string) (c Course) {
	at := 0 // mostly where it was in the sample before
	for _, s := range h.samples {
		if at >= len(s.queues) || s.queues[at].name != name {
			i := slices.IndexFunc(s.queues, func(p *point) bool { return p.name == name })
			if i < 0 {
				continue
			}
			at = i
		}
		c = append(c, Moment{s.at, s.cluster, s.queues[at].queue()})
	}
	return c
}
