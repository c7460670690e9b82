// Package preemption decides which queues are starved, what they are owed, and which pods are to go so that they get it.
//
// In: a World, which is a value, and a Feasibility, which answers what arithmetic does not know (taints, affinity, ports, volumes). Out: a
// Plan that lists every victim, for whom it goes, and why. The package evicts nothing, knows no clock and keeps no state: what becomes of a plan
// is the ledger's business. Rules: Fairway semantics 0.5; YARN FairScheduler (classic) for starvation, ProportionalCapacityPreemptionPolicy for
// the budget of a round.
package preemption
