package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Applications that run are counted in their queue, in every queue above, and for their user. An application that comes when one of these numbers is
// at its limit waits for a slot, and so do all its pods. An application runs from the moment one of its pods is blocked by nothing (or only by its
// back-off) until no pod of it wants to run any more (wants).
//
// Who gets the slot of an application that ends: the application that was submitted first below the highest queue that was exactly at its limit; and,
// if the user was at the limit of users, the application of that user that was submitted first. Each must fit. See core/admission/freed_slot.go.

// wants reports whether the pod makes its application want to run: it runs, or only a limit, its back-off, room or its turn keeps it from running.
func (r *record) wants() bool {
	if r.state == Gone {
		return false
	}
	switch r.blockedBy.Code {
	case "", reason.BackOff, reason.MaxRunningApplications, reason.UserMaxRunningApplications:
		return true
	}
	return false
}

// blockedByAppLimit reports whether a limit on applications blocks the pod.
func (r *record) blockedByAppLimit() bool {
	return r.blockedBy.Code == reason.MaxRunningApplications || r.blockedBy.Code == reason.UserMaxRunningApplications
}

// slot says whether the pod's application may run in the leaf, or which limit keeps it out.
func (l *Ledger) slot(r *record, leaf *account) (reason.Reason, bool) {
	app := leaf.apps[r.Application]
	if app != nil && app.slot.Runs {
		return reason.Reason{}, true
	}
	if from := l.previousApplication(r); from != nil && from != app && from.slot.Runs {
		l.effects.admit = true // its former application may end and free a slot, for which an older one may wait
		return reason.Reason{Code: reason.MaxRunningApplications, Queue: string(leaf.path)}, false
	}
	return l.slotFor(leaf, l.userOf(r, leaf))
}

// previousApplication is the application that the pod has belonged to until now.
func (l *Ledger) previousApplication(r *record) *account {
	if r.app != nil {
		return r.app
	}
	return r.formerApp
}

// userOf is the user of the application once the pod is in it: that of its oldest pod.
func (l *Ledger) userOf(r *record, leaf *account) string {
	if app := leaf.apps[r.Application]; app != nil && len(app.members) > 0 && app.members[0].older(r) {
		return app.slot.User
	}
	return r.User
}

// slotFor says whether one more application of the user may run in the leaf, or which limit stops it.
func (l *Ledger) slotFor(leaf *account, user string) (reason.Reason, bool) {
	return l.slots.Fits(&leaf.admission, user, l.mode())
}

// mode says which new applications may run. No application may start before an older one. So all new applications wait while the tree is out of date
// or pods are being moved. Before the ledger leads, a new application waits if any limit covers it. reexamine runs afterwards.
func (l *Ledger) mode() admission.Mode {
	switch {
	case l.queues.stale || l.moving:
		return admission.Closed
	case !l.leading:
		return admission.Bootstrapping
	}
	return admission.Open
}

// accountOf is the account of an application.
func (l *Ledger) accountOf(a *admission.Application) *account {
	return l.queues.accounts[a.Leaf.Path].apps[a.Name]
}

// startRunning notes that an application has a slot from now on: its pods that waited for the slot are judged again.
func (l *Ledger) startRunning(app *account) {
	l.shares.noteActive(app.parent)
	for _, r := range app.members { // each for itself: order does not matter
		if r.blockedByAppLimit() {
			l.effects.judgeLater(r.record)
		}
	}
}

// end takes an application off the numbers, and hands its slot on unless reexamine follows.
func (l *Ledger) end(app *account) {
	freed := l.slots.End(&app.slot)
	l.shares.noteActive(app.parent)
	if l.mode() != admission.Open || l.effects.admit {
		return
	}
	for _, next := range l.slots.HandOn(freed) {
		l.startRunning(l.accountOf(next))
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
	mode := l.mode()
	started := l.slots.Admit(mode)
	for _, a := range started {
		l.startRunning(l.accountOf(a))
	}
	for _, a := range l.slots.Waiting() {
		why, _ := l.slots.Fits(a.Leaf, a.User, mode)
		for _, e := range l.accountOf(a).members {
			if e.blockedByAppLimit() && !sameLimit(e.blockedBy, why) {
				l.effects.judgeLater(e.record)
			}
		}
	}
	l.effects.admit, l.slotReasonsAsOf = false, l.slots.Revision()
}

// updateSlotReasons brings up to date what is said of applications that are kept out: another limit may keep them out than at first. It is left to
// those who write it to pods, since a slot that moves may change it for all of them. What is read is worked out then: see blockNow.
func (l *Ledger) updateSlotReasons() {
	if l.leading && l.slotReasonsAsOf != l.slots.Revision() {
		l.reexamine()
		l.drain()
	}
}

// blockNow is what blocks a pod: the reason that its condition shows, unless another limit on applications applies by now. If only its numbers moved,
// the reason stays. What blocks a driver blocks those that wait with it.
func (l *Ledger) blockNow(r *record) reason.Reason {
	if r.blockedBy.Code == reason.WaitingForDriver {
		if driver := r.app.firstWaiting(); driver != nil {
			return withDriver(driver, l.blockNow(driver))
		}
	}
	if r.blockedByAppLimit() && !l.queues.stale {
		if why, fits := l.slotFor(r.leaf, r.app.slot.User); !fits && !sameLimit(why, r.blockedBy) {
			return why
		}
	}
	return r.blockedBy
}

// takeBackSlot keeps out an application that was let in before all was seen.
func (l *Ledger) takeBackSlot(app *account) {
	charged := func(e appEntry) bool { return e.state.charged() }
	if !app.slot.Runs || slices.ContainsFunc(app.members, charged) {
		return
	}
	if _, fits := l.slots.Fits(&app.parent.admission, app.slot.User, admission.Bootstrapping); fits {
		return // no limit concerns it
	}
	l.end(app)
	for _, r := range slices.Clone(app.members) { // each for itself: order does not matter
		if r.wants() {
			l.wait(r.record, l.now)
		}
	}
	l.settleApplications() // once all of its pods are kept out
}

// bySubmission is the order in which applications are shown.
func bySubmission(a, b *account) int { return admission.Compare(&a.slot, &b.slot) }

// follow keeps the application where its pods put it, after a change of one of them: running, kept out, or neither.
func (l *Ledger) follow(app *account) {
	switch {
	case app.wanting == 0:
		l.slots.Leave(&app.slot)
		if app.slot.Runs {
			l.end(app)
		}
	case app.slot.Runs:
	case app.limited < app.wanting: // some pod runs, or was found to fit
		l.slots.Start(&app.slot)
		l.startRunning(app)
	default:
		l.slots.Wait(&app.slot)
	}
}
