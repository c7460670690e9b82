package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Starvation is since when a queue has been below what it is entitled to, and when something is done about it. Times are unix nanoseconds,
// 0 for never or not at all.
type Starvation struct {
	BelowFairShareSince, BelowGuaranteedSince int64
	// FairShareDue and GuaranteedDue are when the timeouts pass.
	FairShareDue, GuaranteedDue int64
	// Claiming: a claim is open.
	Claiming bool
	// Owed is what the open claim still lacks.
	Owed resource.List
}

// VictimPhase is how far the eviction of a victim has come.
type VictimPhase uint8

const (
	// Chosen: nobody was told yet.
	Chosen VictimPhase = iota
	// Announced: the pod shows it, and the wait runs.
	Announced
	// Evicting: the API server was asked, and has agreed.
	Evicting
)

// Victim is a pod that is to go so that another has room.
type Victim struct {
	UID                   UID
	Namespace, Name, Node string
	Queue                 queue.Path // of its leaf
	// ForQueue is the queue whose claim it is, with its share; ForPod the pod that needs the room.
	ForQueue     queue.Path
	ForUID       UID
	ForNamespace string
	ForName      string
	Kind         preemption.Kind
	// Above is the queue it is taken from, and Surplus what that queue had above its fair share, of Resource.
	Above    queue.Path
	Resource resource.Name
	Surplus  int64
	Share    int64 // the fair share of Above, of Resource

	Phase       VictimPhase
	AnnouncedAt int64
	Due         int64 // when it is to be evicted
	Attempts    int   // to evict it, that failed
}

// Nomination is a node to be written into the status of a pod, or taken out of it where Node is "".
type Nomination struct {
	UID             UID
	Namespace, Name string
	Node            string
}

// Errands are what the cluster is to be told. What is not reported back as done comes again.
type Errands struct {
	Announce []Victim // show that they are to go, and report Announced
	Evict    []Victim // due, and still needed as of now; report Evicted or EvictionFailed
	Withdraw []Victim // show that they stay after all, and report Withdrawn
	Nominate []Nomination
	// Next is when there is more to do at the latest, unless something changes; 0: never.
	Next int64
}

// LookAtStarvation brings the clocks of starvation up to date and opens and closes claims. due: a round of preemption may have something to do. next
// is when time alone makes that so; 0: never. It is to be called at least once a second.
func (l *Ledger) LookAtStarvation(now int64) (due bool, next int64) { return false, 0 }

// Preemption returns what a plan is made from; false: there is no claim for which one is due.
func (l *Ledger) Preemption(now int64) (preemption.World, bool) { return preemption.World{}, false }

// WhatPreemption is Preemption whatever was done already, for those who ask what would be: every claim that is open is among its claims.
func (l *Ledger) WhatPreemption(now int64) preemption.World { return preemption.World{} }

// Adopt makes a plan the plan: its claimants have their places kept, its victims are to be announced. It returns how many places it did not take
// since the world has moved on. Where the root says observe only, nothing is to be carried out.
func (l *Ledger) Adopt(w preemption.World, p preemption.Plan, now int64) (stale int) { return 0 }

// Errands returns what is to be done by now.
func (l *Ledger) Errands(now int64) Errands { return Errands{} }

// Announced notes that a victim shows that it is to go. The wait begins.
func (l *Ledger) Announced(uid UID, now int64) {}

// Evicted notes that the API server agreed to evict a victim.
func (l *Ledger) Evicted(uid UID, now int64) {}

// EvictionFailed notes that it did not; it is tried again after a back-off as long as the victim is needed. refused: a disruption budget forbids it.
func (l *Ledger) EvictionFailed(uid UID, refused bool, now int64) {}

// Withdrawn notes that a pod does not show any more that it is to go.
func (l *Ledger) Withdrawn(uid UID) {}

// Nominated notes that a nomination was written.
func (l *Ledger) Nominated(n Nomination) {}

// Victims returns the victims of the plans that are being carried out, in the order in which they were chosen.
func (l *Ledger) Victims() []Victim { return nil }

// KeptFrom returns the nodes on which a pod finds no room since what is free there is kept for claimants; nil, mostly: there are none.
func (l *Ledger) KeptFrom(uid UID) map[string]bool { return nil }

// Feasibility judges by what the ledger knows: taints, selectors and node affinity through Pod.Eligible, nothing that needs other pods.
func (l *Ledger) Feasibility(w preemption.World) preemption.Feasibility { return nil }

// PreemptionCounts are counters since the start.
type PreemptionCounts struct {
	Claims, Chosen, Announced, Evicted, Failed, Refused, Withdrawn, Stale uint64
}

// PreemptionCounts returns the counters.
func (l *Ledger) PreemptionCounts() PreemptionCounts { return PreemptionCounts{} }
