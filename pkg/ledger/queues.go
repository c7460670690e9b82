package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// ObserveQueue takes in a Queue as declared. The tree follows at the next step.
func (l *Ledger) ObserveQueue(d queue.Declaration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed(l.queues.declare(d, l.leading))
}

// ObserveBadQueue takes in a Queue that cannot be read, with the sentence that says why. What was last declared stays in force.
func (l *Ledger) ObserveBadQueue(p queue.Path, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed(l.queues.markUnreadable(p, why))
}

// ForgetQueue takes a deleted Queue out. While pods are charged to it, it stays in the tree, and takes no new ones.
func (l *Ledger) ForgetQueue(p queue.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed(l.queues.forget(p))
}

// RetireQueue takes in that a Queue which cannot be read is being deleted. What was last declared counts on for the pods that are charged
// to it, but it takes no new ones.
func (l *Ledger) RetireQueue(p queue.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed(l.queues.retire(p))
}

func (l *moves) changed(something bool) {
	if something {
		l.version++
	}
}

// rebuildTree builds the tree, and moves pods to where it puts them now.
func (l *settled) rebuildTree() {
	gone, regated := l.queues.rebuild(&l.requests, l.shares.total, moment{l.now, l.leading})
	l.startTimers.gatesChanged(regated)
	l.applications.limitUsers(l.queues.root.spec.MaxRunningApplicationsPerUser)
	for _, app := range l.applications.limitPriorities() {
		l.effects.settleLater(app)
	}
	l.applications.moveBegins()
	l.queues.noteParents(&l.requests)
	for _, leaf := range l.queues.takeStopped() {
		for _, name := range sortedKeys(leaf.apps) {
			l.effects.settleLater(leaf.apps[name])
		}
	}
	for _, r := range l.applications.takeBackTooMany() {
		l.judge(r)
	}
	l.answerRequests()
	l.chargeOrphans()
	l.moveBoundByOthers()
	l.settleApplications() // while the queues that are gone still have their accounts
	l.applications.moveEnds()
	l.queues.noteForced()
	l.queues.drop(gone)
}

// answerRequests judges again the waiting pods of every queue about which the tree has changed its mind.
func (l *settled) answerRequests() {
	for _, p := range sortedKeys(l.requests.byQueue) {
		q := l.requests.byQueue[p]
		eldest := l.queues.eldestChild(p)
		if changed := q.answer(l.queues.resolve(p)); !changed && eldest == q.eldest {
			continue
		}
		q.eldest = eldest
		for _, e := range q.pods {
			l.judge(e.record)
		}
	}
}

// chargeOrphans charges bound pods to queues that entered the tree for their sake.
func (l *settled) chargeOrphans() {
	for _, uid := range sortedKeys(l.requests.orphans) {
		r := l.requests.orphans[uid]
		l.set(r, l.queues.accounts[r.asked], Bound, reason.Reason{})
		l.effects.reviewLater(r.group)
		l.requests.removeOrphan(uid)
	}
}

// moveBoundByOthers charges the pods that somebody else has bound where the tree has a place for them now: see leafOfBound.
func (l *settled) moveBoundByOthers() {
	var move []*record
	for _, r := range l.requests.boundByOthers { // sorted below
		if r.leaf != l.queues.nearest(r.asked) {
			move = append(move, r)
		}
	}
	slices.SortFunc(move, func(a, b *record) int { return cmp.Compare(a.UID, b.UID) })
	var fromOthers []*record // that have been charged to another queue
	for _, r := range move {
		if r.leaf != nil {
			fromOthers = append(fromOthers, r)
		}
		l.set(r, l.queues.nearest(r.asked), Bound, reason.Reason{})
		l.effects.reviewLater(r.group)
		if r.victim != nil {
			r.victim.Queue = r.leaf.path
		}
	}
	for _, r := range fromOthers { // once all are there: what an application shows follows from all of its pods
		r.app.noteMoved()
	}
}
