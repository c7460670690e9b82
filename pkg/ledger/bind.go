package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// What changes when a pod is bound, after it was released and reserved:
//
//   - of the pod: its state and since; it leaves its class, the pods that ask for a queue, and those that show Unschedulable; its nomination has ended
//     when it was reserved;
//   - of its application and the queues above: one pod less is pending, one more runs (countPods). Usage and demand stay: it was charged when it was
//     released. The application may start to run, and may leave Starting (see gate.go);
//   - of the node: the pod is counted and listed there. Its room was taken when it was reserved;
//   - the window has one pod less, and its group is reviewed.
//
// A pod that somebody else bound is charged now, as a release would.

// bind records that the pod has a node. Its charge stays where it is; a pod that was never charged here (bound by somebody else,
// or before a restart) is charged to the queue it names, which enters the tree as a ghost if nobody declares it.
func (l *Ledger) bind(r *record, now int64) {
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
			l.requests.orphans[r.UID] = r
			l.queues.stale = true
			leaf = nil
		}
	}
	l.step(r, now, leaf, Bound, reason.Reason{})
	if wasProbe {
		r.wakeBehind()
	}
	l.classes.move(r, nil, &l.nodes)
}
