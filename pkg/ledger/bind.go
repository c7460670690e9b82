package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// The fields that change when a pod is bound, after it was released and reserved:
//
//   - record: its Pod and what it asks for (revise, which has called unask already), state and since (step), listedOn and places
//     (listOnNode), backlog (backlog.forget), class, which is nil from now on (classTable.move). assumedOn stays: Reserve set it.
//     nomination is nil since Reserve. inRequest (unask): it leaves its request and the list of unbound pods; access and submission are
//     nil from now on;
//   - account, of the application and every queue above: pending less 1, running plus 1 (countPods). usage and demand stay: they
//     count the pod since its release;
//   - account, of the application only: podCounts.Bound, BoundDrivers and BoundExecutors, and progress (tally). With that its state
//     may become Running (see core/application/progress.go), with what follows for the counts of states, the gate and its timers;
//   - node: pods and ours (nodeTable.count), on (listOnNode). used and assumed stay: they count the pod since Reserve. On a node that
//     is not usable, the cluster's total too (recount): it has what our pods use there;
//   - class: pods less 1. window: pods less 1, and the pod leaves reserved (moved). journal: one step more;
//   - its group is reviewed, which counts Taken, Bound and reserved again (group.count). It left the group and joined it again, so the
//     group looks for room again (wait.roomAt);
//   - its condition is due if it shows one (conditions), its node is marked as changed, and version grows: a copy or a snapshot is out of
//     date.
//
// A pod that was never charged here (bound by somebody else, or before this process began) is charged now: usage and demand count
// it from now on, and assumedOn is set, with used and assumed of the node. One that was, and that somebody else has bound, may move to another queue.

// noteBound records that the pod has a node.
func (l *consequences) noteBound(r *record, now int64) {
	l.unask(r)
	if r.state != Bound {
		l.changed(l.nodes.count(r, 1))
	}
	l.nodes.assume(r, l.nodes.get(r.Node))
	wasProbe := r.state == Parked
	if leaf := l.leafOfBound(r); r.state == Bound && leaf != r.leaf {
		l.applications.moveBegins() // a queue above both may be full with its application
		l.step(r, now, leaf, Bound, reason.Reason{})
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
// A pod that this scheduler charged stays where it is. One of an earlier process is charged to the queue that its binding names (Placed). If that queue
// is not in the tree, or has children, the pod is an orphan until the tree is rebuilt with it: as an undeclared queue, if nobody declares it.
//
// A pod that somebody else gave its node is charged to the queue that it asks for, or to the nearest one above that is in the tree, whether that has
// children or not: users choose what such a pod asks for, so it must not change the tree for others.
//
// A name that is no path means the root.
func (l *consequences) leafOfBound(r *record) *account {
	before := l.requests.isBoundByOthers(r)
	l.requests.noteBoundByOthers(r)
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
