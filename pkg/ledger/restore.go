package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// What survives a restart is in API objects, and nowhere else. This is what a new process reads back from them, and where the ledger does
// so. pkg/kube/feed and pkg/kube/convert turn the fields of the objects into the values that it gets.
//
//	object and field               what it tells                                   read back by
//	Pod: node                      that the pod is charged                         noteBound (bind.go)
//	Pod: annotations               to which queue it is charged (Pod.Placed),      ask (observe.go), leafOfBound (bind.go);
//	fairway.dev/placed-...         as which application and role, for which user   pkg/kube/convert/placed.go
//	Pod: creation time             its place in its queue                          ask (observe.go)
//	Pod: nominatedNodeName         the nomination of a waiting pod                 restoreNominations (here)
//	Pod: DisruptionTarget          since when its eviction has been announced      addVictim (adopt.go), when a plan takes the pod again.
//	                                                                               Until then the announcement stays
//	                                                                               (judgesAnnouncements, rounds.go)
//	Pod: Queued                    what users were told about it last              ObservePod (observe.go), observed (conditions.go)
//	Pod: PodScheduled              that it shows Unschedulable, and why            observed (backlog.go)
//	                               since when a running pod has had its node       tally (gate.go)
//	Queue status: preemption       starvation clocks and open claims               storedClocks (here), at the first look at the clocks
//	                               which events about them were sent               toldBefore (pkg/controllers/queuestatus/starvation.go)
//	Queue status: starts           which applications have left Starting, and      restoreStarts (here)
//	                               how long the last starts took
//	Queue status: stoppedSince     since when the queue has been stopped           queueTree.stop (stopped.go)
//	Queue status: policy           the last policy that could be used              queueTree.declare (queue_tree.go)
//	Queue status: capacity,        how siblings shared when they last agreed       queueTree.declare (queue_tree.go)
//	maxCapacity
//	PodGroup status                that the group was whole, and how many of its   groupTable.declare and join (groups.go)
//	                               pods have succeeded
//	PlacementPolicy: spec, and     for which queue a waiting pod asks              placeAgain (placements.go). A queue that placement creates
//	inForce of its status                                                          is an object before a pod is in it
//
// All else is forgotten: releases (such a pod waits again, or comes back with its node), tickets, back-offs, parked classes, node holds (the
// statuses of queues show them to readers: shown_holds.go), victims (a new plan prefers those that are announced), which victims a disruption
// budget exempts, the eviction memory, the pauses of claims, missed opportunities (delays.go), answers about access, and how long a created
// queue has been empty.
// docs/adr/0005-what-survives-a-restart.md says why that does no harm.
//
// What no object tells alone is read back by Lead, once all objects have been observed.

// restoreStarts takes from the statuses of queues what no pod tells of the starts of applications.
func (l *settled) restoreStarts() {
	for _, p := range sortedKeys(l.queues.accounts) {
		leaf, memory := l.queues.accounts[p], l.queues.declared[p].Memory
		if !leaf.gated {
			continue
		}
		leaf.startDurations = slices.Clone(memory.Starts[max(0, len(memory.Starts)-application.RememberedStarts):])
		for _, name := range memory.Started {
			if app := leaf.apps[name]; app != nil && app.podCounts.Holding > 0 {
				l.markStarted(app)
			}
		}
		for _, app := range leaf.starting {
			l.startTimers.time(app)
		}
	}
	l.endStarts(l.now)
}

// restoreNominations nominates waiting pods to the nodes that their statuses name.
func (l *settled) restoreNominations() {
	for _, r := range slices.Clone(l.requests.unbound) { // each for itself: order does not matter
		l.readNomination(r)
	}
}

// storedClocks are the clocks of a queue as its status has them.
func (t *queueTree) storedClocks(p queue.Path) (stored [len(kinds)]preemption.ClockMemory) {
	m := t.declared[p].Memory
	stored[preemption.BelowGuaranteed] = preemption.ClockMemory{Since: m.BelowGuaranteedSince, Due: m.GuaranteedDue}
	stored[preemption.BelowFairShare] = preemption.ClockMemory{Since: m.BelowFairShareSince, Due: m.FairShareDue, Claims: m.ClaimsFairShare}
	return stored
}
