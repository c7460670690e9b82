package picture

import (
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Budget is a disruption budget: the pods that it covers, and how many more of them may go.
type Budget struct {
	Pods    []ledger.UID
	Allowed int
}

// Preemption is a plan of what would be preempted now, and the world it was made from.
type Preemption struct {
	World preemption.World
	Plan  preemption.Plan
	// Faults are what a check of the plan finds wrong; the scheduler does not carry out a plan with faults.
	Faults []string
	// Pods are the pods that the plan names, by UID.
	Pods map[string]ledger.PodState
}

// Preempt plans on a ledger that nothing else uses, as if the timeouts of all starved queues had passed.
// Terminating pods count as gone. Pods that are only announced are chosen before equal ones, so that a plan
// that is being carried out is shown again.
func Preempt(l *ledger.Ledger, now int64, budgets []Budget) Preemption {
	w := l.WhatPreemption(now)
	f := budgeted(l.Feasibility(w), budgets)
	p := Preemption{World: w, Plan: preemption.Make(w, f), Pods: map[string]ledger.PodState{}}
	f.Rollback(0)
	p.Faults = invariant.Plan(w, p.Plan, f)
	name := func(uid string) {
		if pod, ok := l.PodState(ledger.UID(uid)); ok {
			p.Pods[uid] = pod
		}
	}
	for _, v := range p.Plan.Victims {
		name(v.UID)
		name(v.For)
	}
	return p
}

// withBudgets adds PodDisruptionBudgets, which the ledger does not know.
type withBudgets struct {
	preemption.Feasibility
	of      map[string][]int
	allowed []int
}

func budgeted(f preemption.Feasibility, budgets []Budget) preemption.Feasibility {
	w := withBudgets{Feasibility: f, of: map[string][]int{}, allowed: make([]int, len(budgets))}
	for i, b := range budgets {
		w.allowed[i] = b.Allowed
		for _, uid := range b.Pods {
			w.of[string(uid)] = append(w.of[string(uid)], i)
		}
	}
	return w
}

// Budgets returns the budgets of a pod, as indexes into the given list.
func (w withBudgets) Budgets(uid string) []int { return w.of[uid] }

// Allowed returns what a budget allows before the plan.
func (w withBudgets) Allowed(budget int) int { return w.allowed[budget] }

// starved is a queue that preemption helps now or after a timeout: what it is below, and when that happens.
type starved struct {
	ledger.QueueState
	rule queue.Rule // by which it is compared with its siblings
}

func starvedQueues(s ledger.Snapshot) map[queue.Path]starved {
	all, rules := map[queue.Path]starved{}, map[queue.Path]queue.Rule{}
	for _, q := range s.Queues { // parents before children
		rules[q.Path] = q.Spec.Rule()
		if is := q.Starvation; is.GuaranteedDue != 0 || is.FairShareDue != 0 || is.Claiming {
			all[q.Path] = starved{q, rules[q.Path.Parent()]}
		}
	}
	return all
}

// helps says when preemption helps a pod of the queue, and why; false: it does not. A guarantee helps the pods that ask for what is lacking of it.
func (s *starved) helps(request resource.List) (reason.Reason, bool) {
	is, lacks := s.Starvation, s.lacks(request)
	fair, guaranteed := is.FairShareDue, is.GuaranteedDue
	switch {
	case guaranteed != 0 && (fair == 0 || guaranteed <= fair) && lacks.Below():
		return reason.Reason{
			Code: reason.BelowGuaranteed, Queue: string(s.Path), Resource: lacks.Resource, Used: lacks.Used, Asked: s.Demand.Get(lacks.Resource),
			Details: reason.Shortfall{Entitled: s.Spec.Guaranteed.Get(lacks.Resource), Since: is.BelowGuaranteedSince, Until: guaranteed, Declined: is.GuaranteedDeclined},
		}, true
	case fair != 0 || is.Claiming && guaranteed == 0:
		return reason.Reason{Code: reason.BelowFairShare, Queue: string(s.Path), Details: reason.Shortfall{
			Since: is.BelowFairShareSince, Until: fair, Declined: is.FairShareDeclined,
		}}, true
	}
	return reason.Reason{}, false
}

// lacks is the smallest part that the queue has of its guarantee, among the resources for which a pod asks.
func (s *starved) lacks(request resource.List) guarantee.Part {
	var asked []resource.Entry
	for i := range s.Spec.Guaranteed.Len() {
		if e := s.Spec.Guaranteed.At(i); request.Get(e.Name) > 0 {
			asked = append(asked, e)
		}
	}
	return guarantee.Smallest(s.rule, resource.OfSorted(asked), s.Demand, s.Allocated)
}

// preemptionText says what preemption does or will do for a pod that waits for room: the room that is being made for
// it, or when pods are preempted for its queue or the nearest starved queue above. It is "" if there is
// nothing to say.
func (p *Picture) preemptionText(a *Answer) string {
	if a.Verdict != Waiting && a.Verdict != Room && a.Verdict != Parked {
		return ""
	}
	if node := a.Pod.Nominated; node != "" {
		announced := 0
		for _, pod := range p.ledger.Pods() {
			if pod.Node == node && pod.Announced != 0 {
				announced++
			}
		}
		return reason.RoomIsMade(node, announced)
	}
	for path := a.Pod.Leaf; path != ""; path = path.Parent() {
		if s, ok := p.starved[path]; ok {
			if r, helps := s.helps(a.Pod.Request); helps {
				return r.Text()
			}
		}
	}
	return ""
}
