package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func driver(p *Pod) { p.Role = application.Driver }
func runs(n int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(n) }
}
func driverShare(milli int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.MaxDriverShare = queue.AtMost(milli) }
}

func (f *fixture) wantWhy(uid UID, want string) {
	f.t.Helper()
	why, ok := f.Why(uid)
	used, limit, asked := why.Used, why.Limit, why.Asked
	switch n := why.Details.(type) {
	case reason.Applications:
		used, limit = n.Running, n.Most
	case reason.Members:
		used, limit = n.Exist, n.Needed
	case reason.Packing:
		used, limit = n.Fit, n.Needed
	case reason.MinResources:
		used, limit, asked = n.Free, n.Needed, n.Stated
	}
	got := fmt.Sprintf("%s %s %d/%d+%d", why.Code, why.Queue, used, limit, asked)
	if !ok || got != want {
		f.t.Errorf("%s waits for %q, %v, want %q", uid, got, ok, want)
	}
}

// limits is a tree with one pod behind each kind of limit, and one behind nothing.
func limits(t *testing.T) *fixture {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(2, 400)))
	f.declare("root.b", runs(1))
	f.declare("root.c", driverShare(100))
	f.declare("root.d", func(d *queue.Declaration) { d.Spec.MaxPod = amounts(1, 4) })
	f.declare("root.e")
	f.pod("a0", "a", asks(2, 4))
	f.pod("b0", "b", at(1))
	f.pod("c0", "c", driver, asks(20, 4), at(1))
	f.run("a0", "b0", "c0")
	f.pod("a1", "a")
	f.pod("b1", "b", at(2))
	f.pod("c1", "c", driver, at(2))
	f.pod("d1", "d", asks(2, 4))
	f.pod("e1", "e")
	return f
}

func TestWhyNamesTheLimitAndItsNumbers(t *testing.T) {
	f := limits(t)
	f.wantWhy("a1", "MaxResources root.a 2000/2000+1000")
	f.wantWhy("b1", "MaxRunningApplications root.b 1/1+0")
	// Four of the five queues are active: a, b, c and e; d's only pod is blocked. 100 cpu over four, capped at 2 in a, is 32.666 for c.
	f.wantWhy("c1", "MaxDriverShare root.c 20000/3267+1000")
	f.wantWhy("d1", "MaxPodResources root.d 0/1000+2000")
	f.wantWhy("e1", "WaitingTurn root.e 0/0+0")
	if _, ok := f.Why("a0"); ok {
		t.Error("a pod that runs waits")
	}
	got := fmt.Sprint(f.WaitingPods())
	want := fmt.Sprint(map[reason.Code]int{reason.MaxResources: 1, reason.MaxRunningApplications: 1, reason.MaxDriverShare: 1, reason.MaxPodResources: 1, reason.WaitingTurn: 1})
	if got != want {
		t.Errorf("waiting: %s, want %s", got, want)
	}
}

func TestPodsAreToldOfTheLimitThatStopsThemOnce(t *testing.T) {
	f := limits(t)
	told := func() (uids []UID) {
		f.Survey(100, f.now)
		for _, told := range f.TakeConditionUpdates(100) {
			uids = append(uids, told.UID+UID(" "+string(told.Reason.Code)))
		}
		slices.Sort(uids)
		return uids
	}
	f.wantPods(told(), "b1 MaxRunningApplications", "d1 MaxPodResources") // blocked; the others may be released any moment
	f.now += tellAfter
	f.wantPods(told(), "a1 MaxResources", "c1 MaxDriverShare")
	f.pod("a2", "a", asks(1, 1)) // another number of pods changes nothing for those that wait
	f.wantPods(told())
	f.declare("root.a", maximum(amounts(3, 400)))
	f.wantPods(told()) // it may go, and is told when it has gone
	f.run("e1", "a1")
	f.wantPods(told(), "a1 ")
}

// Why returns what a waiting pod waits for, as of now; false: the ledger knows no waiting pod of that UID.
func (l *Ledger) Why(uid UID) (reason.Reason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || r.state != Waiting {
		return reason.Reason{}, false
	}
	return l.why(r), true
}
