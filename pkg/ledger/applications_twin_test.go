package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// appTwin knows the rule of running applications and nothing else. It keeps lists, and after every event adds everything up again: who has
// no pod any more that wants to run has ended; who has a charged pod runs; then, in order of submission, who fits is let in: first into its queue, then
// to run there. If a limit is lowered below the number of those that run, those there that hold nothing are let in again like all others.
type appTwin struct {
	leader
	t       *rapid.T
	now     int64
	pods    []Pod
	limits  map[queue.Path]queue.Limit
	states  map[queue.Path]queue.State
	stopped map[queue.Path]int64 // since when leaves are stopped
	perUser queue.Limit
	running []twinApp
	lowered []queue.Path // limits that were lowered since the last look
	ofUsers bool         // so was that of users

	entries  map[queue.Path]queue.Limit // how many applications each queue takes
	percents map[queue.Path]queue.Limit // and how many percent of those one user may have
	entered  []twinApp
	// released holds each pod as it was at its last release: until it is bound or goes back, it counts as that.
	released map[UID]Pod
}

type twinApp struct {
	leaf queue.Path
	name string
}

type twinFacts struct {
	twinApp
	oldest         Pod
	wants, charged bool
}

// gather lists the applications in order of submission.
func (w *appTwin) gather() (apps []twinFacts) {
	for _, p := range w.pods {
		s, _ := w.PodState(p.UID)
		if p.Terminating && !s.State.charged() {
			continue
		}
		if s.State.inWindow() {
			p.Application, p.User = w.released[p.UID].Application, w.released[p.UID].User
		}
		k := twinApp{queue.Path("root." + p.Queue), p.Application}
		if s.State.charged() {
			k.leaf = s.Leaf
		}
		i := slices.IndexFunc(apps, func(a twinFacts) bool { return a.twinApp == k })
		if i < 0 {
			i = len(apps)
			apps = append(apps, twinFacts{twinApp: k, oldest: p})
		}
		a := &apps[i]
		if p.Created < a.oldest.Created || p.Created == a.oldest.Created && p.UID < a.oldest.UID {
			a.oldest = p
		}
		a.charged = a.charged || s.State.charged()
		a.wants = a.wants || s.State.charged() || p.Gate == ""
	}
	slices.SortFunc(apps, func(a, b twinFacts) int {
		return cmp.Or(cmp.Compare(a.oldest.Created, b.oldest.Created), cmp.Compare(a.name, b.name), cmp.Compare(a.leaf, b.leaf))
	})
	return apps
}

// followStops notes since when each leaf has been stopped, by itself or by a queue above.
func (w *appTwin) followStops() {
	for _, leaf := range []queue.Path{"root.a.x", "root.a.y", "root.b.z"} {
		stopped := false
		for p := leaf; p != ""; p = p.Parent() {
			stopped = stopped || w.states[p] == queue.StateStopped
		}
		switch {
		case !stopped:
			delete(w.stopped, leaf)
		case w.stopped[leaf] == 0:
			w.stopped[leaf] = max(w.now/sec, 1) * sec
		}
	}
}

// goesOn: it was submitted before the stop, or holds something.
func (w *appTwin) goesOn(a twinFacts) bool {
	since, stopped := w.stopped[a.leaf]
	return !stopped || a.charged || a.oldest.Created < since
}

// fits counts who runs below every queue on the way up, and of the user.
func (w *appTwin) fits(a twinFacts, apps []twinFacts, runs []twinApp) bool {
	n := int64(1)
	for _, o := range apps {
		if slices.Contains(runs, o.twinApp) && o.oldest.User == a.oldest.User {
			n++
		}
	}
	return w.perUser.Admits(n) && w.goesOn(a) && fitsBelow(a, runs, w.limits)
}

// enters counts who is in the queues, and of the user in the leaf: of those that it takes, a user may have some percent, but one in any case.
func (w *appTwin) enters(a twinFacts, apps []twinFacts, entered []twinApp) bool {
	n := int64(1)
	for _, o := range apps {
		if slices.Contains(entered, o.twinApp) && o.oldest.User == a.oldest.User && o.leaf == a.leaf {
			n++
		}
	}
	most := w.entries[a.leaf]
	if percent := w.percents[a.leaf]; most.Stated && most.Most > 0 && percent.Stated && n > max(most.Most*percent.Most/100, 1) {
		return false
	}
	return w.goesOn(a) && fitsBelow(a, entered, w.entries)
}

// fitsBelow: one more application below each queue on the way up.
func fitsBelow(a twinFacts, there []twinApp, limits map[queue.Path]queue.Limit) bool {
	for q := a.leaf; q != ""; q = q.Parent() {
		n := int64(1)
		for _, r := range there {
			if q.Contains(r.leaf) {
				n++
			}
		}
		if !limits[q].Admits(n) {
			return false
		}
	}
	return true
}

func (w *appTwin) follow() {
	apps := w.gather()
	var entered, runs []twinApp
	for _, a := range apps {
		if a.charged || a.wants && w.goesOn(a) && slices.Contains(w.entered, a.twinApp) {
			entered = append(entered, a.twinApp)
		}
		if a.charged || a.wants && w.goesOn(a) && slices.Contains(w.running, a.twinApp) {
			runs = append(runs, a.twinApp)
		}
	}
	runs = w.withoutTooMany(apps, runs)
	for _, a := range apps {
		if a.wants && !slices.Contains(entered, a.twinApp) && w.enters(a, apps, entered) {
			entered = append(entered, a.twinApp)
		}
	}
	for _, a := range apps {
		if slices.Contains(entered, a.twinApp) && !slices.Contains(runs, a.twinApp) && w.fits(a, apps, runs) {
			runs = append(runs, a.twinApp)
		}
	}
	w.entered, w.running = entered, runs
}

// withoutTooMany leaves out those that hold nothing where a lowered limit is below the number of those that ran.
func (w *appTwin) withoutTooMany(apps []twinFacts, runs []twinApp) (stay []twinApp) {
	for _, a := range apps {
		tooMany, ofUser := false, int64(0)
		for _, q := range w.lowered {
			below := int64(0)
			for _, r := range runs {
				below += int64(btoi(q.Contains(r.leaf)))
			}
			tooMany = tooMany || q.Contains(a.leaf) && !w.limits[q].Admits(below)
		}
		for _, o := range apps {
			ofUser += int64(btoi(o.oldest.User == a.oldest.User && slices.Contains(runs, o.twinApp)))
		}
		tooMany = tooMany || w.ofUsers && !w.perUser.Admits(ofUser)
		if slices.Contains(runs, a.twinApp) && (a.charged || !tooMany) {
			stay = append(stay, a.twinApp)
		}
	}
	w.lowered, w.ofUsers = nil, false
	return stay
}

func (w *appTwin) compare() {
	w.TakeWoken(w.now)
	w.followStops()
	if wrong := w.Check(); len(wrong) > 0 {
		w.t.Fatal(wrong)
	}
	w.follow()
	spell := func(as []twinApp) (out []string) {
		for _, a := range as {
			out = append(out, fmt.Sprint(a.leaf, " ", a.name))
		}
		slices.Sort(out)
		return out
	}
	var in, got []twinApp
	for _, a := range w.queues.accounts {
		for _, app := range a.apps {
			if app.entry.Runs {
				in = append(in, twinApp{a.path, app.slot.Name})
			}
			if app.slot.Runs {
				got = append(got, twinApp{a.path, app.slot.Name})
			}
		}
	}
	if got, want := spell(in), spell(w.entered); !slices.Equal(got, want) {
		w.t.Fatalf("in their queues:\n%q, want\n%q", got, want)
	}
	if got, want := spell(got), spell(w.running); !slices.Equal(got, want) {
		w.t.Fatalf("running:\n%q, want\n%q", got, want)
	}
}

var twinQueues = []queue.Path{"root", "root.a", "root.a.x", "root.a.y", "root.b", "root.b.z"}

func (w *appTwin) declare(q queue.Path) {
	d := queue.Declaration{Path: q, Spec: queue.DefaultSpec()}
	d.Spec.MaxRunningApplications, d.Spec.MaxDriverShare, d.Spec.State = w.limits[q], queue.AtMost(1000), w.states[q]
	d.Spec.MaxApplications, d.Spec.Users.MinShare = w.entries[q], w.percents[q]
	if q == queue.Root {
		d.Spec.MaxRunningApplicationsPerUser = w.perUser
	}
	w.ObserveQueue(d)
}

func (w *appTwin) observe(i int) { w.ObservePod(w.pods[i], w.now) }

var (
	twinLimits   = rapid.OneOf(rapid.Just(queue.Limit{}), rapid.Map(rapid.Int64Range(0, 4), queue.AtMost))
	twinPercents = rapid.SampledFrom([]queue.Limit{{}, queue.AtMost(34), queue.AtMost(67)})
	twinLeaves   = rapid.SampledFrom([]string{"a.x", "a.y", "b.z"})
	twinNames    = rapid.SampledFrom([]string{"k", "l", "m", "n", "o"})
	twinUsers    = rapid.SampledFrom([]string{"u", "v"})
	twinGates    = rapid.SampledFrom([]string{"", "", "", "gate"})
)

func lowered(from, to queue.Limit) bool { return to.Stated && (!from.Stated || to.Most < from.Most) }

func (w *appTwin) submit(t *rapid.T) {
	n := len(w.pods)
	w.pods = append(w.pods, Pod{
		UID: UID(fmt.Sprintf("p%03d", w.now)), Queue: twinLeaves.Draw(t, "queue"), Application: twinNames.Draw(t, "application"), User: twinUsers.Draw(t, "user"),
		Created: rapid.Int64Range(0, 9).Draw(t, "created") + rapid.SampledFrom([]int64{0, w.now}).Draw(t, "age"), Gate: twinGates.Draw(t, "gate"), Class: "c", Request: amounts(1, 1),
	})
	w.observe(n)
}

// play changes one thing.
func (w *appTwin) play(t *rapid.T) {
	w.now++
	op := rapid.IntRange(0, 14).Draw(t, "event")
	if op < 3 || len(w.pods) == 0 {
		w.submit(t)
		return
	}
	i := rapid.IntRange(0, len(w.pods)-1).Draw(t, "pod")
	p := &w.pods[i]
	s, _ := w.PodState(p.UID)
	// A parked pod that moves is in no queue until it has left kube-scheduler: that is told elsewhere.
	mayMove := s.State != Parked && s.State != Gone
	switch op {
	case 3, 4:
		w.ForgetPod(p.UID, w.now)
		w.pods = slices.Delete(w.pods, i, i+1)
	case 5:
		if p.Node == "" {
			p.Gate = twinGates.Draw(t, "gate")
			w.observe(i)
		}
	case 6:
		if mayMove {
			p.Application, p.Queue, p.User = twinNames.Draw(t, "application"), twinLeaves.Draw(t, "queue"), twinUsers.Draw(t, "user")
			w.observe(i)
		}
	case 7: // resized, perhaps while it is tried
		p.Request = amounts(rapid.Int64Range(1, 2).Draw(t, "cpu"), 1)
		w.observe(i)
	case 8:
		if s.State != Gone {
			p.Node = "node"
			w.observe(i)
		}
	case 9:
		if p.Node == "" {
			p.Terminating = true
			w.observe(i)
		}
	case 10:
		q := rapid.SampledFrom(twinQueues).Draw(t, "limited")
		if rapid.Bool().Draw(t, "of those that run") {
			most := twinLimits.Draw(t, "limit")
			if lowered(w.limits[q], most) {
				w.lowered = append(w.lowered, q)
			}
			w.limits[q] = most
		} else {
			w.entries[q], w.percents[q] = twinLimits.Draw(t, "entries"), twinPercents.Draw(t, "percent")
		}
		if q == queue.Root {
			most := twinLimits.Draw(t, "limit of a user")
			w.ofUsers = lowered(w.perUser, most)
			w.perUser = most
		}
		w.declare(q)
	case 13, 14:
		q := rapid.SampledFrom(twinQueues).Draw(t, "stopped")
		w.states[q] = rapid.SampledFrom([]queue.State{queue.StateUnstated, queue.StateRunning, queue.StateStopped}).Draw(t, "state")
		w.declare(q)
	case 11:
		w.now += 20 * sec
		if r, ok := w.Choose(w.now); ok {
			i := slices.IndexFunc(w.pods, func(p Pod) bool { return p.UID == r.UID })
			w.released[r.UID] = w.pods[i]
		}
	case 12:
		switch {
		case !s.State.inWindow():
		case p.Queue != string(s.Leaf[len("root."):]) || p.Gate != "":
			w.Fail(p.UID, Refused, w.now)
		default:
			w.Fail(p.UID, Failure(rapid.IntRange(0, 2).Draw(t, "failure")), w.now)
		}
	}
}

func TestRunningApplicationsEqualTheirTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &appTwin{leader: newLeader(Options{}), t: t, limits: map[queue.Path]queue.Limit{}, released: map[UID]Pod{},
			entries: map[queue.Path]queue.Limit{}, percents: map[queue.Path]queue.Limit{}, states: map[queue.Path]queue.State{}, stopped: map[queue.Path]int64{}}
		w.ObserveNode(Node{Name: "node", Allocatable: amounts(1000, 1000), Usable: true})
		w.perUser = twinLimits.Draw(t, "limit of a user")
		for _, q := range twinQueues {
			w.limits[q], w.entries[q], w.percents[q] = twinLimits.Draw(t, "limit"), twinLimits.Draw(t, "entries"), twinPercents.Draw(t, "percent")
			w.declare(q)
		}
		w.Lead(w.now)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			w.play(t)
			w.compare()
		}
	})
}
