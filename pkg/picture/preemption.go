package picture

import (
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
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
	// Pods are those that the plan names, by UID.
	Pods map[string]ledger.PodState
}

// Preempt plans on a ledger that nobody else uses, as if the timeouts of all queues that are below had passed. What is on its way already is
// accounted for: pods that are leaving, and pods that have a node nominated.
func Preempt(l *ledger.Ledger, now int64, budgets []Budget) Preemption {
	w := l.WhatPreemption(now)
	p := Preemption{World: w, Plan: preemption.Make(w, budgeted(l.Feasibility(w), budgets)), Pods: map[string]ledger.PodState{}}
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
