package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// planning is a planner for a cluster of four cpus. Queue busy uses all of them; idle, with the same weight,
// asks for two and is starved after a minute.
type planning struct {
	*testing.T
	*planner
	measured            []string
	at                  int64
	events              []string
	adoptions, refusals int
}

func (p *planning) Eventf(regarding, _ runtime.Object, kind, reason, action, note string, args ...any) {
	q := regarding.(*corev1.ObjectReference)
	p.events = append(p.events, fmt.Sprintf("%s %s %s %s %s: %s", q.Name, q.UID, kind, reason, action, fmt.Sprintf(note, args...)))
}

func newPlanning(t *testing.T, root func(*queue.Spec)) *planning {
	l := ledger.New(ledger.Options{})
	l.Lead(0)
	p := &planning{T: t, at: 1e9}
	p.planner = &planner{
		ledger: l, now: func() int64 { return p.at }, build: preemption.Make, check: invariant.Plan, reported: map[claimed]int64{},
		look: func(_ context.Context, w preemption.World) (preemption.Feasibility, error) {
			return l.Feasibility(w), nil
		},
		looked: func() {}, adopted: func() { p.adoptions++ }, refused: func() { p.refusals++ }, recorder: p,
		planned: func(_ time.Duration, victims int, observeOnly bool, podSeconds float64) {
			p.measured = append(p.measured, fmt.Sprintf("%d victims, %v pod-seconds, observe only %v", victims, math.Round(podSeconds), observeOnly))
		},
		uidOf: func(name string) types.UID { return types.UID("uid-of-" + name) }, trigger: writing.NewTrigger(),
	}
	cpus := func(n int64) resource.List { return resource.Of(resource.Entry{Name: resource.CPU, Value: 1000 * n}) }
	l.ObserveNode(ledger.Node{Name: "node", Usable: true, Allocatable: cpus(4)})
	for _, path := range []queue.Path{"root", "root.busy", "root.idle"} {
		d := queue.Declaration{Path: path, Spec: queue.DefaultSpec()}
		if path == "root" {
			d.Spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: int64(time.Minute)}
			if root != nil {
				root(&d.Spec)
			}
		}
		l.ObserveQueue(d)
	}
	pod := func(name, q, node string, bound int64) {
		l.ObservePod(ledger.Pod{UID: ledger.UID(name), Namespace: "team", Name: name, Queue: q, Class: "c", Application: q, Request: cpus(1), Node: node, Bound: bound}, p.at)
	}
	for i := range 4 {
		pod(fmt.Sprintf("busy-%d", i), "busy", "node", int64(i+1))
	}
	pod("new-0", "idle", "", 0)
	pod("new-1", "idle", "", 0)
	r, ok := l.Choose(p.at)
	if !ok {
		t.Fatal("no pod is tried")
	}
	l.Fail(r.UID, ledger.NoFit, p.at)
	p.round(t.Context())
	return p
}

// later makes a round after d, and returns how long the planner would wait for the next.
func (p *planning) later(d time.Duration) time.Duration {
	p.at += int64(d)
	return p.round(p.Context())
}

func (p *planning) wantVictims(want ...string) {
	p.Helper()
	var got []string
	for _, v := range p.ledger.Victims() {
		got = append(got, fmt.Sprintf("%s for %s", v.Name, v.ForQueue))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("victims, -want +got:\n%s", diff)
	}
}

func (p *planning) wantEvents(want ...string) {
	p.Helper()
	if diff := cmp.Diff(want, p.events); diff != "" {
		p.Errorf("events, -want +got:\n%s", diff)
	}
}

const plannedTwo = "root.idle uid-of-root.idle Normal PreemptionPlanned Planning: Places found for waiting pods: 2; pods of other queues to be evicted for them: 2, which have run for "

func TestAPlanIsMadeWhenTheTimeoutPassesAndAdopted(t *testing.T) {
	p := newPlanning(t, nil)
	if wait := p.later(59 * time.Second); wait != planEvery {
		t.Errorf("looks again after %v", wait)
	}
	p.wantVictims()
	if wait := p.later(800 * time.Millisecond); wait != 200*time.Millisecond {
		t.Errorf("looks again after %v, and the timeout passes in 200ms", wait)
	}
	p.later(200 * time.Millisecond)
	p.wantVictims("busy-3 for root.idle", "busy-2 for root.idle")
	p.wantEvents(plannedTwo + "120 pod-seconds")
	if p.ledger.NominatedTo("new-0") == "" || p.ledger.NominatedTo("new-1") == "" || p.ledger.NominatedTo("busy-0") != "" {
		t.Error("the claimants have no places, or another pod has")
	}
	p.later(10 * time.Second) // nothing has changed
	if p.adoptions != 1 || p.refusals != 0 {
		t.Errorf("%d plans adopted, %d refused", p.adoptions, p.refusals)
	}
}

func TestObserveOnlySaysSo(t *testing.T) {
	p := newPlanning(t, func(s *queue.Spec) { s.Preemption.ObserveOnly = true })
	p.later(time.Minute)
	p.wantVictims()
	p.wantEvents(plannedTwo + "120 pod-seconds; observeOnly: none of them is")
	// Both began some nanoseconds after the epoch, and the clock stands at 61 seconds.
	if want := []string{"2 victims, 120 pod-seconds, observe only true"}; !slices.Equal(p.measured, want) {
		t.Errorf("measured %q, want %q", p.measured, want)
	}
	p.ledger.ObserveNode(ledger.Node{Name: "another"})
	p.later(10 * time.Second)
	p.wantEvents(plannedTwo + "120 pod-seconds; observeOnly: none of them is") // one event per claim
}

// All that busy has above its share is ignored, so the claim ends. An event says so, once while it lasts.
func TestAClaimThatNobodyMayPayEndsWithItsReason(t *testing.T) {
	p := newPlanning(t, func(s *queue.Spec) { s.Preemption.MaxIgnoredOverCapacity = queue.AtMost(1000) })
	p.later(time.Minute)
	p.wantVictims()
	said := "root.idle uid-of-root.idle Warning PreemptionDeclined Planning: root.idle is still owed 2 cpu, and every queue that has more than its fair share " +
		"has so little more that it is ignored (preemption.maxIgnoredOverCapacity in Queue root); the claim ends, and opens again after its timeout if the queue is still below"
	p.wantEvents(said)
	for _, q := range p.ledger.Snapshot().Queues {
		if s := q.Starvation; q.Path == "root.idle" && (s.Claiming || s.FairShareDeclined != p.at || s.FairShareDue != p.at+int64(time.Minute)) {
			t.Errorf("at %d its starvation is %+v", p.at, s)
		}
	}
	made := p.adoptions
	p.later(59 * time.Second)
	if p.adoptions != made {
		t.Error("a plan is made while no claim is open")
	}
	p.later(time.Second)
	if p.adoptions != made+1 {
		t.Error("the claim does not open again")
	}
	p.wantEvents(said)
}

func TestAPlanThatBreaksARuleIsNotAdopted(t *testing.T) {
	checked := 0
	p := newPlanning(t, nil)
	check := p.check
	p.check = func(_ preemption.World, plan preemption.Plan, _ preemption.Feasibility) []string {
		checked++
		return []string{fmt.Sprintf("%d victims of root.busy are not needed", len(plan.Victims))}
	}
	p.later(time.Minute)
	p.wantVictims()
	refusal := "root uid-of-root Warning PreemptionPlanRefused Planning: No pod is evicted by a plan that breaks a rule: 2 victims of root.busy are not needed"
	p.wantEvents(refusal)
	// The round is tried again after 1, 2, 4 ... seconds, although nothing has changed.
	made := []int{}
	for second := 1; second <= 8; second++ {
		if second == 7 {
			p.check = check
		}
		before := checked
		if p.later(time.Second); checked > before {
			made = append(made, second)
		}
	}
	if diff := cmp.Diff([]int{1, 3}, made); diff != "" || p.refusals != 3 || p.adoptions != 1 {
		t.Errorf("%d refused, %d adopted; plans were made again at, -want +got:\n%s", p.refusals, p.adoptions, diff)
	}
	p.wantVictims("busy-3 for root.idle", "busy-2 for root.idle")
	p.wantEvents(refusal, refusal, refusal, plannedTwo+"134 pod-seconds")
}

// A filter may be anyone's code. A panic must not end the process: the next process would panic again, and
// nothing would be scheduled any more.
func TestAFilterThatPanicsEndsTheRoundAlone(t *testing.T) {
	p := newPlanning(t, nil)
	p.build = func(preemption.World, preemption.Feasibility) preemption.Plan { panic("index out of range") }
	p.later(time.Minute)
	p.wantVictims()
	p.wantEvents("root uid-of-root Warning PreemptionPlanRefused Planning: No pod is evicted by a plan that breaks a rule: planning panicked: index out of range")
	if p.refusals != 1 || p.retry.Failures != 1 {
		t.Errorf("%d refused, %d failures", p.refusals, p.retry.Failures)
	}
}

func TestAPictureThatCannotBeTakenIsTriedAgain(t *testing.T) {
	p := newPlanning(t, nil)
	look := p.look
	p.look = func(context.Context, preemption.World) (preemption.Feasibility, error) {
		return nil, errors.New("snapshot state is not consistent")
	}
	p.later(time.Minute)
	p.wantVictims()
	p.wantEvents()
	p.look = look
	p.later(time.Second)
	p.wantVictims("busy-3 for root.idle", "busy-2 for root.idle")
	if p.retry.Failures != 0 {
		t.Errorf("%d failures in a row", p.retry.Failures)
	}
}

func TestPlanningEndsWithItsContext(t *testing.T) {
	p := newPlanning(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		p.run(ctx)
		close(ended)
	}()
	p.Kick()
	p.Kick() // never blocks
	cancel()
	<-ended
}

// The real filters of the scheduler as it is set up.
func TestTheSchedulerPlansWithFiltersOfItsOwn(t *testing.T) {
	s, err := setup(t, "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.planner.look(t.Context(), preemption.World{Nodes: []preemption.Node{{Name: "node"}}, Gone: []string{"unknown"}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Fits(&preemption.Claimant{UID: "unknown", Class: "c"}, 0, nil) {
		t.Error("an unknown pod fits on an unknown node")
	}
	if strings.Contains(fmt.Sprint(s.plugin), "hypothetical") {
		t.Error("the stand-in has taken the place of the plugin")
	}
}
