package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// What survives a restart is in API objects, and nowhere else. This is what a new process restores from them, and where:
//
//	PlacementPolicy: spec, inForce which queue a waiting pod asks for             settled.placeAgain; a created Queue is an object before a pod is in it
//	Pod: node                      the charge of a running pod                    consequences.noteBound
//	Pod: annotations of its        the queue to which it is charged;              consequences.ask (Pod.Placed)
//	binding                        its application, role and user                 placedIn, placedFor in pkg/kube/convert/placed.go
//	Pod: nominatedNodeName         the nomination of a waiting pod                settled.restoreNominations, moves.readNomination
//	Pod: DisruptionTarget          since when its eviction is announced           moves.addVictim, once a plan takes it again;
//	                               until then the announcement stays              rounds.judgesAnnouncements
//	Pod: Queued                    what it was last told                          Ledger.ObservePod (inherited), conditions.observed
//	Pod: PodScheduled              what its class shows, and that the pod         consequences.ask (backlog.observed)
//	                               shows it;
//	                               since when a running pod has its node          consequences.noteBound (Pod.Bound)
//	Pod: creation time             its place in its queue                         consequences.ask (Pod.Created)
//	Queue status: preemption       starvation clocks and open claims              queueTree.storedClocks, in the first look at the clocks
//	                               which of their events were sent                toldBefore in pkg/controllers/queuestatus
//	Queue status: starts           which applications have left Starting, and     settled.restoreStarts
//	                               how long the last starts took
//	Queue status: stoppedSince     since when the queue has been stopped          queueTree.stop
//	Queue status: policy in force  the last policy that could be used             queueTree.declare (Declaration.PolicyInForce)
//	Queue status: capacity and     how siblings shared that contradict each      queueTree.declare, queueTree.declarations
//	maxCapacity in force           other now                                     (Declaration.InForce)
//	PodGroup status                that the group was whole, and how many of      groupTable.declare, groupTable.join (PodGroup.Whole,
//	                               its pods succeeded                             PodGroup.Succeeded)
//
// pkg/kube/feed and pkg/kube/convert read these fields from the objects.
//
// The rest is forgotten: releases (such a pod waits again, or comes back with its node), tickets, back-offs, parked classes, node holds,
// victims (a new plan prefers those that are announced), which victims a disruption budget exempts, the eviction memory, the pauses of
// claims, answers about access, and how long a created queue has been empty. docs/adr/0005 says why that does no harm.
//
// Lead calls what cannot be restored from one object alone, once all objects are there.

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
