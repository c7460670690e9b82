// Package preemption decides which queues are starved, what they are owed, and which pods are evicted so that they get it.
//
// In: a World, which is a value, and a Feasibility, which answers what arithmetic does not know (taints, affinity, ports, volumes). Out: a
// Plan that lists every victim, for which claimant it is evicted, and why. The package evicts nothing, reads no clock and keeps no state:
// the ledger carries out plans.
//
// Make (plan.go) pays the claims one after the other, in a picture of the cluster that follows what the plan has decided so far
// (picture.go). For each unit it tries first to take only from those that should pay first (reach.go, assign.go). For each claimant it
// looks at every node for the cheapest victims there (options.go, cover.go, under_max.go, conflict.go), within the rules (victim.go,
// budget.go, target.go; covered.go where guarantees are too much), the preferred first (ranks.go, applications.go). When a claim is paid,
// it looks for fewer victims for all of its claimants together (joint_search.go). When all are paid, it drops the victims that are not
// needed any more (unneeded.go), and writes the plan down (write.go).
//
// Rules: Fairway semantics 0.5; YARN FairScheduler (classic) for starvation, ProportionalCapacityPreemptionPolicy for
// the budget of a round.
package preemption
