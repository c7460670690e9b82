package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Permit keeps the pods of a group back until the last one is reserved. Where one of them fails, all go back.

// failTogether refunds a pod whose group is not whole: all of it goes back.
func (l *consequences) failTogether(r *record, now int64) (withdraw []UID) {
	r.group.pause(now)
	l.wait(r, now)
	l.drain()
	return append(l.groupRelease.takeRecalled(), r.UID)
}

// rejectAgain is the time after which a pod that should be rejected is rejected again. The first try may not find it: after Permit it
// takes a moment until kube-scheduler lists the pod as waiting.
const rejectAgain int64 = 100e6

// ToReject returns the reserved pods whose attempts are to be rejected, since their group cannot be whole. Each is returned until its attempt
// has failed.
func (l *Ledger) ToReject() []UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.groupRelease.stillToReject(l.pods))
}

// ToAllow returns the pods that wait at Permit and need not wait any more, for a reason that Permit of no other pod sees: their group has
// become smaller, somebody else has bound a pod of it, or they left the group. Each is returned until it is bound: see rejectAgain.
func (l *Ledger) ToAllow() (uids []UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.groupRelease
	waiting := s.stillWaiting(l.pods)
	unbound := unboundOf(waiting)
	for _, r := range waiting { // its groups, in the order in which their pods came to Permit
		g := r.group
		n := unbound[g]
		if n > 0 && g.startsTogether() && g.complete && n+g.Bound >= g.Minimum {
			l.makeWhole(g)
			l.effects.reviewLater(g)
		}
		delete(unbound, g)
	}
	l.drain()
	for _, r := range waiting {
		if r.waitsInVain() {
			uids = append(uids, r.UID)
		}
	}
	s.forgetBound()
	return uids
}

// Permission is what Permit says to a reserved pod.
type Permission struct {
	// Wait: at most so long, in nanoseconds, for the others of its group; 0: it may be bound.
	Wait int64
	// Allow are the others of its group, which may wait and may be bound now.
	Allow []UID
}

// Permit says whether a reserved pod may be bound.
func (l *Ledger) Permit(uid UID, now int64) (Permission, reason.Reason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	r := l.pods[uid]
	why, ok := l.recheck(r)
	if !ok || r.group == nil {
		return Permission{}, why, ok
	}
	g := r.group
	switch {
	case !g.complete || g.Broken():
		return Permission{}, reason.Reason{Code: reason.WaitingTurn, Queue: string(r.leaf.path)}, false
	case !g.Together():
		return Permission{}, reason.Reason{}, true
	}
	if g.reserved+g.Bound < g.Minimum {
		l.groupRelease.waits(r)
		return Permission{Wait: g.timeout()}, reason.Reason{}, true
	}
	l.makeWhole(g)
	l.groupRelease.allAllowed(g)
	l.effects.reviewLater(g)
	l.drain()
	var p Permission
	for _, o := range g.pods {
		// Somebody else may have bound one that waits: its attempt must end too.
		if o != r && (o.state == Reserved || o.state == Bound && o.ticket != 0) {
			p.Allow = append(p.Allow, o.UID)
		}
	}
	slices.Sort(p.Allow)
	return p, reason.Reason{}, true
}
