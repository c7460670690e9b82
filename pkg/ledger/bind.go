package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// The fields that change when a pod is bound, after it was released and reserved:
//
//   - record: its Pod and what it asks for (revise, which has called unask already), state and since (step), listedOn and onNode
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
// it from now on, and assumedOn is set, with used and assumed of the node.

// noteBound records that the pod has a node. A pod that is charged stays where it is. Another one is charged to the queue that its
// binding names (Placed), else to the queue that it asks for. A name that is no path means the root. If the queue is not in the
// tree, or has children, the pod is an orphan until the tree is rebuilt with it: as an undeclared queue, if nobody declares it.
func (l *consequences) noteBound(r *record, now int64) {
	l.unask(r)
	if r.state != Bound {
		l.changed(l.nodes.count(r, 1))
	}
	l.nodes.assume(r, l.nodes.get(r.Node))
	wasProbe := r.state == Parked
	leaf := r.leaf
	if !r.state.charged() {
		leaf = l.queues.accounts[r.asked]
		if r.asked == "" {
			leaf = l.queues.root
		}
		if leaf == nil || len(leaf.kids) > 0 && leaf != l.queues.root {
			l.requests.addOrphan(r)
			l.queues.noteOrphan()
			leaf = nil
		}
	}
	l.step(r, now, leaf, Bound, reason.Reason{})
	if wasProbe {
		r.wakeBehind()
	}
	l.classes.move(r, nil, &l.nodes)
}
