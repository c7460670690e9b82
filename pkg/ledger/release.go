package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Release is a decision: this pod goes to kube-scheduler next.
type Release struct {
	UID    UID
	Ticket uint64
	Queue  queue.Path
	// Created is the creation of the pod; First: it was never released before.
	Created int64
	First   bool
}

// Choose picks the next pod in fair order, charges it and stamps its ticket. False: nothing may be released now; the next
// observation, failure, reservation or NextRetry may change that. A standby (see Lead) releases nothing.
func (l *Ledger) Choose(now int64) (Release, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	if !l.leading {
		return Release{}, false
	}
	l.settleAll()
	l.expire(now)
	if c, ok := l.groupRelease.takeNext(l.pods); ok { // also beyond the window: a part of a group is of no use
		return c, true
	}
	if l.window.full() {
		return Release{}, false
	}
	r := l.next(now)
	if r == nil {
		return Release{}, false
	}
	if r.state == Released { // the first of its group
		l.drain()
		return r.released(), true
	}
	assumedOn := r.class.fitNode
	if p := r.nominatedNode(); p != nil && l.nodes.roomIsThere(r) {
		assumedOn = p
	}
	c := l.charge(r, now)
	l.nodes.assume(r, assumedOn)
	l.drain()
	return c, true
}

// charge charges a pod and stamps its ticket.
func (l *Ledger) charge(r *record, now int64) Release {
	l.window.stamp(r)
	r.alone = r.leaf.driverPods == 0
	l.step(r, now, r.leaf, Released, reason.Reason{})
	r.class.Release(now)
	return r.released()
}

func (r *record) released() Release {
	return Release{UID: r.UID, Ticket: r.ticket, Queue: r.leaf.path, Created: r.Created, First: !r.again}
}

// next walks from the root to a leaf, to an application, to its pod: at each step to the competitor that the parent's policy puts
// first among those below which a class may be released.
func (l *Ledger) next(now int64) *record {
	l.recheckDrivers()
	// Only the class whose turn it is looks for room: there may be thousands, and most of them come later.
	l.walk.begin(func(c *class) bool { return c.MayRelease(now) && l.mayHaveRoom(c, now) })
	root, open := l.queues.root, l.lanesOf(l.queues.root)
	l.nodeHolds.Walk()
	if r := l.nextNominated(now); r != nil {
		return r
	}
	if r, wait := l.firstToRetry(now); r != nil || wait {
		return r
	}
	if r := l.completePartial(now); r != nil {
		return r
	}
	r := l.walk.next(root, open)
	for ; r != nil; r = l.walk.next(root, open) {
		if r.class.group.open() {
			if starting := l.groupRelease.starting; starting != nil && starting != r.group {
				r = nil // its turn is next, and comes when the other group has its places
				break
			}
			if first := l.releaseGroup(r.group, now); first != nil {
				l.refreshStale()
				return first
			}
		} else if under := l.nominations.exceedMax(r); under != nil {
			l.walk.block(r.class, under)
			continue
		} else if l.mayTry(r.class, now) && (r.nomination == nil || r.class.fitNode != nil) { // one whose room is being made is no probe
			break
		}
		l.walk.leaveOut(r.class)
	}
	l.refreshStale()
	// The order's next pod waits for what becomes of the released ones of its class. Stepping past it to another class would
	// trade the exact order for a few milliseconds.
	if r == nil || r.class.Full() {
		l.holdForNext(now)
		return nil
	}
	return r
}

// refreshStale looks again at a leaf that promised the walk a driver which its share does not allow any more.
func (l *Ledger) refreshStale() {
	if leaf := l.walk.takeStale(); leaf != nil {
		l.refresh(leaf)
	}
}

// expire lets the pods go whose back-off is over.
func (l *Ledger) expire(now int64) {
	l.endStarts(now)
	l.endHoldInTime(now)
	for r := l.backOffs.over(now); r != nil; r = l.backOffs.over(now) {
		r.retryAt = 0
		l.wait(r, now)
		l.drain()
	}
}

// NextRetry is the earliest time at which waiting alone can make something releasable; false: never.
func (l *Ledger) NextRetry(now int64) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var at int64
	soonest := func(t int64) {
		if t > now && (at == 0 || t < at) {
			at = t
		}
	}
	soonest(l.nodeHolds.NextChange())
	if len(l.groupRelease.toReject) > 0 {
		soonest(now + rejectAgain)
	}
	if len(l.starts.timers) > 0 {
		soonest(max(l.starts.timers[0].until, now+1))
	}
	if len(l.backOffs) > 0 {
		soonest(max(l.backOffs[0].retryAt, now+1))
	}
	for _, c := range l.classes.queued {
		soonest(c.NextTry(c.fitNode != nil, now))
	}
	return at, at != 0
}

// Admitted tells PreEnqueue whether the pod may be in kube-scheduler's queue. kube-scheduler asks about a parked pod when one of its queueing hints
// says that an event (a pod that ended, a node that changed) may have made room for it. That is noted for TakeWoken, which opens the class for one
// pod: the order decides which pod gets the room, not the probe.
func (l *Ledger) Admitted(uid UID) (admitted, woken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil {
		return false, false
	}
	if r.state == Parked {
		l.window.wake(r)
		return false, true
	}
	return r.state == Released, false
}

// TakeWoken reopens the classes of the parked pods that were woken and returns those pods, now Waiting, and those that were parked and
// are being deleted: they must be taken out of kube-scheduler's queue before the next Choose.
func (l *Ledger) TakeWoken(now int64) []UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	l.settle() // a new tree may move parked pods, and that wakes them
	woken, out := l.window.takeWoken(), l.groupRelease.takeRecalled()
	if len(woken)+len(out) == 0 {
		return nil
	}
	for _, uid := range woken {
		switch r := l.pods[uid]; {
		case r == nil:
			continue
		case r.state == Parked:
			r.wakeBehind()
			l.wait(r, now)
			l.drain()
		case r.state != Gone:
			continue
		}
		out = append(out, uid)
	}
	l.drain()
	return out
}

// Recheck says whether a released or reserved pod may go on: the world may have moved since its release.
func (l *Ledger) Recheck(uid UID) (reason.Reason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recheck(l.pods[uid])
}

func (l *Ledger) recheck(r *record) (reason.Reason, bool) {
	l.settle()
	if r == nil || !r.state.inWindow() {
		return reason.Reason{Code: reason.WaitingTurn}, false
	}
	if !r.leaf.accepting {
		_, why := l.queues.resolve(r.leaf.path)
		return why, false
	}
	for a := r.leaf; a != nil; a = a.parent {
		if limit.ExceedsMax(&a.usage, none, a.spec.Max) {
			var others resource.Sum
			others.AddSum(&a.usage)
			others.Sub(r.Request)
			why, _ := limit.MaxResources(string(a.path), &others, r.Request, a.spec.Max)
			return why, false
		}
	}
	if why, large := r.tooLarge(r.leaf); large {
		return why, false
	}
	if why, over := l.shares.driverTooMany(r); over {
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
	l.step(r, now, r.leaf, Reserved, reason.Reason{})
	l.nodes.assume(r, l.nodes.get(node))
	l.drain()
	return reason.Reason{}, true
}

// Failure says why an attempt failed.
type Failure uint8

const (
	// Refused by a rule of ours, the pod waits for its turn again.
	Refused Failure = iota
	// NoFit says that filters, or somebody else's Reserve or Permit, refused every node. Pods of the class wait behind this one.
	NoFit
	// Errored says that something broke. The pod backs off; before Reserve, its class does too.
	Errored
)

// Fail refunds a pod whose attempt failed. It returns the pods that must be taken out of kube-scheduler's queue, besides what the
// failure handler itself does: those that were released and not yet tried, and the pod itself where kube-scheduler would keep it
// although it goes back to Waiting.
func (l *Ledger) Fail(uid UID, f Failure, now int64) (withdraw []UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	r := l.pods[uid]
	switch {
	case r != nil && r.state == Parked:
		l.window.wake(r) // kube-scheduler does not keep it any more: nothing else would wake its class
		return nil
	case r == nil || !r.state.inWindow():
		return []UID{uid}
	}
	l.failNomination(r, now)
	defer l.keepMadeRoom(r)
	defer l.drain()
	tried, c := r.state == Released, r.class
	r.doubtful = f == Errored && !tried && r.attempts == 0 && !r.group.open()
	switch {
	case r.group.open():
		return l.failTogether(r, now)
	case f == Refused:
		l.wait(r, now)
		return []UID{uid}
	case f == NoFit && !c.Parked() && l.mayPark(r):
		if !tried {
			r.pause(now)
		}
		l.step(r, now, r.leaf, Parked, reason.Reason{})
		r.park()
		return l.recall(now)
	case f == NoFit:
		// Another pod is or will be the probe. The pause lets kube-scheduler finish with this one before it can be chosen again.
		r.retryAt = now + backoff.First
		l.wait(r, now)
		return []UID{uid}
	}
	if !tried {
		l.groupRelease.failed(r)
	}
	r.pause(now)
	l.wait(r, now)
	withdraw = []UID{uid}
	if tried {
		c.Error(now)
		withdraw = append(withdraw, l.recall(now)...)
	}
	return withdraw
}

// mayPark: a gate would keep events from it, and one that asks for another queue now, or is too large by now, would not count where it is.
func (l *Ledger) mayPark(r *record) bool {
	_, large := r.tooLarge(r.leaf)
	return r.Gate == "" && !large && !r.group.open() && l.requests.byQueue[r.asked].leaf == r.leaf
}

// pause lets the pod back off. Also where somebody else's Permit refused it: what a refusal gives back (room, a nominated node) is an
// event that wakes the pod itself, so without a pause refusals and attempts would chase each other.
func (r *record) pause(now int64) {
	r.attempts++
	r.retryAt = now + backoff.After(int(r.attempts), backoff.Last)
}

// recall returns every released pod to Waiting: kube-scheduler tries them in order, so they were all released after the pod whose
// attempt failed, and chosen while its charge counted. Those of its class would fail alike. The others would take what is its
// siblings' turn now: in a queue that starts with hopeless classes, a window's worth for each of them, without end.
func (l *Ledger) recall(now int64) []UID {
	rs := l.window.inOrderOfRelease()
	uids := make([]UID, 0, len(rs))
	for _, r := range rs {
		if r.group.open() {
			continue // it was released for what the others of its group are, not for this pod
		}
		uids = append(uids, r.UID)
		l.wait(r, now)
	}
	return uids
}
