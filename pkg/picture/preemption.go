package picture

import (
	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Budget is a disruption budget: the pods that it covers, and how many more of them may go.
type Budget struct {
	Pods    []ledger.UID
	Allowed int
}

// Preemption is what would be taken now, and from what it was planned.
type Preemption struct {
	World preemption.World
	Plan  preemption.Plan
	// Faults are what a check of the plan finds wrong with it: the scheduler carries out none that has any.
	Faults []string
	// Pods are those that the plan names, by UID.
	Pods map[string]ledger.PodState
}

// Preempt plans on a ledger that nobody else uses, as if the timeouts of all queues that are below had passed. Pods that are leaving are gone;
// those that are only announced are taken before their equals, so that a plan that is being carried out is shown again.
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

// withBudgets adds budgets, of which the ledger knows nothing, to what it knows.
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

// Budgets returns the budgets of a pod, by their places in the order given.
func (w withBudgets) Budgets(uid string) []int { return w.of[uid] }

// Allowed is what a budget allows before the plan.
func (w withBudgets) Allowed(budget int) int { return w.allowed[budget] }

// starvedQueues says of each queue for which others give back, now or when a timeout has passed, what it is below and when that is.
func starvedQueues(s ledger.Snapshot) map[queue.Path]reason.Reason {
	all := map[queue.Path]reason.Reason{}
	for _, q := range s.Queues {
		is := q.Starvation
		switch fair := is.FairShareDue; {
		case is.GuaranteedDue != 0 && (fair == 0 || is.GuaranteedDue <= fair):
			all[q.Path] = reason.Reason{Code: reason.BelowGuaranteed, Queue: string(q.Path), Numbers: reason.Shortfall{
				Since: is.BelowGuaranteedSince, Until: is.GuaranteedDue,
			}}
		case fair != 0 || is.Claiming:
			all[q.Path] = reason.Reason{Code: reason.BelowFairShare, Queue: string(q.Path), Numbers: reason.Shortfall{
				Since: is.BelowFairShareSince, Until: fair,
			}}
		}
	}
	return all
}

// relief says what preemption does for a pod that waits for room, or will do: the room that is being made for it, or when others give back what
// its queue, or the next one above it that is starved, is owed. It is "" where there is nothing to say.
func (p *Picture) relief(a *Answer) string {
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
		if r, ok := p.starved[path]; ok {
			return r.Text()
		}
	}
	return ""
}
