package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// What changes when a pod gets its node, after it was released and reserved here. Fields that only say that something is to be looked at
// again (version, effects, node.changes and so on) are left out.
//
//	of                   fields                                                        by
//	record of the pod    Pod: its newest object; asked: the queue of its binding       revise and ask (observe.go)
//	                     state: Bound; since                                           step (observe.go)
//	                     class, preference: nil                                        classTable.move (classes.go)
//	                     access, submission: nil; inRequest: none; backlog             unask (observe.go)
//	                     listedOn: the node; places: in which rosters it is            listOnNode (room.go), window.moved
//	application,         pending -1, running +1                                        countPods (set.go)
//	queues above
//	application          podCounts: Bound +1, and BoundDrivers or BoundExecutors       tally (gate.go)
//	                     progress: FirstBound, LastBound                               tally (gate.go)
//	                     state (Running, see core/application/progress.go), with it    startTimers.restate (gate.go)
//	                     the counts of states and the gate; the timer of its start
//	node                 pods +1, ours: its request added; on: has the pod             nodeTable.count (node_table.go), listOnNode
//	class                pods -1; the class goes with its last pod                     classTable.move (classes.go)
//	request              the queue that it asked for and the list of unbound pods      requests.remove (requests.go)
//	                     have it no more
//	window               pods -1; reserved does not have it any more                   window.moved (window.go)
//	pod group            Taken -1, Bound +1, reserved -1; Whole, with the last of      group.count (groups.go), makeWhole
//	                     the pods that it needs                                        (group_review.go)
//	journal              one entry more                                                step (observe.go)
//
// On a node that is not usable, the total of the cluster grows, too: it has what our pods use there (nodeTable.recount).
//
// These stay: usage, demand and drivers of the accounts (the pod counts there since its release), used and assumed of the node and
// assumedOn of the record (since Reserve), nomination (nil since Reserve), the ticket.
//
// A pod that was never charged here (bound by somebody else, or before this process began) is charged now: usage and demand count it from
// now on, and assumedOn is set, with used and assumed of the node. A pod that was released here and that somebody else has bound may be
// charged to another queue from now on: see leafOfBound.
//
// In the API, the binding sets spec.nodeName and the annotations fairway.dev/placed-... of the pod: see pkg/app/binding.go.

// noteBound records that the pod has a node.
func (l *consequences) noteBound(r *record, now int64) {
	l.unask(r)
	if r.state != Bound {
		l.changed(l.nodes.count(r, 1))
	}
	l.nodes.assume(r, l.nodes.get(r.Node))
	wasProbe := r.state == Parked
	if leaf := l.leafOfBound(r); r.state == Bound && leaf != r.leaf {
		moves := r.leaf != nil && leaf != nil
		l.applications.moveBegins() // a queue above both may be full with its application
		l.step(r, now, leaf, Bound, reason.Reason{})
		if moves {
			r.app.noteMoved()
		}
		l.settleApplications()
		l.applications.moveEnds()
		l.applications.roundLater()
	} else {
		l.step(r, now, leaf, Bound, reason.Reason{})
	}
	if wasProbe {
		r.wakeBehind()
	}
	l.classes.move(r, nil, &l.nodes)
}

// leafOfBound is the queue to which a bound pod is charged; nil: the one where the next tree puts it.
//
// A pod that this scheduler charged stays where it is, unless the leader has moved it. One of an earlier process is charged to the queue
// that its binding names (Placed). If that queue is not in the tree, or has children, the pod is an orphan until the tree is rebuilt with
// it: as an undeclared queue, if nobody declares it.
//
// A pod that somebody else gave its node is charged to the queue that it asks for, or to the nearest one above that is in the tree, whether that has
// children or not: users choose what such a pod asks for, so it must not change the tree for others.
//
// A name that is no path means the root.
func (l *consequences) leafOfBound(r *record) *queueAccount {
	before := l.requests.isBoundByOthers(r)
	l.requests.noteBoundByOthers(r)
	if to := l.movedTo(r); to != nil && !before {
		r.asked = to.path
		return to
	}
	switch {
	case r.state.charged() && (r.Placed != "" && !before || r.Placed == "" && l.queues.stale):
		return r.leaf
	case r.Placed == "" && l.queues.stale:
		return nil
	case r.Placed == "":
		return l.queues.nearest(r.asked)
	case r.asked == "":
		return l.queues.root
	}
	leaf := l.queues.accounts[r.asked]
	if leaf == nil || len(leaf.kids) > 0 && leaf != l.queues.root {
		l.requests.addOrphan(r)
		l.queues.noteOrphan()
		return nil
	}
	return leaf
}

// movedTo is the leaf to which the leader has moved a bound pod at the end of its reservation: the pod is charged in the queue of a reservation, and its
// annotation names the queue for other pods beside it. nil: it stays. Nothing else moves a charge, whatever the annotation says.
func (l *consequences) movedTo(r *record) *queueAccount {
	if r.state != Bound || r.leaf == nil || l.queues.reservedFor[r.leaf.path] == "" || queue.Path(r.Placed) != r.leaf.path.Parent().PlanDefault() {
		return nil
	}
	to := l.queues.accounts[queue.Path(r.Placed)]
	if to == nil || len(to.kids) > 0 {
		return nil
	}
	return to
}
