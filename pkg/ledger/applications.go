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

// levels returns the numbers of the path from the leaf up, and at last those of the user.
func (l *Ledger) levels(leaf *account, user string) []limit.Level {
	l.levelBuffer = l.levelBuffer[:0]
	for a := leaf; a != nil; a = a.parent {
		l.levelBuffer = append(l.levelBuffer, limit.Level{Running: a.admitted, Most: a.spec.MaxRunningApplications})
	}
	return append(l.levelBuffer, limit.Level{Running: l.users[user], Most: l.root.spec.MaxRunningApplicationsPerUser})
}

// slot says whether the pod's application may run in the leaf, or which limit keeps it out.
func (l *Ledger) slot(r *record, leaf *account) (reason.Reason, bool) {
	if r.app != nil && r.leaf == leaf && r.app.runs {
		return reason.Reason{}, true
	}
	if app := leaf.apps[r.Application]; app != nil && app.runs {
		return reason.Reason{}, true
	}
	if !l.started {
		// Until all that is there has been seen, nobody is let in before somebody older.
		return reason.Reason{Code: reason.MaxRunningApplications, Queue: string(leaf.path)}, !l.limitsApplications(leaf)
	}
	return l.slotFor(leaf, l.userOf(r, leaf))
}

// userOf is the user of the pod's application: that of its oldest pod.
func (l *Ledger) userOf(r *record, leaf *account) string {
	if app := leaf.apps[r.Application]; app != nil {
		return app.user
	}
	return r.User
}

func (l *Ledger) slotFor(leaf *account, user string) (reason.Reason, bool) {
	levels := l.levels(leaf, user)
	i, over := limit.MaxRunningApplications(levels)
	if !over {
		return reason.Reason{}, true
	}
	why := reason.Reason{Code: reason.MaxRunningApplications, Limit: levels[i].Most.Most, Used: levels[i].Running}
	if i == len(levels)-1 {
		why.Code, why.Queue, why.Other = reason.UserMaxRunningApplications, string(l.root.path), user
		return why, false
	}
	a := leaf
	for range i {
		a = a.parent
	}
	why.Queue = string(a.path)
	return why, false
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
	l.users[app.user]++
	for a := app.parent; a != nil; a = a.parent {
		was := a.active()
		a.admitted++
		a.flipped(l, was)
	}
	for _, r := range slices.Clone(app.members) { // each for itself: order does not matter
		if r.keptOut() {
			l.wait(r.record, l.now)
		}
	}
}

// end takes the application off the numbers and hands its slot on.
func (l *Ledger) end(app *account) {
	levels := l.levels(app.parent, app.user)
	path, user := levels[:len(levels)-1], levels[len(levels)-1]
	i, full := limit.HighestFull(path)
	under := (*account)(nil)
	if full {
		under = app.parent
		for range i {
			under = under.parent
		}
	}
	_, userFull := limit.HighestFull([]limit.Level{user})
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
// YARN FairScheduler: MaxRunningAppsEnforcer.
func (l *Ledger) handOn(under *account, user string, userFull bool) {
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
	for _, app := range slices.Clone(l.queued) {
		if _, ok := l.slotFor(app.parent, app.user); ok {
			l.start(app)
			continue
		}
		for _, r := range slices.Clone(app.members) { // each for itself: order does not matter
			if r.keptOut() {
				l.wait(r.record, l.now)
			}
		}
	}
}

// begin ends the time in which the ledger only takes in what is there: applications without charged pods compete for the slots that
// those with some leave, in order of submission. So a restart does not depend on the order in which pods are seen.
func (l *Ledger) begin() {
	l.settle()
	if !l.started {
		l.started = true
		l.reexamine()
	}
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
	case app == l.inRevision:
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

// revised ends a revision: an application that is empty after it ends now.
func (l *Ledger) revised() {
	app := l.inRevision
	l.inRevision = nil
	if app == nil {
		return
	}
	if len(app.members) == 0 {
		delete(app.parent.apps, app.name)
	}
	l.follow(app)
}
