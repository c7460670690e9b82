package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const sec int64 = 1e9

// scheduler is a port and a gate that record their calls.
type scheduler struct {
	Dispatcher
	t         *testing.T
	exclusive bool
	said      []string
	holds     []ledger.UID
}

func newScheduler(t *testing.T, window int) *scheduler {
	s := &scheduler{t: t}
	s.Dispatcher = Dispatcher{Ledger: ledger.New(ledger.Options{Window: window}), Port: s}
	s.Ledger.ObserveNode(ledger.Node{Name: "node", Allocatable: amounts(100), Usable: true})
	for _, path := range []queue.Path{"root.a", "root.b"} {
		s.Ledger.ObserveQueue(queue.Declaration{Path: path, Spec: queue.DefaultSpec()})
	}
	s.Ledger.Lead(0)
	return s
}

func amounts(cpu int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000})
}

func (s *scheduler) Exclusive(f func(Gate)) {
	if s.exclusive {
		s.t.Error("the port was taken twice: this would block for ever")
	}
	s.exclusive = true
	f(s)
	s.exclusive = false
}

func (s *scheduler) Admit(uid ledger.UID)    { s.say("admit " + string(uid)) }
func (s *scheduler) Withdraw(uid ledger.UID) { s.say("withdraw " + string(uid)) }

func (s *scheduler) Holds(uid ledger.UID) bool { return slices.Contains(s.holds, uid) }

func (s *scheduler) say(what string) { s.said = append(s.said, what) }

func (s *scheduler) pod(uid ledger.UID, q, class string, cpu int64) {
	s.Ledger.ObservePod(ledger.Pod{
		UID: uid, Name: string(uid), Queue: q, Application: string(uid), Class: class, Request: amounts(cpu),
	}, sec)
}

func TestReleasedIsCalledForEachReleaseAndKnowsTheFirst(t *testing.T) {
	s := newScheduler(t, 1)
	s.Released = func(r ledger.Release, now int64) {
		if !s.exclusive {
			t.Error("told outside the delivery lock")
		}
		s.say(fmt.Sprintf("released %s of %s at %d, first: %v", r.UID, r.Queue, now/sec, r.First))
	}
	s.pod("p", "root.a", "c", 1)
	s.Round(2 * sec)
	s.Ledger.Fail("p", ledger.Refused, 3*sec)
	s.Round(4 * sec)
	s.want("admit p", "released p of root.a at 2, first: true", "admit p", "released p of root.a at 4, first: false")
}

func (s *scheduler) want(said ...string) {
	s.t.Helper()
	if !slices.Equal(s.said, said) {
		s.t.Errorf("got %q, want %q", s.said, said)
	}
	s.said = nil
	for _, w := range s.Ledger.Check() {
		s.t.Error(w)
	}
}

func TestRoundFillsTheWindowInOrder(t *testing.T) {
	s := newScheduler(t, 3)
	for i := range 3 {
		s.pod(ledger.UID(fmt.Sprint("a", i)), "a", fmt.Sprint("a", i), 1)
		s.pod(ledger.UID(fmt.Sprint("b", i)), "b", fmt.Sprint("b", i), 2)
	}
	if next := s.Round(sec); next != 0 {
		t.Errorf("waiting alone changes nothing, but the next round is at %d", next)
	}
	s.want("admit a0", "admit b0", "admit a1")
	s.Round(sec)
	s.want()
	s.Ledger.ForgetPod("b0", sec)
	s.Round(sec)
	s.want("admit b1")
}

func TestRoundTakesWokenPodsOutBeforeTheOrderDecides(t *testing.T) {
	s := newScheduler(t, 1)
	s.pod("a0", "a", "c", 1)
	s.Round(sec)
	s.Failed("a0", ledger.NoFit, sec, func() {})
	s.pod("b0", "b", "c", 1)
	s.pod("a1", "a", "a1", 1)
	s.Round(sec)
	s.want("admit a0", "admit a1")
	s.Ledger.Admitted("a0")
	s.Ledger.Reserve("a1", "node", sec)
	p, _ := s.Ledger.PodState("a1")
	p.Node = "node"
	s.Ledger.ObservePod(p.Pod, sec)
	s.Round(sec)
	s.want("withdraw a0", "admit b0") // root.a has one already
}

// Time ends a hold of nodes, which the ledger finds out when it chooses. Nobody else asks for a round because of that.
func TestARoundThatGivesHeldNodesBackWakesWhatIsParked(t *testing.T) {
	s := newScheduler(t, 3)
	s.pod("long", "b", "long", 80)
	s.Round(sec)
	s.Ledger.Reserve("long", "node", sec)
	s.pod("short", "b", "short", 1)
	s.Ledger.ObservePodGroup(ledger.PodGroup{Key: "ns/g", MinMember: 3})
	for _, uid := range []ledger.UID{"g0", "g1", "g2"} {
		s.Ledger.ObservePod(ledger.Pod{UID: uid, Queue: "a", Application: "g", PodGroup: "ns/g", Class: "g", Request: amounts(10)}, sec)
	}
	s.want("admit long")
	held := s.Round(sec) // the group has no room
	s.want("admit short")
	ends := s.Round(held)
	s.Failed("short", ledger.NoFit, held, func() {}) // nodes are held
	s.want()
	for ends < held+gang.LongestHold {
		s.want()
		ends = s.Round(ends)
	}
	s.Round(ends)
	s.want("withdraw short", "admit short")
}

func TestRoundSaysWhenABackOffEnds(t *testing.T) {
	s := newScheduler(t, 1)
	s.pod("a0", "a", "c", 1)
	s.Round(sec)
	s.Failed("a0", ledger.Errored, sec, func() {})
	next := s.Round(sec)
	if next != 2*sec {
		t.Errorf("the next round is at %d, want %d", next, 2*sec)
	}
	s.Round(next - 1)
	s.want("admit a0", "withdraw a0")
	if next := s.Round(next); next != 0 {
		t.Errorf("there is nothing to wait for, but the next round is at %d", next)
	}
	s.want("admit a0")
}

func TestRefundComesBeforeKubeSchedulerHearsOfTheFailure(t *testing.T) {
	s := newScheduler(t, 1)
	s.pod("a0", "a", "c", 1)
	s.Round(sec)
	s.Failed("a0", ledger.NoFit, sec, func() {
		if s.exclusive {
			t.Error("a call to the API server while no watch event can be delivered")
		}
		if admitted, woken := s.Ledger.Admitted("a0"); admitted || !woken {
			t.Errorf("asked by PreEnqueue, the ledger says admitted %v, woken %v", admitted, woken)
		}
		s.say("kept")
	})
	s.want("admit a0", "kept")
}

func TestOthersAreTakenOutInOnePieceWithTheRefund(t *testing.T) {
	// While kube-scheduler reports the failure, a round may run and must know which pods it may choose.
	s := newScheduler(t, 3)
	s.pod("a0", "a", "huge", 1000)
	s.pod("b0", "b", "b0", 1)
	s.pod("b1", "b", "b1", 1)
	s.Round(sec)
	s.want("admit a0", "admit b0", "admit b1")
	s.Failed("a0", ledger.NoFit, sec, func() {
		s.want("withdraw b0", "withdraw b1")
		s.Round(sec)
		s.want("admit b0", "admit b1")
	})
	s.want()
}

func TestPodThatBacksOffIsTakenOutAfterKubeSchedulerPutItBack(t *testing.T) {
	s := newScheduler(t, 3)
	s.pod("a0", "a", "c", 1)
	s.Round(sec)
	s.Failed("a0", ledger.Errored, sec, func() { s.say("kept") })
	s.want("admit a0", "kept", "withdraw a0")
}

func TestPodRefusedByARuleOfOursIsTakenOut(t *testing.T) {
	s := newScheduler(t, 1)
	s.pod("a0", "a", "c", 1)
	s.Round(sec)
	s.Failed("a0", ledger.Refused, sec, nil)
	s.Round(sec)
	s.want("admit a0", "withdraw a0", "admit a0")
}

func TestFailureOfAPodThatIsNoLongerOursToTakeOut(t *testing.T) {
	s := newScheduler(t, 1)
	s.pod("a0", "a", "c", 1)
	s.Round(sec)
	s.Ledger.ForgetPod("a0", sec)
	s.Failed("a0", ledger.NoFit, sec, func() { s.say("kept") })
	s.want("admit a0", "kept", "withdraw a0")
}

func TestSweepRepairsOnlyWhatKubeSchedulerLost(t *testing.T) {
	s := newScheduler(t, 3)
	for _, uid := range []ledger.UID{"a0", "a1", "a2"} {
		s.pod(uid, "a", string(uid), 1)
	}
	s.Round(sec)
	s.said, s.holds = nil, []ledger.UID{"a1"}
	s.Ledger.Reserve("a2", "node", 2*sec)
	if lost := s.Sweep(sec, 9*sec); lost != 0 {
		t.Errorf("%d pods lost before they are overdue", lost)
	}
	if lost := s.Sweep(3*sec, 9*sec); lost != 1 {
		t.Errorf("%d pods lost, want 1", lost)
	}
	s.want("withdraw a0")
	s.Round(9 * sec)
	s.want("admit a0")
}

func TestPodThatMovesOnWhileKubeSchedulerPutsItBackIsTakenOut(t *testing.T) {
	s := newScheduler(t, 3)
	s.pod("a0", "a", "c", 1000)
	s.Round(sec)
	s.Failed("a0", ledger.NoFit, sec, func() {
		s.pod("a0", "missing", "c", 1000) // asks for a queue that does not exist
		s.Round(sec)
		s.say("kept")
	})
	s.want("admit a0", "withdraw a0", "kept", "withdraw a0")
}
