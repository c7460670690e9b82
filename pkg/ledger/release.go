package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
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
	return l.choose(now)
}

func (l *releases) choose(now int64) (Release, bool) {
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
		l.delays.releasedTogether(r.app)
		l.drain()
		return r.released(), true
	}
	assumedOn := r.class.fitNode
	if p := r.nominatedNode(); p != nil && l.nodes.roomIsThere(r) {
		assumedOn = p
	} else {
		assumedOn = l.delays.nodeFor(r, assumedOn)
	}
	l.delays.released(r, assumedOn)
	c := l.charge(r, now)
	r.backfills = assumedOn.usesHeldRoom(r)
	l.nodes.assume(r, assumedOn)
	l.tookRoom(r)
	l.drain()
	return c, true
}

// charge charges a pod and stamps its ticket.
func (l *moves) charge(r *record, now int64) Release {
	l.window.stamp(r)
	r.alone = r.startsAlone()
	l.step(r, now, r.leaf, Released, reason.Reason{})
	r.class.Release(now)
	return r.released()
}

func (r *record) released() Release {
	return Release{UID: r.UID, Ticket: r.ticket, Queue: r.leaf.path, Created: r.Created, First: !r.again}
}

// next returns the pod whose turn it is, nil if none may be released now. The first of these goes:
//
//  1. a nominated pod whose room is there (nextNominated);
//  2. a pod that could not be bound although its group has begun (firstToRetry);
//  3. a pod of a group of which only a part runs (completePartial);
//  4. the next pod in the order of queues: a walk from the root in which those classes take part that may be released.
func (l *releases) next(now int64) *record {
	l.books.recheckDrivers(&l.queues)
	l.countHeld()
	l.delays.forget()
	l.endNotOwed(now)
	root := l.beginWalk(now)
	open := l.books.lanesBelow(root)
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
	r := l.firstInOrder(root, open, now)
	if r != nil && r.state != Released && !r.class.Full() && !r.class.fitNode.usesHeldRoom(r) && l.holdForPassed(r, now) {
		l.delays.forget()
		r = l.firstInOrder(l.beginWalk(now), open, now)
	}
	// The order's next pod waits for what becomes of the released ones of its class. Stepping past it to another class would
	// trade the exact order for a few milliseconds.
	if r == nil || r.state != Released && r.class.Full() {
		l.holdForNext(now)
		return nil
	}
	return r
}

// firstInOrder returns the next pod in the order of queues, of those that do not wait for nodes which they prefer, if there is such a one.
func (l *releases) firstInOrder(root *queueAccount, open book.Lanes, now int64) *record {
	l.delays.begin()
	r, wait := l.inOrder(root, open, now)
	l.delays.end()
	if r == nil && !wait && l.delays.haveDeclined() {
		l.delays.forget()
		l.beginWalk(now) // nobody else wants the room
		r, _ = l.inOrder(root, l.books.lanesBelow(root), now)
	}
	return r
}

// beginWalk begins a walk from the root, in which those classes take part that may be released. Only the class whose turn it is looks for room: there may
// be thousands, and most of them come later.
func (l *releases) beginWalk(now int64) (root *queueAccount) {
	l.walk.begin(func(c *class) bool { return c.MayRelease(now) && l.mayHaveRoom(c, now) })
	return l.queues.root
}

// inOrder returns the next pod in the order of queues, or the first of a group that it has released. wait: there is none, since a group has its turn that
// waits for another one.
func (l *releases) inOrder(root *queueAccount, open book.Lanes, now int64) (r *record, wait bool) {
	defer l.walk.refreshStale()
	for r = l.walk.next(root, open); r != nil; r = l.walk.next(root, open) {
		if r.class.group.startsTogether() {
			if starting := l.groupRelease.starting; starting != nil && starting != r.group {
				return nil, true // its turn is next, and comes when the other group has its places
			}
			l.delays.aboutToRelease()
			if first := l.releaseGroup(r.group, now); first != nil {
				return first, false
			}
		} else if under := l.nominations.exceedMax(r); under != nil {
			l.walk.block(r.class, under) // also its nominated pods: they wait for the room that is made for them
			continue
		} else if l.mayTry(r, now) && (r.nomination == nil || r.class.fitNode != nil) { // one whose room is being made is no probe
			return r, false
		}
		l.walk.leaveOut(r.class)
	}
	return nil, false
}

// mayTry reports whether the pod may be released now as far as room goes, and takes note of the node.
func (l *releases) mayTry(r *record, now int64) bool {
	c := r.class
	if c.fitNode = l.nodes.roomFor(&c.room); c.fitNode == nil && l.nodeHolds.Held() {
		c.fitNode = l.backfills(r, now)
	}
	return c.fitNode != nil || l.mayTryWithoutRoom(c, now)
}

// mayTryWithoutRoom reports whether a pod of the class may be released although no node is known to have room for it.
func (l *contents) mayTryWithoutRoom(c *class, now int64) bool {
	return c.MayTryWithoutRoom(breaker.Nodes{Extenders: l.opts.Extenders, Held: l.nodeHolds.behind.leaf != nil}, now)
}

// mayHaveRoom is mayTry without looking at a node: false where the last look found no room and no node has gained any since.
func (l *releases) mayHaveRoom(c *class, now int64) bool {
	if !l.nodes.mayFind(&c.room) {
		c.fitNode = nil
		return l.mayTryWithoutRoom(c, now) || l.mayBackfill(c)
	}
	return true
}
