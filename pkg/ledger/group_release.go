package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// releaseGroup charges all pods that a group needs to start, and takes their room on nodes. It returns the first of them; the others are released
// next. nil: the group cannot start now.
func (l *Ledger) releaseGroup(g *group, now int64) *record {
	g.count()
	need := g.Need()
	if g.tried == l.mark || !g.MayStart() || g.retryAt > now {
		return nil
	}
	g.tried = l.mark
	held := l.nodeHolds.Group == g
	if !held && l.stillLacksRoom(g) { // the usual case, so it comes first
		l.waitForRoom(g, now)
		return nil
	}
	pods := g.next(need)
	if _, over := l.limitOnGroup(g, pods); over || l.exceedsMaxWithNominated(pods...) != nil {
		l.endWait(g)
		return nil
	}
	places := l.placesFor(g, pods)
	if (places != nil || held) && !l.admits(pods) { // last, since it costs most
		l.endWait(g)
		return nil
	}
	if places == nil {
		l.waitForRoom(g, now)
		return nil
	}
	for i, r := range pods {
		c := l.charge(r, now)
		l.assume(r, places[i])
		if i > 0 {
			l.releaseNext = append(l.releaseNext, c)
		}
	}
	if g.since == 0 {
		g.since = now
	}
	return pods[0]
}

// admits charges the pods one after the other, to see whether a limit or a gate stops one of them, and takes that back.
func (l *Ledger) admits(pods []*record) bool {
	t := l.newTrial()
	all := t.release(pods)
	t.end()
	return all
}

// stopsNow: a limit or a gate admits no further pod of this kind.
func (l *Ledger) stopsNow(r *record) bool {
	return l.stopsOnPath(r.app, r.class) || r.app.atGate && !r.app.parent.opens()
}

// next returns the n pods of the group that go first: those with places, then in the order inside an application.
func (g *group) next(n int) []*record {
	var pods []*record
	for _, r := range g.pods {
		if r.state == Waiting && r.InQueue() {
			pods = append(pods, r)
		}
	}
	slices.SortFunc(pods, func(a, b *record) int {
		return cmp.Or(btoi(b.nomination != nil)-btoi(a.nomination != nil), compareInApp(a, b))
	})
	return pods[:min(n, len(pods))]
}

// completePartial releases the missing pods of a group of which some run: before any other pod, since the group may be of no use without them.
func (l *Ledger) completePartial(now int64) *record {
	if l.startingGroup != nil {
		return nil
	}
	for _, g := range l.groups.partial { // few, in the order in which they came to that
		if r := l.releaseGroup(g, now); r != nil {
			return r
		}
	}
	return nil
}

// noteRetryFirst notes a pod of a group that has started whose binding failed. Nobody else is released until it is tried again, or the group would stay
// without it. Only once: what fails again may always fail, and waits for its turn.
func (l *Ledger) noteRetryFirst(r *record) {
	if r.group != nil && r.group.MinMember > 1 && r.group.Members.Whole && r.attempts == 0 {
		l.retryFirst = append(l.retryFirst, r)
	}
}

// firstToRetry returns a pod that goes before all others. wait: none does yet, and nobody is released, since one will in a moment.
func (l *Ledger) firstToRetry(now int64) (next *record, wait bool) {
	l.retryFirst = slices.DeleteFunc(l.retryFirst, func(r *record) bool {
		return l.pods[r.UID] != r || r.state != Waiting || !r.InQueue() && r.blockedBy.Code != reason.BackOff || r.attempts != 1
	})
	for _, r := range l.retryFirst { // few, in the order in which they failed
		switch {
		case !r.InQueue():
			wait = true
		case !l.stopsOnPath(r.app, r.class) && l.mayTry(r.class, now):
			return r, false
		}
	}
	return nil, wait
}
