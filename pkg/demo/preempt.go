package demo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Both acts are the same, on the same nodes: root.busy fills the cluster with long pods, then
// root.sometimes-busy asks for its share. The only difference is that Queue root states a timeout in the
// second act. Times are much shorter than in practice.
const (
	preemptTimeout = 10 * time.Second
	preemptWait    = 3 * time.Second
	preemptPatch   = `{"spec":{"preemption":{"fairShareTimeout":"10s","fairShareThreshold":"0.5","maxWaitBeforeKill":"3s","interval":"1s"}}}`

	// preemptPromise is how late the shares may arrive with preemption: both times, no grace period, and the
	// time to evict and to bind.
	preemptPromise = preemptTimeout + preemptWait + 15*time.Second

	// Pods of root.busy end by themselves only long after the burst, one after another; without preemption the
	// shares wait for that. If the first ended before preemption is done, the acts would mix.
	firstEnd = 22 * time.Second
	endEvery = 250 * time.Millisecond

	// owedPods is what root.sometimes-busy lacks: 650 of 1000 parts of the cluster.
	owedPods = allPods*3/4 - fewPods

	longBacklog = 30
	readFor     = 2 * time.Second
	// steadyFor is how long no pod may be evicted once the shares have arrived.
	steadyFor = 2 * time.Second
)

// act is the result of one of the two acts.
type act struct {
	took          time.Duration
	before, after [2]resource.List // of busy and sometimesBusy
	evicted       int
}

// evictions is what pods show of them.
type evictions struct{ announced, gone int }

// turn is what a step asks for.
type turn struct {
	decision
	end   int  // so many pods of root.busy end
	clear bool // all pods are deleted
	amend bool // Queue root gets preemptPatch
}

// The stages of an act, in addition to those of story.
const (
	clearing = shared + 1 + iota // the pods of the first act are deleted
	steady                       // the shares have arrived, and stay
	over
)

// preemptStory decides what happens next. It depends only on what it saw and on the clock that it is given.
type preemptStory struct {
	once  bool
	limit time.Duration
	stage stage
	since time.Time
	acts  []act // the last one is running
	ended int   // pods of root.busy, in this act
	late  bool
}

func (s *preemptStory) headline() string {
	text := [...]string{
		filling: "root.busy fills the cluster with long pods", crowded: "Scenario A, root.busy is full",
		contested: "the burst: root.sometimes-busy asks for its share", shared: "", clearing: "once more, from the beginning",
		steady: "the shares have arrived", over: "both acts are over",
	}[s.stage]
	if s.stage == over {
		return text
	}
	return actName(max(len(s.acts), 1)-1) + ": " + text
}

func actName(i int) string { return [...]string{"without preemption", "with preemption"}[i] }

func (s *preemptStory) enter(next stage, now time.Time) { s.stage, s.since, s.late = next, now, false }

// step looks at the world and decides.
func (s *preemptStory) step(now time.Time, w world, e evictions) (t turn) {
	if s.since.IsZero() {
		s.since, s.acts = now, []act{{}}
	}
	switch s.stage {
	case filling:
		if holds(w, busy, podSize(allPods-fewPods)) && holds(w, sometimesBusy, podSize(fewPods)) {
			s.enter(crowded, now)
			a := &s.acts[len(s.acts)-1]
			a.before = allocations(w)
			t.tell("%s: %s holds %s,", actName(len(s.acts)-1), busy, report.Amounts(a.before[0]))
			t.tell("  %s holds %s", sometimesBusy, report.Amounts(a.before[1]))
		}
	case crowded:
		if now.Sub(s.since) >= readFor {
			s.enter(contested, now)
			s.ended = 0
			t.tell("the burst: %s asks for more than its %s;", sometimesBusy, report.Amounts(w.queue(sometimesBusy).FairShare))
			t.tell("  pods of %s end by themselves %.0fs from now, then %d a second", busy, firstEnd.Seconds(), time.Second/endEvery)
		}
	case contested:
		s.contest(now, w, e, &t)
	case steady:
		s.settle(now, w, e, &t)
	case clearing:
		if len(w.queues) > 0 && w.running[busy]+w.running[sometimesBusy]+w.waiting[busy]+w.waiting[sometimesBusy] == 0 {
			t.amend = true
			s.acts = append(s.acts, act{})
			s.enter(filling, now)
			t.tell("once more, with preemption in Queue root:")
			t.tell("  fairShareTimeout %s, maxWaitBeforeKill %s", preemptTimeout, preemptWait)
		}
	}
	if s.stage != over && s.stage != crowded && now.Sub(s.since) > s.limit {
		s.complain(w, &t)
	}
	if s.stage != clearing {
		t.submit = s.feed(w)
	}
	return t
}

// contest waits for the shares, and ends pods of root.busy when their time is up.
func (s *preemptStory) contest(now time.Time, w world, e evictions, t *turn) {
	a, elapsed := &s.acts[len(s.acts)-1], now.Sub(s.since)
	if holds(w, busy, podSize(allPods/4)) && holds(w, sometimesBusy, podSize(allPods*3/4)) && w.queue(busy).FairShare.Equal(podSize(allPods/4)) {
		a.took, a.after, a.evicted = elapsed, allocations(w), e.gone
		t.tell("%s: the shares arrived %.1fs after the burst,", actName(len(s.acts)-1), elapsed.Seconds())
		t.tell("  by Queue.status and by %d bound pods; %d pods were evicted,", w.running[busy]+w.running[sometimesBusy], e.gone)
		t.tell("  and %d of %s ended by themselves", s.ended, busy)
		s.enter(steady, now)
		return
	}
	if due := int((elapsed - firstEnd + endEvery) / endEvery); elapsed >= firstEnd && due > s.ended {
		t.end = due - s.ended
		s.ended = due
	}
}

// settle checks whether anything still changes, then ends the act.
func (s *preemptStory) settle(now time.Time, w world, e evictions, t *turn) {
	a := &s.acts[len(s.acts)-1]
	if e.gone > a.evicted {
		s.fail(t, fmt.Sprintf("%d pods were evicted after the shares had arrived", e.gone-a.evicted), w)
		return
	}
	// A pod that ended by itself in the last moment may not have been shown by the watches yet.
	if now.Sub(s.since) < steadyFor || e.announced > 0 || !holds(w, busy, a.after[0]) || !holds(w, sometimesBusy, a.after[1]) {
		return
	}
	if len(s.acts) == 1 {
		s.enter(clearing, now)
		t.clear = true
		return
	}
	s.enter(over, now)
	s.sumUp(t, w)
}

// sumUp shows both side by side, and checks what preemption promises.
func (s *preemptStory) sumUp(t *turn, w world) {
	without, with := s.acts[0], s.acts[1]
	table := report.Table{Full: true, Columns: []report.Column{{Title: "SIDE BY SIDE"}, {Title: "WITHOUT", Right: true}, {Title: "WITH", Right: true}}}
	add := func(what string, of func(act) string) {
		table.Rows = append(table.Rows, []string{what, of(without), of(with)})
	}
	add("time to share", func(a act) string { return fmt.Sprintf("%.1fs", a.took.Seconds()) })
	add("pods evicted", func(a act) string { return strconv.Itoa(a.evicted) })
	for i, name := range []string{busy, sometimesBusy} {
		add(name+" before", func(a act) string { return report.Amounts(a.before[i]) })
		add(name+" after", func(a act) string { return report.Amounts(a.after[i]) })
	}
	t.say = append(t.say, table.Lines(0, report.Style{ASCII: true})...)
	switch {
	case without.evicted > 0:
		s.fail(t, fmt.Sprintf("%d pods were evicted without preemption", without.evicted), w)
	case with.evicted == 0 || with.evicted > owedPods:
		s.fail(t, fmt.Sprintf("%d pods were evicted, and %d are owed", with.evicted, owedPods), w)
	case with.took > preemptPromise || with.took >= without.took:
		s.fail(t, fmt.Sprintf("with preemption the shares took %.1fs, and %.0fs are promised", with.took.Seconds(), preemptPromise.Seconds()), w)
	default:
		t.tell("%d pods were owed, %s; without preemption the shares", owedPods, report.Amounts(podSize(owedPods)))
		t.tell("come as pods end: soon here, but elsewhere it may take hours")
		t.done = s.once
	}
}

func allocations(w world) [2]resource.List {
	return [2]resource.List{w.queue(busy).Allocated, w.queue(sometimesBusy).Allocated}
}

// feed keeps pods waiting in both queues; before the burst sometimes-busy has its few pods. None ends by
// itself unless the story says so.
func (s *preemptStory) feed(w world) (out []submission) {
	left := stepPods
	ask := func(queue string, pods int, few bool) {
		if pods = min(pods, left); pods > 0 {
			out = append(out, submission{queue: queue, pods: pods, few: few, endless: true})
			left -= pods
		}
	}
	if s.stage == filling || s.stage == crowded {
		ask(sometimesBusy, fewPods-w.waiting[sometimesBusy]-w.running[sometimesBusy], true)
	} else {
		ask(sometimesBusy, burstBacklog-w.waiting[sometimesBusy], false)
	}
	ask(busy, longBacklog-w.waiting[busy], false)
	return out
}

// complain says once that a stage is late.
func (s *preemptStory) complain(w world, t *turn) {
	if !s.late {
		s.fail(t, fmt.Sprintf("%s: too late, after %s", s.headline(), s.limit), w)
	}
}

// fail says what went wrong, once per stage, and what the world looks like. A viewer may have caused it.
func (s *preemptStory) fail(t *turn, what string, w world) {
	if s.late {
		return
	}
	s.late = true
	lines := append([]string{what}, states(w)...)
	if s.once {
		t.err = errors.New(strings.Join(lines, "\n  "))
		return
	}
	t.say = append(t.say, lines...)
}
