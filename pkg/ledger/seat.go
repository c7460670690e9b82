package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// seat charges all pods that a group needs to start, and takes their places; it returns the first, and the others are released next. nil: it
// cannot start now.
func (l *Ledger) seat(g *group, now int64) *record {
	l.countGroup(g)
	need := g.Need()
	if g.tried == l.mark || g.Taken > 0 || g.Ready < need || g.retryAt > now {
		return nil
	}
	g.tried = l.mark
	turn := l.nodeHolds.Group == g
	if !turn && l.lackedRoom(g) { // most looks, so nothing else is asked of them
		l.waitForRoom(g, now)
		return nil
	}
	pods := g.next(need)
	if _, over := l.limitOnGroup(g, pods); over || l.takesKept(pods...) != nil {
		l.endWait(g)
		return nil
	}
	places := l.placesFor(g, pods)
	if (places != nil || turn) && !l.admits(pods) { // last, since it costs most
		l.endWait(g)
		return nil
	}
	if places == nil {
		l.waitForRoom(g, now)
		return nil
	}
	for i, r := range pods {
		c := l.charge(r, now)
		l.occupy(r, places[i])
		if i > 0 {
			l.seated = append(l.seated, c)
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
		return cmp.Or(btoi(b.place != nil)-btoi(a.place != nil), compareInApp(a, b))
	})
	return pods[:min(n, len(pods))]
}

// completePartial gives a group the places that it lacks while some of its pods run: before anybody else, since it may be of no use without.
func (l *Ledger) completePartial(now int64) *record {
	if l.startingGroup != nil {
		return nil
	}
	for _, g := range l.partial { // few, in the order in which they came to that
		if r := l.seat(g, now); r != nil {
			return r
		}
	}
	return nil
}

// owe notes a pod whose group has begun without it: it was to be bound with the others, and that failed. What it gives back is for nobody else until it
// is tried again, or its group would rest in part. Once only: what fails again may fail for ever, and waits for its turn.
func (l *Ledger) owe(r *record) {
	if r.group != nil && r.group.MinMember > 1 && r.group.Members.Whole && r.attempts == 0 {
		l.owed = append(l.owed, r)
	}
}

// nextOwed returns a pod that goes before all others; wait: nobody goes, since one will in a moment.
func (l *Ledger) nextOwed(now int64) (next *record, wait bool) {
	l.owed = slices.DeleteFunc(l.owed, func(r *record) bool {
		return l.pods[r.UID] != r || r.state != Waiting || !r.InQueue() && r.hold.Code != reason.BackOff || r.attempts != 1
	})
	for _, r := range l.owed { // few, in the order in which they failed
		switch {
		case !r.InQueue():
			wait = true
		case !l.stopsOnPath(r.app, r.class) && l.mayTry(r.class, now):
			return r, false
		}
	}
	return nil, wait
}
