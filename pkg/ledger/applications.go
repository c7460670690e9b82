package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Applications that may run are counted at every level of the path and for their user. An application that came when a limit was
// reached is kept out, with all its pods, until one that runs ends. It counts from its first pod that nothing else holds to its last.

// wants reports whether the pod makes its application want to run: it runs, or waits for nothing but limits, room and its turn.
func (r *record) wants() bool {
	if r.state == Gone {
		return false
	}
	switch r.hold.Code {
	case "", reason.BackOff, reason.MaxRunningApplications, reason.UserMaxRunningApplications:
		return true
	}
	return false
}

// keptOut reports whether a limit on applications holds the pod.
func (r *record) keptOut() bool {
	return r.hold.Code == reason.MaxRunningApplications || r.hold.Code == reason.UserMaxRunningApplications
}

// levels returns the numbers of the user, who is asked first, and those of the path from the leaf up.
func (l *Ledger) levels(leaf *account, user string) []limit.Level {
	l.levelBuffer = append(l.levelBuffer[:0], l.userLevel(user))
	for a := leaf; a != nil; a = a.parent {
		l.levelBuffer = append(l.levelBuffer, limit.Level{Queue: string(a.path), Running: a.admitted, Most: a.spec.MaxRunningApplications})
	}
	return l.levelBuffer
}

func (l *Ledger) userLevel(user string) limit.Level {
	return limit.Level{
		Queue: string(l.root.path), User: user, OfUser: true, Running: l.users[user], Most: l.root.spec.MaxRunningApplicationsPerUser,
	}
}

// slot says whether the pod's application may run in the leaf, or which limit keeps it out.
func (l *Ledger) slot(r *record, leaf *account) (reason.Reason, bool) {
	app := leaf.apps[r.Application]
	if app != nil && app.runs {
		return reason.Reason{}, true
	}
	if from := l.comesFrom(r); from != nil && from != app && from.runs {
		l.effects.admit = true // it may leave a slot behind, and there may be somebody older who waits for one
		return reason.Reason{Code: reason.MaxRunningApplications, Queue: string(leaf.path)}, false
	}
	return l.slotFor(leaf, l.userOf(r, leaf))
}

// comesFrom is the application that the pod has belonged to until now.
func (l *Ledger) comesFrom(r *record) *account {
	if r.app != nil {
		return r.app
	}
	return r.left
}

// userOf is the user of the application once the pod is in it: that of its oldest pod.
func (l *Ledger) userOf(r *record, leaf *account) string {
	if app := leaf.apps[r.Application]; app != nil && len(app.members) > 0 && app.members[0].older(r) {
		return app.user
	}
	return r.User
}

// slotFor: nobody is let in before somebody older. So while the tree is old or pods move to where a new one puts them, all new
// applications stay out, and until all that is there has been seen, those that any limit concerns; reexamine follows.
func (l *Ledger) slotFor(leaf *account, user string) (reason.Reason, bool) {
	why := reason.Reason{Code: reason.MaxRunningApplications, Queue: string(leaf.path)}
	switch {
	case l.treeOld || l.moving:
		return why, false
	case !l.leading:
		return why, !l.limitsApplications(leaf)
	}
	why, over := limit.MaxRunningApplications(l.levels(leaf, user))
	return why, !over
}

// limitsApplications reports whether any limit on applications is stated that the leaf's are subject to.
func (l *Ledger) limitsApplications(leaf *account) bool {
	for a := leaf; a != nil; a = a.parent {
		if a.spec.MaxRunningApplications.Stated {
			return true
		}
	}
	return l.root.spec.MaxRunningApplicationsPerUser.Stated
}

// start counts the application as one that runs, and lets its pods go.
func (l *Ledger) start(app *account) {
	l.unqueue(app)
	app.runs = true
	l.slotsMoved++
	l.users[app.user]++
	for a := app.parent; a != nil; a = a.parent {
		was := a.active()
		a.admitted++
		a.flipped(l, was)
	}
	for _, r := range app.members { // each for itself: order does not matter
		if r.keptOut() {
			l.effects.judgeLater(r.record)
		}
	}
}

// end takes the application off the numbers and hands its slot on.
func (l *Ledger) end(app *account) {
	l.slotsMoved++
	levels := l.levels(app.parent, app.user)
	_, userFull := limit.HighestFull(levels[:1])
	i, full := limit.HighestFull(levels[1:])
	under := (*account)(nil)
	if full {
		under = app.parent
		for range i {
			under = under.parent
		}
	}
	app.runs = false
	l.leaveUser(app.user)
	for a := app.parent; a != nil; a = a.parent {
		was := a.active()
		a.admitted--
		a.flipped(l, was)
	}
	l.handOn(under, app.user, userFull)
}

func (l *Ledger) leaveUser(user string) {
	if l.users[user]--; l.users[user] == 0 {
		delete(l.users, user)
	}
}

// handOn gives freed slots to those who were submitted first: one under the queue that was full, one to the user who was.
// YARN FairScheduler: MaxRunningAppsEnforcer. Invariant: afterwards nobody fits who is kept out.
func (l *Ledger) handOn(under *account, user string, userFull bool) {
	if !l.leading || l.treeOld || l.moving || l.effects.admit {
		return // reexamine follows
	}
	for slots := btoi(under != nil) + btoi(userFull); slots > 0; slots-- {
		i := slices.IndexFunc(l.queued, func(app *account) bool {
			if !(under != nil && app.isUnder(under)) && !(userFull && app.user == user) {
				return false
			}
			_, ok := l.slotFor(app.parent, app.user)
			return ok
		})
		if i < 0 {
			return
		}
		l.start(l.queued[i])
	}
}

func (a *account) isUnder(q *account) bool {
	for ; a != nil; a = a.parent {
		if a == q {
			return true
		}
	}
	return false
}

// reexamine lets every application in that now fits, in order of submission, and tells the others what keeps them out now. It is due
// after a change of limits.
func (l *Ledger) reexamine() {
	l.effects.admit, l.explained = false, l.slotsMoved
	if len(l.queued) == 0 {
		return
	}
	// All leave the line, and those that stay out come back at its end: taken out one by one, each would move all that come after it.
	out := l.queued
	l.queued = make([]*account, 0, len(out))
	for _, app := range out {
		app.queued = false
	}
	for _, app := range out {
		why, ok := l.slotFor(app.parent, app.user)
		if ok {
			l.start(app)
			continue
		}
		l.queue(app)
		for _, e := range app.members {
			if e.keptOut() && !sameLimit(e.hold, why) {
				l.effects.judgeLater(e.record)
			}
		}
	}
}

// explain brings up to date what is said of applications that are kept out: another limit may keep them out than at first. It is left to
// those who write it to pods, since a slot that moves may change it for all of them. What is read is worked out then: see holdNow.
func (l *Ledger) explain() {
	if l.leading && l.explained != l.slotsMoved {
		l.reexamine()
		l.drain()
	}
}

// holdNow is what holds a pod: what it was told, unless another limit keeps its application out by now. Numbers that only move are not told again.
func (l *Ledger) holdNow(r *record) reason.Reason {
	if r.keptOut() && !l.treeOld {
		if why, fits := l.slotFor(r.leaf, r.app.user); !fits && !sameLimit(why, r.hold) {
			return why
		}
	}
	return r.hold
}

// suspend keeps out an application that was let in before all was seen.
func (l *Ledger) suspend(app *account) {
	charged := func(e appEntry) bool { return e.state.charged() }
	if !app.runs || slices.ContainsFunc(app.members, charged) || !l.limitsApplications(app.parent) {
		return
	}
	l.end(app)
	for _, r := range slices.Clone(app.members) { // each for itself: order does not matter
		if r.wants() {
			l.wait(r.record, l.now)
		}
	}
	l.settleApplications() // once all of its pods are kept out
}

// runningOrder compares applications that are kept out.
func runningOrder(a, b *account) int {
	if c := cmp.Compare(a.submitted, b.submitted); c != 0 {
		return c
	}
	if c := cmp.Compare(a.name, b.name); c != 0 {
		return c
	}
	return cmp.Compare(a.path, b.path)
}

func (l *Ledger) queue(app *account) {
	if !app.queued {
		app.queued = true
		i, _ := slices.BinarySearchFunc(l.queued, app, runningOrder)
		l.queued = slices.Insert(l.queued, i, app)
	}
}

func (l *Ledger) unqueue(app *account) {
	if app.queued {
		app.queued = false
		i, _ := slices.BinarySearchFunc(l.queued, app, runningOrder)
		l.queued = slices.Delete(l.queued, i, i+1)
	}
}

// follow keeps the application where its pods put it, after a change of one of them: running, kept out, or neither.
func (l *Ledger) follow(app *account) {
	switch {
	case app.wanting == 0:
		l.unqueue(app)
		if app.runs {
			l.end(app)
		}
	case app.runs:
	case app.kept < app.wanting: // some pod runs, or was found to fit
		l.start(app)
	default:
		l.queue(app)
	}
}
