package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// All pods have the same size and a hundred of them fill the cluster, so that allocations can match the shares
// exactly.
const (
	busy          = "root.busy"
	sometimesBusy = "root.sometimes-busy"

	nodeCount  = 10
	nodeCores  = 20
	nodeGiB    = 80
	podCores   = 2
	podGiB     = 8
	allPods    = nodeCount * nodeCores / podCores
	fewPods    = allPods / 10 // "a handful of running applications (say 10%)"
	fewPerApp  = 2
	manyPerApp = 15

	// Waiting pods of each queue at any time. Together the queues end about 15 pods a second. A queue that
	// gets the whole cluster, because someone changed the weights, still has work for seconds when the next
	// step adds pods.
	busyBacklog  = 60
	burstBacklog = 100

	// stepEvery is how often the story looks at the world; stepPods is how many pods it submits at a time. The
	// burst takes a second or two.
	stepEvery = 250 * time.Millisecond
	stepPods  = 40

	// crowdedFor leaves time to read the first table.
	crowdedFor = 4 * time.Second
)

// stage is a stage of the story.
type stage int

const (
	filling   stage = iota // busy takes the cluster, except for what the few applications in sometimes-busy hold
	crowded                // Scenario A
	contested              // the burst has come, allocations change
	shared                 // Scenario B
)

func (s stage) String() string {
	return [...]string{
		"root.busy fills the cluster",
		"Scenario A: root.busy is full, root.sometimes-busy runs a handful",
		"the burst: root.sometimes-busy gets what ends in root.busy",
		"Scenario B: both queues are full, each has its fair share",
	}[s]
}

// headline says which stage the story is in.
func (s *story) headline() string {
	if s.stage == shared && !s.arrived {
		return "the fair shares changed, allocations follow as pods end"
	}
	return s.stage.String()
}

// world is what the API shows at one moment.
type world struct {
	queues  []report.Queue           // from Queue.status, in the order of the tree
	bound   map[string]resource.List // the sum over bound pods that have not ended, by queue
	waiting map[string]int           // pods without a node, by queue
	running map[string]int           // bound pods that have not ended, by queue
}

func (w world) queue(name string) report.Queue {
	for _, q := range w.queues {
		if q.Name == name {
			return q
		}
	}
	return report.Queue{Name: name}
}

// submission asks for pods in a queue.
type submission struct {
	queue string
	pods  int
	few   bool // pods of the few small applications that run for long
	// endless pods run until something ends them.
	endless bool
}

// decision is what a step of the story asks for.
type decision struct {
	submit []submission
	say    []string
	done   bool
	err    error
}

// story decides what happens next. It depends only on what it saw and on the clock that it is given.
type story struct {
	once  bool          // end when the shares have arrived, or with an error if they are late
	limit time.Duration // how long filling, and later the shares, may take
	stage stage
	since time.Time // when the stage began

	late    bool   // it was said that the stage is late
	shares  string // the fair shares that were announced last
	moved   time.Time
	arrived bool // allocations have reached these shares
}

func podSize(pods int) resource.List {
	return resource.Of(
		resource.Entry{Name: resource.CPU, Value: int64(pods) * podCores * 1000},
		resource.Entry{Name: resource.Memory, Value: int64(pods) * podGiB << 30},
	)
}

// step looks at the world and decides.
func (s *story) step(now time.Time, w world) decision {
	if s.since.IsZero() {
		s.since = now
	}
	var d decision
	switch s.stage {
	case filling:
		if holds(w, busy, podSize(allPods-fewPods)) && holds(w, sometimesBusy, podSize(fewPods)) {
			s.enter(crowded, now)
			d.tell("Scenario A: %s holds %s,", busy, report.Amounts(w.queue(busy).Allocated))
			d.tell("  %s holds %s of its fair share of %s", sometimesBusy,
				report.Amounts(w.queue(sometimesBusy).Allocated), report.Amounts(w.queue(sometimesBusy).FairShare))
		}
	case crowded:
		if now.Sub(s.since) >= crowdedFor {
			s.enter(contested, now)
			d.tell("the burst: %s gets more pods than it can run", sometimesBusy)
		}
	case contested:
		if s.sharesArrived(w) {
			took := now.Sub(s.since)
			s.enter(shared, now)
			s.shares, s.arrived = fairShares(w), true
			d.tell("the shares arrived, %.1fs after the burst began:", took.Seconds())
			d.tell("  %s holds %s, %s holds %s,",
				busy, report.Amounts(w.queue(busy).Allocated), sometimesBusy, report.Amounts(w.queue(sometimesBusy).Allocated))
			d.tell("  exactly their fair shares, by Queue.status and by %d bound pods", w.running[busy]+w.running[sometimesBusy])
			d.done = s.once
		}
	case shared:
		s.follow(now, w, &d)
	}
	if (s.stage == filling || s.stage == contested) && now.Sub(s.since) > s.limit {
		s.complain(w, &d)
	}
	d.submit = s.feed(w)
	return d
}

func (d *decision) tell(format string, args ...any) {
	d.say = append(d.say, fmt.Sprintf(format, args...))
}

func (s *story) enter(next stage, now time.Time) { s.stage, s.since, s.late = next, now, false }

// feed keeps a backlog in both queues, so that neither queue leaves room to the other because it has no pods.
// Before the burst sometimes-busy has its few pods and no backlog.
func (s *story) feed(w world) []submission {
	var out []submission
	left := stepPods
	ask := func(queue string, pods int, few bool) {
		if pods = min(pods, left); pods > 0 {
			out = append(out, submission{queue: queue, pods: pods, few: few})
			left -= pods
		}
	}
	if s.stage < contested {
		ask(sometimesBusy, fewPods-w.waiting[sometimesBusy]-w.running[sometimesBusy], true)
	} else {
		ask(sometimesBusy, burstBacklog-w.waiting[sometimesBusy], false)
	}
	ask(busy, busyBacklog-w.waiting[busy], false)
	return out
}

// holds reports whether the status of a queue and the sum over its bound pods are both this amount.
func holds(w world, queue string, amount resource.List) bool {
	return w.queue(queue).Allocated.Equal(amount) && w.bound[queue].Equal(amount)
}

// sharesArrived reports whether each queue has exactly its fair share, by its status and by its pods. With
// Once it also requires the shares that the weights promise; otherwise someone may have changed the weights.
func (s *story) sharesArrived(w world) bool {
	for queue, promised := range map[string]resource.List{busy: podSize(allPods / 4), sometimesBusy: podSize(allPods * 3 / 4)} {
		share := w.queue(queue).FairShare
		if share.IsZero() || !holds(w, queue, share) || s.once && !share.Equal(promised) {
			return false
		}
	}
	return true
}

// follow says when the fair shares change (someone edits a weight) and when the allocations have followed.
// Such shares may not be a whole number of pods, so allocations have followed when they are less than a pod
// away.
func (s *story) follow(now time.Time, w world, d *decision) {
	if shares := fairShares(w); shares != s.shares {
		s.shares, s.moved, s.arrived = shares, now, false
		d.tell("the fair shares are now")
		d.tell("  %s", shares)
	}
	if !s.arrived && nearShare(w, busy) && nearShare(w, sometimesBusy) {
		s.arrived = true
		d.tell("allocations followed in %.1fs", now.Sub(s.moved).Seconds())
	}
}

func nearShare(w world, name string) bool {
	q, pod := w.queue(name), podSize(1)
	for i := range pod.Len() {
		resource := pod.At(i)
		away := q.FairShare.Get(resource.Name) - q.Allocated.Get(resource.Name)
		if max(away, -away) >= resource.Value {
			return false
		}
	}
	return true
}

func fairShares(w world) string {
	var parts []string
	for _, name := range []string{busy, sometimesBusy} {
		parts = append(parts, name+" "+report.Amounts(w.queue(name).FairShare))
	}
	return strings.Join(parts, ", ")
}

// complain says that a stage is late, and what the world looks like.
func (s *story) complain(w world, d *decision) {
	if s.late {
		return
	}
	s.late = true
	what := "the shares did not arrive"
	if s.stage == filling {
		what = "the cluster did not fill"
	}
	lines := append([]string{fmt.Sprintf("%s within %s", what, s.limit)}, states(w)...)
	if s.once {
		d.err = fmt.Errorf("%s", strings.Join(lines, "\n  "))
		return
	}
	d.say = append(d.say, lines...)
}

// states says what each queue should have and what it has.
func states(w world) (lines []string) {
	for _, name := range []string{busy, sometimesBusy} {
		q := w.queue(name)
		lines = append(lines, fmt.Sprintf("%s: fair share %s, allocated %s, its %d bound pods hold %s, %d wait",
			name, report.Amounts(q.FairShare), report.Amounts(q.Allocated), w.running[name], report.Amounts(w.bound[name]), w.waiting[name]))
	}
	return lines
}
