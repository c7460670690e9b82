package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Recheck says whether a released or reserved pod may go on: the world may have moved since its release.
func (l *Ledger) Recheck(uid UID) (reason.Reason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recheck(l.pods[uid])
}

func (l *settled) recheck(r *record) (reason.Reason, bool) {
	l.settle()
	if r == nil || !r.state.inWindow() {
		return reason.Reason{Code: reason.WaitingTurn}, false
	}
	if !r.leaf.accepting {
		_, why := l.queues.resolve(r.leaf.path)
		return why, false
	}
	if why, blocked := r.mayNotSubmit(); blocked {
		return why, false
	}
	for a := r.leaf; a != nil; a = a.parent {
		if a.exceedsMax(none) {
			var others resource.Sum
			others.AddSum(&a.usage)
			others.Sub(r.Request)
			why, _ := a.maxWith(&others, r.Request)
			return why, false
		}
	}
	if why, large := r.tooLarge(r.leaf); large {
		return why, false
	}
	if r.app.waitsWithDriver(r.class) { // its driver was tried first, and did not get through
		driver := r.app.firstWaiting()
		return withDriver(driver, l.why(driver)), false
	}
	if why, over := l.shares.driverTooMany(r); over {
		return why, false
	}
	if why, over := l.userOver(r); over {
		return why, false
	}
	if why, over := r.startsTooMany(); over {
		return why, false
	}
	return reason.Reason{}, true
}

// Reserve confirms the charge of a pod that kube-scheduler found a node for, and takes its room there. It is the authority: what it refuses is not bound.
func (l *Ledger) Reserve(uid UID, node string, now int64) (reason.Reason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r != nil && r.state == Reserved {
		return reason.Reason{Code: reason.WaitingTurn}, false
	}
	why, ok := l.recheck(r)
	if !ok {
		return why, false
	}
	if r.preemptedItself() {
		r.class.ReserveByPriority()
	} else {
		r.class.Reserve(l.window.size)
	}
	r.backfills = r.backfills && r.assumedOn == l.nodes.get(node)
	l.nodes.assume(r, l.nodes.get(node)) // first: if it was nominated to another node, its room there is free for others when that ends
	l.step(r, now, r.leaf, Reserved, reason.Reason{})
	l.drain()
	return reason.Reason{}, true
}
