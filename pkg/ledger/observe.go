package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// ObservePod takes in the newest state of a pod. Seeing the same state again changes nothing.
func (l *Ledger) ObservePod(p Pod, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observe(p, now)
}

func (l *consequences) observe(p Pod, now int64) {
	l.now = now
	if p.Foreign {
		l.forget(p.UID)
		l.changed(l.nodes.observeForeign(p))
		l.drain()
		return
	}
	p.PreferredNodes, p.PreferredRacks = l.delays.known(p)
	r, replaces := l.pods[p.UID], false
	if r == nil {
		r = &record{Pod: p, state: Gone, since: now, inApp: notIn, inBackOffs: notIn, inRequest: notIn, lastCondition: p.Shown, inherited: p.Shown != ""}
		l.pods[p.UID] = r
		l.groups.join(r, l.leading)
		l.ask(r)
		l.evictions.readAnnouncement(r)
		replaces = l.evictions.memory.arrives(r)
		if p.UnreadPriority != "" {
			l.conditions.due(r)
		}
	} else {
		if p.Terminating && !r.Terminating {
			l.evictions.podLeaves(r, l.now)
		}
		before := r.group
		l.readStatus(r, p)
		if !l.revise(r, r.asCharged(p)) && r.state != Gone {
			return
		}
		if before != r.group {
			l.effects.reviewLater(before)
		}
	}
	switch {
	case p.Node != "":
		l.noteBound(r, now)
	case p.Terminating:
		if r.state == Parked {
			l.window.wake(r) // a finalizer may hold it for long, and kube-scheduler would keep it meanwhile
		}
		l.step(r, now, nil, Gone, reason.Reason{})
		r.wakeBehind()
		r.clearLastFailed()
		l.unask(r)
	case r.state == Parked:
		l.rejudgeParked(r)
	case r.state == Gone || r.state == Waiting:
		l.wait(r, now)
	}
	l.revised(r)
	l.drain()
	if replaces {
		r.leaf.noteEviction(now)
	}
	l.readNomination(r)
}

// revised ends a revision: what the pod has left is brought up to date.
func (l *consequences) revised(r *record) {
	l.effects.settleLater(r.formerApp)
	r.formerApp = nil
	l.effects.reviewLater(r.group)
}

// readStatus takes in what the status of a pod says beside its binding, which revise does not look at.
func (l *consequences) readStatus(r *record, p Pod) {
	l.conditions.observed(r, p.Shown)
	if r.UnreadPriority != p.UnreadPriority {
		r.UnreadPriority = p.UnreadPriority
		l.conditions.due(r)
	}
	if p.Nominated == r.madeRoom {
		r.madeRoom = ""
	}
	if r.Nominated != p.Nominated && r.madeRoom == "" { // else the status is from before its MadeRoom
		r.Nominated = p.Nominated
		l.readNomination(r)
	}
	if r.Announced != p.Announced {
		r.Announced = p.Announced
		l.evictions.readAnnouncement(r)
	}
	if r.Unschedulable != p.Unschedulable {
		r.Unschedulable = p.Unschedulable
		l.backlog.observed(r)
	}
}

// rejudgeParked has a parked pod taken out of kube-scheduler's queue, since it or the tree changed. Meanwhile it counts where it would wait,
// so that its application keeps its slot, or as blocked if a rule blocks it there.
func (l *consequences) rejudgeParked(r *record) {
	leaf := l.requests.byQueue[r.asked].leaf
	var blockedBy reason.Reason
	if leaf != nil {
		if why := l.blockIn(r, leaf, l.now); why.Code != reason.BackOff {
			blockedBy = why
		}
	}
	l.set(r, leaf, Parked, blockedBy)
	l.effects.reviewLater(r.group)
	l.window.wake(r)
}

// ForgetPod takes a pod that no longer exists, or has ended, off the books.
func (l *Ledger) ForgetPod(uid UID, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	if r := l.pods[uid]; r != nil && l.leading && r.state == Bound && !r.Terminating {
		l.conditions.ended(r) // the watch leaves out ended pods, and shows what they were before
	}
	l.changed(l.nodes.forgetForeign(uid))
	l.forget(uid)
	l.drain()
}

func (l *consequences) forget(uid UID) {
	r := l.pods[uid]
	if r == nil {
		return
	}
	if !r.Terminating {
		l.evictions.podLeaves(r, l.now)
	}
	if r.state == Bound {
		l.changed(l.nodes.count(r, -1))
		l.nominations.podLeaves(r)
	} else {
		r.clearLastFailed()
	}
	l.step(r, l.now, nil, Gone, reason.Reason{})
	r.wakeBehind()
	l.unask(r)
	l.classes.move(r, nil, &l.nodes)
	delete(l.pods, uid)
	l.requests.forgetBound(uid)
	g := r.group
	r.quit()
	l.effects.reviewLater(g)
}

// revise replaces what is known of the pod; false: nothing that counts changed. If the pod is charged, the amount follows its new request,
// but the charge stays in its queue, whatever the label says now. If it is not charged, the caller enters it again. Then the caller calls
// revised.
func (l *consequences) revise(r *record, p Pod) bool {
	if r.Pod.equal(p) {
		return false
	}
	leaf, s, blockedBy, assumedOn := r.leaf, r.state, r.blockedBy, r.assumedOn
	if !p.Request.Equal(r.Request) || p.Class != r.Class {
		l.endNomination(r)
	}
	r.formerApp = r.app
	l.nodes.assume(r, nil)
	l.set(r, nil, s, blockedBy) // off every account, with the old values
	if r.Node != "" {
		l.changed(l.nodes.count(r, -1))
	}
	l.unask(r)
	r.quit()
	r.Pod = p
	l.groups.join(r, l.leading)
	l.ask(r)
	if s == Bound {
		l.changed(l.nodes.count(r, 1))
	}
	if s.charged() { // the caller enters the others again
		l.set(r, leaf, s, blockedBy)
	}
	if assumedOn != nil {
		l.nodes.assume(r, l.nodes.get(assumedOn.Name)) // by name: the old entry of an unknown node left with its last pod
	}
	return true
}

func (p Pod) equal(o Pod) bool {
	return p.Request.Equal(o.Request) && p.asksForAs(o) && p.Placed == o.Placed && p.Application == o.Application && p.Role == o.Role &&
		p.Class == o.Class && p.priority() == o.priority() && p.Node == o.Node && p.Terminating == o.Terminating && p.Gate == o.Gate &&
		p.Created == o.Created && p.Foreign == o.Foreign && p.Single == o.Single && p.PodGroup == o.PodGroup &&
		p.Bound == o.Bound && p.Deadline == o.Deadline && p.prefersAs(o)
}

func sameReservation(a, b *reason.Reason) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// asksForAs reports whether two pods ask for the same queue, in the same name.
func (p Pod) asksForAs(o Pod) bool {
	return p.Queue == o.Queue && sameReservation(p.Reservation, o.Reservation) && p.User == o.User && p.Submitter == o.Submitter &&
		slices.Equal(p.Groups, o.Groups)
}

// prefersAs reports whether two pods would rather run on the same nodes.
func (p Pod) prefersAs(o Pod) bool {
	return p.PreferredNodes == o.PreferredNodes && p.PreferredRacks == o.PreferredRacks
}

// ask registers the pod under the queue it asks for, and joins its class, while it is unbound.
func (l *consequences) ask(r *record) {
	if r.state == Bound && !l.requests.isBoundByOthers(r) {
		return // what it asks for now does not move its charge, also while the tree still makes place for it
	}
	if r.Node != "" {
		r.asked, _ = queue.ParseRequest(cmp.Or(r.Placed, r.Queue))
		return // noteBound takes it out of its class, once it has left the order book
	}
	l.placements.join(r)
	r.asked = r.verdictFor().asked
	l.classes.move(r, l.classes.of(r), &l.nodes)
	r.Request = r.class.request // equal, and one copy for all of the class
	l.access.join(r)
	q, first := l.requests.add(r)
	if first {
		q.answer(l.queues.resolve(r.asked))
		q.eldest = l.queues.eldestChild(r.asked)
	}
	if r.access != nil && l.queues.mayBeClaimed(r) {
		l.access.claimed()
	}
	l.backlog.observed(r)
	l.queues.guard(r.asked, &l.requests)
}

func (l *consequences) unask(r *record) {
	if l.requests.remove(r) {
		l.access.quit(r)
		l.placements.quit(r)
		l.backlog.forget(r)
		l.queues.guard(r.asked, &l.requests)
	}
}

// wait enters an unbound pod where it asks to be, with the rule that blocks it there, if one does.
func (l *consequences) wait(r *record, now int64) {
	a := l.requests.byQueue[r.asked]
	blockedBy := a.blockedBy
	if blockedBy.Code != "" || r.asked == "" {
		v := r.verdictFor()
		blockedBy = v.blocks(blockedBy)
		if why, blocked := r.mayNotSubmit(); blocked && (blockedBy.Code == reason.CreatingQueue || r.refused() && l.queues.mayBeClaimed(r)) {
			blockedBy = why // nothing is created for it, and no queue stays without children for it
		}
	}
	if owner := l.queues.reservedFor[r.asked]; owner != "" && r.Reservation == nil {
		blockedBy = reason.Reason{Code: reason.QueueReserved, Queue: string(r.asked), Details: reason.Reserved{Name: owner}}
	}
	if blockedBy.Code != "" {
		l.step(r, now, nil, Waiting, blockedBy)
		return
	}
	l.step(r, now, a.leaf, Waiting, l.blockIn(r, a.leaf, now))
}

// blockIn returns what blocks a pod in its leaf, nothing if it may be released.
func (l *consequences) blockIn(r *record, leaf *queueAccount, now int64) reason.Reason {
	if why, blocked := r.mayNotSubmit(); blocked {
		return why
	}
	if why, large := r.tooLarge(leaf); large {
		return why
	}
	if r.Gate != "" {
		return reason.Reason{Code: reason.SchedulingGate, Queue: string(r.asked), Details: reason.Gate{Plugin: r.Gate}}
	}
	if why := r.group.blocks(r, l.now); why.Code != "" {
		return why
	}
	if why, stuck := r.stuckDriver(leaf); stuck {
		return why
	}
	if why, ok := l.applications.slot(r, leaf); !ok {
		return why
	}
	if r.retryAt > now {
		why := reason.Reason{Code: reason.BackOff, Queue: string(r.asked)}
		if r.group.startsTogether() && r.group.attempts > 0 {
			why.PodGroup = r.group.Key
		}
		return why
	}
	return reason.Reason{}
}

// step is set with the time and the journal.
func (l *moves) step(r *record, now int64, leaf *queueAccount, s State, blockedBy reason.Reason) {
	if r.state == s && r.leaf == leaf && (r.blockedBy == blockedBy || r.blockedByAppLimit() && sameLimit(r.blockedBy, blockedBy)) {
		return
	}
	if r.state != s {
		r.since = now
		l.journal.add(r, s, leaf)
	}
	l.set(r, leaf, s, blockedBy)
	l.effects.reviewLater(r.group)
}
