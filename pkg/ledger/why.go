package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// why is the dominant reason: a rule that blocks the pod, then a hard limit, the nearest first, then room, then the turn.
func (l *contents) why(r *record) reason.Reason {
	if why, out := l.applications.limitNow(r); out { // what it was told may be of older numbers
		return why
	}
	if r.blockedBy.Code == reason.GangIncomplete {
		return r.group.incomplete(r.blockedBy.Queue, r.group.Live)
	}
	if r.blockedBy.Code == reason.WaitingForDriver {
		if driver := r.app.firstWaiting(); driver != nil {
			return withDriver(driver, l.why(driver))
		}
	}
	if r.blocked() {
		return r.blockedBy
	}
	if why, limited := l.limitOn(r.app, r.class); limited {
		return why
	}
	if why, over := l.keptUnderMax(r); over {
		return why
	}
	if r.waitsForDriverOutside() {
		driver := r.app.firstWaiting()
		if driver.state == Parked {
			return withDriver(driver, l.noRoom(driver))
		}
		return withDriver(driver, l.why(driver))
	}
	if why, waits := l.delays.waitsFor(r); waits {
		return why
	}
	if why, waits := l.delays.saidToWait(r); waits {
		return why
	}
	if r.group.startsTogether() {
		if why, lacks := l.roomOfGroup(r.group, string(r.leaf.path)); lacks {
			return why
		}
	} else if l.lacksRoom(r.class, l.now) {
		return l.noRoom(r)
	}
	return reason.Reason{Code: reason.WaitingTurn, Queue: string(r.leaf.path)}
}

// limitOn returns the first limit on the way up that admits no pod of the class from the application.
func (l *contents) limitOn(app *appAccount, c *class) (reason.Reason, bool) {
	if app.atGate && !app.parent.gateIsOpen() {
		return app.behind(), true
	}
	if why, behind := l.nodeHolds.behindGroup(app); behind {
		return why, true
	}
	if why, stopped := l.limitOnDriver(app, c); stopped {
		return why, true
	}
	return l.limitOnClass(app, c)
}

// limitOnClass is limitOn without what stops the application as a whole, and without the driver with which the class waits.
func (l *contents) limitOnClass(app *appAccount, c *class) (reason.Reason, bool) {
	if why, stopped := c.group.stoppedBy(string(app.parent.path)); stopped {
		return why, true
	}
	if why, over := l.groupDriversTooMany(c.group); over {
		return why, true
	}
	if why, over := l.shares.userLimitOn(app, c.request); over {
		return why, true
	}
	if why, over := l.shares.userDriversBind(app, c); over {
		return why, true
	}
	if why, over := l.groupOverUserLimit(c.group); over {
		return why, true
	}
	for a := app.parent; a != nil; a = a.parent {
		if !a.stops(c, &l.shares) {
			continue
		}
		if why, over := a.maxOn(c.request); over {
			return why, true
		}
		return limit.MaxDriverShare(l.shares.driversOf(a), c.request)
	}
	return reason.Reason{}, false
}

// sameLimit reports whether two reasons are the same but for numbers that change with every pod that starts or ends.
func sameLimit(a, b reason.Reason) bool {
	return a == b || a.Code == b.Code && withMoving(a, 0) == withMoving(b, 0)
}

// withMoving replaces the numbers of a limit that move with every pod that starts or ends.
func withMoving(r reason.Reason, by int64) reason.Reason {
	r.Used = by
	switch r.Code {
	case reason.MaxDriverShare:
		r.Limit = by // part of a share that follows who is active
	case reason.UserLimit, reason.UserMaxDriverShare:
		user := reason.As[reason.UserShare](r)
		user.Active, user.ByFactor = by, false
		r.Limit, r.Details = by, user // it follows who asks, and what the queue uses
	case reason.StateAware:
		start := reason.As[reason.Start](r)
		start.Position, start.Took = by, by
		r.Details = start
	case reason.WaitingForDriver:
		driver := reason.As[reason.Driver](r)
		driver.Why = withMoving(driver.Why, by)
		r.Details = driver
	case reason.WaitingForPreferredNodes:
		preferred := reason.As[reason.Preferred](r)
		preferred.Missed = by
		r.Details = preferred
	case reason.GangIncomplete:
		members := reason.As[reason.Members](r)
		members.Exist = by
		r.Details = members
	}
	return r
}

// WaitingPods counts the waiting pods by what they wait for.
func (l *Ledger) WaitingPods() map[reason.Code]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := map[reason.Code]int{}
	for _, r := range l.requests.unbound { // each for itself: order does not matter
		if r.state == Waiting && r.blocked() {
			held[l.applications.blockNow(r).Code]++
		}
	}
	turn := map[*class]reason.Code{}
	for _, c := range l.classes.queued { // each for itself: order does not matter
		turn[c] = reason.WaitingTurn
		if l.lacksRoom(c, l.now) {
			turn[c] = reason.WaitingForRoom
		}
	}
	for _, leaf := range l.queues.accounts {
		for _, app := range leaf.apps {
			for i := range app.podQueues { // all pods of one queue wait for the same
				q := &app.podQueues[i]
				code := turn[q.class]
				if app.waitsWithDriver(q.class) {
					code = reason.WaitingForDriver
				}
				if why, limited := l.limitOn(app, q.class); limited {
					code = why.Code
				}
				held[code] += q.Len()
			}
		}
	}
	return held
}
