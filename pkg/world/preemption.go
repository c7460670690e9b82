package world

import (
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Starved is the queues below what they are entitled to, and the pods that are about to be evicted.
func (w *World) Starved() report.Starved {
	announced := w.Objects.Announced()
	if len(announced) == 0 {
		return report.NewStarved(w.Snapshot, nil)
	}
	var victims []report.AnnouncedVictim
	for _, p := range w.Pods() {
		if a := announced[string(p.UID)]; p.Announced != 0 {
			victims = append(victims, report.AnnouncedVictim{Pod: p, ForQueue: a.ForQueue, For: a.ForPod, Message: a.Message})
		}
	}
	return report.NewStarved(w.Snapshot, victims)
}

// Plan is what would be preempted now.
func (w *World) Plan() report.Plan {
	now := w.Now.UnixNano()
	var budgets []picture.Budget
	for _, b := range w.Objects.Budgets() {
		budget := picture.Budget{Allowed: b.Allowed}
		for _, uid := range b.Pods {
			budget.Pods = append(budget.Pods, ledger.UID(uid))
		}
		budgets = append(budgets, budget)
	}
	if w.answers != nil {
		w.answers.Prepare() // takes back what was rehearsed for earlier questions
	}
	return report.Plan{Preemption: picture.Preempt(w.ledger, now, budgets), Now: now}
}
