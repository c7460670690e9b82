package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// groupRelease owns the release of a pod group as one.
//
// Two groups cannot block each other. A group gets the charges and, without extenders, the room of all pods that it needs to start in one
// step, or nothing (releaseGroup). One group is released at a time: the next one has its turn when all pods of this one are reserved, or
// all have gone back (starting); Permit lets them wait for the group's timeout at most. And nodes are held for one group at a time
// (node_holds.go). So no group has a part of what it needs while another one has the rest. A restart or a failed binding may leave groups
// with a part. Each had room for all of its pods before, and gets what it lacks before any pod of the order (completePartial,
// firstToRetry); only nominated pods go before, to room of their own. So together they fit again, unless a node is lost, a max is lowered,
// or another scheduler takes the room meanwhile.
//
// It hears when a pod of a group has moved (note), which pods of a group that broke are to come back (takeBack), which pod could not be bound after
// its group began (failed), and which wait at Permit (waits). It says which group is starting, which pods are released next, which kube-scheduler is to give up,
// and which need not wait any more.
type groupRelease struct {
	starting   *group    // that was released, and is not whole yet
	next       []Release // charged with the first of their group, and to be released next
	retryFirst []*record // to be tried before the order of queues, since their group has begun without them
	recalled   []UID     // released pods of a group that broke, to be taken out of kube-scheduler's queue
	toReject   []UID     // reserved pods of a group that broke, to be rejected where they wait for the others
	waiting    []*record // pods that Permit told to wait, and that may do so still
}

// note keeps which group is starting.
func (s *groupRelease) note(g *group) {
	switch on := g.Taken > 0 && g.Together(); {
	case on:
		s.starting = g
	case s.starting == g:
		s.starting = nil
	}
}

// releaseNext notes a pod that was charged with the first of its group.
func (s *groupRelease) releaseNext(c Release) { s.next = append(s.next, c) }

// takeNext returns the next pod that was charged with the first of its group; false: there is none. Pods that have gone back meanwhile are left out.
func (s *groupRelease) takeNext(pods map[UID]*record) (Release, bool) {
	for len(s.next) > 0 {
		c := s.next[0]
		s.next = s.next[1:]
		if r := pods[c.UID]; r != nil && r.state == Released && r.ticket == c.Ticket {
			return c, true
		}
	}
	return Release{}, false
}

// takeBack notes that kube-scheduler is to give up a pod of a group that broke.
func (s *groupRelease) takeBack(r *record) {
	if r.state == Reserved {
		s.toReject = append(s.toReject, r.UID)
	} else {
		s.recalled = append(s.recalled, r.UID)
	}
}

// takeRecalled returns the pods that are to be taken out of kube-scheduler's queue, once.
func (s *groupRelease) takeRecalled() []UID {
	uids := s.recalled
	s.recalled = nil
	return uids
}

// failed notes a pod that could not be bound. If its group has begun, no other pod is released until it is tried again, or the group would stay
// without it. Only once: what fails again may always fail, and waits for its turn.
func (s *groupRelease) failed(r *record) {
	if r.group.hasBegun() && r.attempts == 0 {
		s.retryFirst = append(s.retryFirst, r)
	}
}

// stillToRetry returns the pods that are to be tried before all others, in the order in which they failed.
func (s *groupRelease) stillToRetry(pods map[UID]*record) []*record {
	s.retryFirst = slices.DeleteFunc(s.retryFirst, func(r *record) bool {
		return pods[r.UID] != r || !r.group.hasBegun() || r.state != Waiting || !r.InQueue() && r.blockedBy.Code != reason.BackOff || r.attempts != 1
	})
	return s.retryFirst
}

// stillToReject returns the reserved pods whose attempts are to be rejected, each until its attempt has failed.
func (s *groupRelease) stillToReject(pods map[UID]*record) []UID {
	s.toReject = slices.DeleteFunc(s.toReject, func(uid UID) bool {
		r := pods[uid]
		return r == nil || r.state != Reserved || r.group == nil || r.group.Members.Whole
	})
	slices.Sort(s.toReject)
	s.toReject = slices.Compact(s.toReject)
	return s.toReject
}

// waits notes that Permit told a pod to wait.
func (s *groupRelease) waits(r *record) { s.waiting = append(s.waiting, r) }

// forgetBound: of the pods that wait at Permit, those that are bound need not be allowed again.
func (s *groupRelease) forgetBound() {
	s.waiting = slices.DeleteFunc(s.waiting, func(r *record) bool { return r.state == Bound })
}

// allAllowed notes that Permit let all pods of a group be bound.
func (s *groupRelease) allAllowed(g *group) {
	s.waiting = slices.DeleteFunc(s.waiting, func(r *record) bool { return r.group == g })
}

// stillWaiting returns the pods that wait at Permit, without those that are to be rejected. Of the pods that Permit told to wait, some were bound or
// have failed since.
func (s *groupRelease) stillWaiting(pods map[UID]*record) []*record {
	s.waiting = slices.DeleteFunc(s.waiting, func(r *record) bool { return pods[r.UID] != r || r.state != Reserved && r.state != Bound })
	return slices.DeleteFunc(slices.Clone(s.waiting), func(r *record) bool { return slices.Contains(s.toReject, r.UID) })
}

// unboundOf counts, by group, those of the waiting pods that nobody has bound.
func unboundOf(waiting []*record) map[*group]int {
	if len(waiting) == 0 {
		return nil
	}
	n := map[*group]int{}
	for _, r := range waiting {
		if r.group != nil && r.state == Reserved {
			n[r.group]++
		}
	}
	return n
}

// waitsInVain: it waits at Permit, and its group needs it there no more.
func (r *record) waitsInVain() bool {
	return r.state == Bound || r.state == Reserved && !r.group.startsTogether()
}

// releaseGroup charges all pods that a group needs to start, and takes their room on nodes. It returns the first of them; the others are released
// next. nil: the group cannot start now.
func (l *releases) releaseGroup(g *group, now int64) *record {
	g.count()
	need := g.Need()
	if g.tried == l.walk.number || !g.MayStart() || g.retryAt > now {
		return nil
	}
	g.tried = l.walk.number
	held := l.nodeHolds.For == &g.wait
	if !held && g.stillLacksRoom(&l.nodes) { // the usual case, so it comes first
		l.waitForRoom(g, now)
		return nil
	}
	pods := g.next(need)
	if _, over := l.walk.exceedsMax(g, pods); over || l.nominations.exceedMax(pods...) != nil {
		l.endWait(&g.wait)
		return nil
	}
	places := l.placesFor(g, pods)
	if (places != nil || held) && !l.admits(pods) { // last, since it costs most
		l.endWait(&g.wait)
		return nil
	}
	if places == nil {
		l.waitForRoom(g, now)
		return nil
	}
	for i, r := range pods {
		c := l.charge(r, now)
		l.nodes.assume(r, places[i])
		if i > 0 {
			l.groupRelease.releaseNext(c)
		}
	}
	if g.since == 0 {
		g.since = now
	}
	return pods[0]
}

// admits charges the pods one after the other, to see whether a limit or a gate stops one of them, and takes that back.
func (l *releases) admits(pods []*record) bool {
	t := l.newTrial()
	all := t.release(pods)
	t.end()
	return all
}

// next returns the n pods of the group that go first: drivers with which others wait, then those that are nominated, then in the order inside an
// application.
func (g *group) next(n int) []*record {
	var pods []*record
	for _, r := range g.pods {
		if r.state == Waiting && r.InQueue() {
			pods = append(pods, r)
		}
	}
	slices.SortFunc(pods, func(a, b *record) int {
		return cmp.Or(btoi(b.leads())-btoi(a.leads()), btoi(b.nomination != nil)-btoi(a.nomination != nil), compareInApp(a, b))
	})
	return pods[:min(n, len(pods))]
}

// completePartial releases the missing pods of a group of which some run, since the group may be of no use without them.
func (l *releases) completePartial(now int64) *record {
	if l.groupRelease.starting != nil {
		return nil
	}
	for _, g := range l.groups.partial { // few, in the order in which they came to that
		if r := l.releaseGroup(g, now); r != nil {
			return r
		}
	}
	return nil
}

// firstToRetry returns a pod that could not be bound although its group has begun. wait: it backs off, and no other pod is released until then.
func (l *releases) firstToRetry(now int64) (next *record, wait bool) {
	for _, r := range l.groupRelease.stillToRetry(l.pods) { // few
		switch {
		case !r.InQueue():
			wait = true
		case !l.walk.stopsNow(r) && l.nominations.exceedMax(r) == nil && l.mayTry(r, now):
			return r, false
		}
	}
	return nil, wait
}
