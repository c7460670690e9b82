package ledger

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// driverTwin knows who waits with a driver, and nothing else. It keeps the list of pods, and goes through all of it for every question.
type driverTwin struct {
	leader
	t    *rapid.T
	now  int64
	pods []Pod
}

// headless lists the drivers with which a pod waits: those of its application and queue that are not charged, if none is that stays.
func (w *driverTwin) headless(p Pod) (drivers []Pod) {
	for _, o := range w.pods {
		s, _ := w.PodState(o.UID)
		switch {
		case o.Role != application.Driver || p.Role == application.Driver || o.Application != p.Application || o.Queue != p.Queue || s.State == Gone:
		case !s.State.charged():
			drivers = append(drivers, o)
		case !o.Terminating:
			return nil
		}
	}
	return drivers
}

// compare looks at every pod that waits: what blocks it, and what it says.
func (w *driverTwin) compare() {
	w.settled()
	if wrong := w.Check(); len(wrong) > 0 {
		w.t.Fatal(wrong)
	}
	for _, p := range w.pods {
		s, _ := w.PodState(p.UID)
		if s.State != Waiting {
			continue
		}
		drivers := w.headless(p)
		stuck := len(drivers) > 0 && !slices.ContainsFunc(drivers, func(d Pod) bool { return d.Gate == "" })
		want := reason.Code("")
		switch {
		case p.Gate != "":
			want = reason.SchedulingGate
		case stuck:
			want = reason.WaitingForDriver
		}
		if got := s.BlockedBy.Code; got != want && !(want == "" && got == reason.BackOff) {
			w.t.Fatalf("%s is blocked by %q, want %q", p.UID, got, want)
		}
		if why := w.why(w.Ledger.pods[p.UID]); len(drivers) > 0 && p.Gate == "" && s.BlockedBy.Code != reason.BackOff {
			name := reason.As[reason.Driver](why).Pod
			if why.Code != reason.WaitingForDriver || !slices.ContainsFunc(drivers, func(d Pod) bool { return d.Name == name && (stuck || d.Gate == "") }) {
				w.t.Fatalf("%s waits with %v, and says %s", p.UID, drivers, why.Text())
			}
		}
	}
}

// reserve lets kube-scheduler find a node for what was released. A pod whose driver went back meanwhile is refused.
func (w *driverTwin) reserve() {
	for _, p := range w.pods {
		if s, _ := w.PodState(p.UID); s.State != Released {
			continue
		}
		alone := len(w.headless(p)) > 0
		if why, ok := w.Reserve(p.UID, "node", w.now); ok == alone && p.Gate == "" {
			w.t.Fatalf("%s goes on: %v, %s", p.UID, ok, why.Text())
		} else if !ok {
			w.Fail(p.UID, Refused, w.now)
		}
	}
}

// release releases all that may go. No pod goes while it waits with a driver; and all go that wait for nothing.
func (w *driverTwin) release() {
	w.now += 20 * sec          // beyond every back-off
	for _, p := range w.pods { // kube-scheduler tries again what fitted nowhere
		w.Admitted(p.UID)
	}
	w.TakeWoken(w.now)
	for {
		w.reserve()
		var with []string
		for _, p := range w.pods { // before
			if len(w.headless(p)) > 0 {
				with = append(with, string(p.UID))
			}
		}
		r, ok := w.Choose(w.now)
		if !ok {
			break
		}
		if slices.Contains(with, string(r.UID)) {
			w.t.Fatalf("%s is released while its driver waits", r.UID)
		}
		w.compare()
	}
	for _, p := range w.pods {
		if s, _ := w.PodState(p.UID); s.State == Waiting && p.Gate == "" && len(w.headless(p)) == 0 {
			w.t.Fatalf("%s is not released: %v", p.UID, w.why(w.Ledger.pods[p.UID]).Text())
		}
	}
}

var (
	twinRoles = rapid.SampledFrom([]application.Role{application.Driver, application.Driver, application.Executor, application.Executor, application.None})
	twinParts = rapid.SampledFrom([]string{"k", "l"})
)

func (w *driverTwin) submit(t *rapid.T) {
	n := len(w.pods)
	p := Pod{
		UID: UID(fmt.Sprintf("p%03d", w.now/sec)), Queue: twinParts.Draw(t, "queue"), Application: twinParts.Draw(t, "application"), Role: twinRoles.Draw(t, "role"),
		Created: rapid.Int64Range(0, 9).Draw(t, "created"), Gate: twinGates.Draw(t, "gate"), Request: amounts(1, 1),
	}
	p.Name, p.Class = string(p.UID), p.Role.String()
	w.pods = append(w.pods, p)
	w.ObservePod(w.pods[n], w.now)
}

// restart begins again with what the objects say, in another order.
func (w *driverTwin) restart(t *rapid.T) {
	w.leader = newLeader(Options{Window: 1000})
	w.ObserveNode(Node{Name: "node", Allocatable: amounts(1000, 1000), Usable: true})
	for _, q := range []queue.Path{"root", "root.k", "root.l"} {
		d := queue.Declaration{Path: q, Spec: queue.DefaultSpec()}
		d.Spec.MaxDriverShare = queue.AtMost(1000)
		w.ObserveQueue(d)
	}
	for _, p := range rapid.Permutation(w.pods).Draw(t, "order") {
		w.ObservePod(p, w.now)
	}
	w.Lead(w.now)
}

// play changes one thing.
func (w *driverTwin) play(t *rapid.T) {
	w.now += sec
	op := rapid.IntRange(0, 12).Draw(t, "event")
	switch {
	case op < 4 || len(w.pods) == 0:
		w.submit(t)
		return
	case op == 4:
		w.release()
		return
	case op == 5:
		w.restart(t)
		return
	}
	i := rapid.IntRange(0, len(w.pods)-1).Draw(t, "pod")
	p := &w.pods[i]
	s, _ := w.PodState(p.UID)
	switch op {
	case 6:
		w.ForgetPod(p.UID, w.now)
		w.pods = slices.Delete(w.pods, i, i+1)
		return
	case 7:
		if p.Node == "" && s.State == Waiting {
			p.Gate = twinGates.Draw(t, "gate")
		}
	case 8:
		if s.State == Waiting {
			p.Application, p.Queue, p.Role = twinParts.Draw(t, "application"), twinParts.Draw(t, "queue"), twinRoles.Draw(t, "role")
			p.Class = p.Role.String()
		}
	case 9:
		if s.State != Gone && p.Gate == "" {
			p.Node = "node"
		}
	case 10:
		p.Terminating = true
	case 11, 12:
		if s.State.inWindow() {
			w.Fail(p.UID, Failure(rapid.IntRange(0, 2).Draw(t, "failure")), w.now)
		}
		return
	}
	w.ObservePod(*p, w.now)
}

func TestWaitingWithADriverEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &driverTwin{t: t}
		w.restart(t)
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			w.play(t)
			w.compare()
		}
		w.release()
	})
}

// Pods that have all been created before the first release go in an order that does not depend on the order in which they were seen: drivers first or
// last, in pod groups or not, with a part for drivers or without, and whether the scheduler had begun to lead or not.
func TestTheOrderOfArrivalDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leads := rapid.Bool().Draw(t, "leads")
		d := queue.Declaration{Path: "root.k", Spec: queue.DefaultSpec()}
		d.Spec.Policy = rapid.SampledFrom([]queue.Policy{queue.FIFO, queue.DominantResourceFairness, queue.StateAware}).Draw(t, "policy")
		d.Spec.MaxDriverShare = rapid.SampledFrom([]queue.Limit{{}, queue.AtMost(100), queue.AtMost(1000)}).Draw(t, "share")
		var groups []PodGroup
		var pods []Pod
		for n := range rapid.IntRange(1, 5).Draw(t, "applications") {
			name := fmt.Sprint("a", n)
			grouped := rapid.IntRange(0, 3).Draw(t, "grouped") == 0
			for i := range rapid.IntRange(1, 5).Draw(t, "pods") {
				p := Pod{
					UID: UID(fmt.Sprint(name, "-", i)), Queue: "k", Application: name, Role: twinRoles.Draw(t, "role"), Gate: twinGates.Draw(t, "gate"),
					Created: rapid.Int64Range(0, 3).Draw(t, "created"), Request: amounts(rapid.Int64Range(1, 2).Draw(t, "cpu"), 1),
				}
				if grouped {
					p.PodGroup = "default/" + name
				}
				p.Name, p.Class = string(p.UID), fmt.Sprint(p.Role, p.Request, p.PodGroup)
				pods = append(pods, p)
			}
			if grouped {
				groups = append(groups, PodGroup{Key: "default/" + name, MinMember: rapid.IntRange(1, 4).Draw(t, "minMember")})
			}
		}
		play := func(pods []Pod) (released []UID) {
			l := newLeader(Options{})
			l.ObserveNode(Node{Name: "node", Allocatable: amounts(12, 100), Usable: true})
			l.ObserveQueue(d)
			for _, g := range groups {
				l.ObservePodGroup(g)
			}
			if leads {
				l.Lead(0)
			}
			for _, p := range pods {
				l.ObservePod(p, 9)
			}
			for r, ok := l.Choose(9); ok; r, ok = l.Choose(9) {
				released = append(released, r.UID)
			}
			return released
		}
		want := play(pods)
		other := rapid.Permutation(pods).Draw(t, "order")
		if got := play(other); !slices.Equal(got, want) {
			t.Fatalf("released\n%q, in another order\n%q", want, got)
		}
	})
}
