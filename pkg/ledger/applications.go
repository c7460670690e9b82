package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// applications owns which applications run and which wait for a slot.
//
// Applications that run are counted in their queue, in every queue above, and for their user. An application that comes
// when one of these numbers is at its limit waits for a slot, and so do all its pods. An application runs from the moment
// one of its pods is blocked by nothing (or only by its back-off) until no pod of it wants to run any more (wants), or until a limit
// is lowered, if it holds nothing (takeBackTooMany). Before that, its queue has to take it in: see entries.go.
//
// Who gets the slot of an application that ends: the application that was submitted first below the highest queue that was
// exactly at its limit; and, if the user was at the limit of users, the application of that user that was submitted first.
// Each must fit. See core/admission/freed_slot.go.
//
// It hears of every application of which a pod has changed (settle), of its oldest pod (seniority), of the limit of users
// (limitUsers), of default and highest priorities (limitPriorities), of pods that are being moved (moveBegins, moveEnds),
// and of Lead (lead, takeBack). It says whether the application of a pod may run (slot), which limit stops it by now
// (limitNow, blockNow), and which mode it is in. Pods that waited for a slot, or that another limit stops now, are noted in
// effects and judged again. drain makes the rounds that are due (round).
type applications struct {
	entries      admission.Slots // who is in the queues
	slots        admission.Slots // who of them runs
	due          bool            // a slot may be free for an application that waits: a round is to be made
	reasonsAsOf  uint64          // the revision of both when the applications without a slot were last told why
	allSeen      bool            // Lead was called: until then, an older application may still come
	podsAreMoved bool            // to where a new tree, a new policy or Lead puts them

	tree    *queueTree
	shares  *shares
	effects *effects
}

// wants reports whether the pod makes its application want to run: it runs, or only a limit, its back-off, room or its turn
// keeps it from running.
func (r *record) wants() bool {
	if r.state == Gone {
		return false
	}
	switch r.blockedBy.Code {
	case "", reason.BackOff:
		return true
	}
	return r.blockedByAppLimit()
}

// blockedByAppLimit reports whether a limit on applications blocks the pod, or that its queue is stopped.
func (r *record) blockedByAppLimit() bool {
	switch r.blockedBy.Code {
	case reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.MaxApplications, reason.UserMaxApplications, reason.QueueStopped:
		return true
	}
	return false
}

// slot says whether the pod's application may run in the leaf, or which limit keeps it out.
func (a *applications) slot(r *record, leaf *queueAccount) (reason.Reason, bool) {
	app := leaf.apps[r.Application]
	if app != nil && app.slot.Runs {
		return reason.Reason{}, true
	}
	if from := r.previousApplication(); from != nil && from != app && from.entry.Runs {
		a.roundLater() // its former application may end and free an entry or a slot, for which an older one may wait
		return reason.Reason{Code: reason.MaxRunningApplications, Queue: string(leaf.path)}, false
	}
	user, submitted := app.with(r)
	return a.fits(leaf, app != nil && app.entry.Runs, user, submitted)
}

// previousApplication is the application that the pod has belonged to until now.
func (r *record) previousApplication() *appAccount {
	if r.app != nil {
		return r.app
	}
	return r.formerApp
}

// with returns the user of the application, and when it was submitted, once the pod is in it: both are those of its oldest
// pod. nil is an application without pods.
func (a *appAccount) with(r *record) (user string, submitted int64) {
	if a != nil && len(a.members) > 0 && a.members[0].older(r) {
		return a.slot.User, a.slot.Submitted
	}
	return r.User, r.Created
}

// fits says whether one more application of the user, submitted then, may run in the leaf, or which limit stops it. entered: the leaf has taken it in.
func (a *applications) fits(leaf *queueAccount, entered bool, user string, submitted int64) (reason.Reason, bool) {
	if !entered {
		if why, fits := a.entries.Fits(&leaf.entries, user, submitted, a.mode()); !fits {
			return why, false
		}
	}
	return a.slots.Fits(&leaf.admission, user, submitted, a.mode())
}

// mode says which new applications may run. No application may start before an older one. So all new applications wait
// while the tree is out of date or pods are being moved. Before the ledger leads, a new application waits if any limit
// covers it. admitWaiting runs afterwards.
func (a *applications) mode() admission.Mode {
	switch {
	case a.tree.stale || a.podsAreMoved:
		return admission.Closed
	case !a.allSeen:
		return admission.Bootstrapping
	}
	return admission.Open
}

// moveBegins notes that pods are being moved: no application gets a slot before all are where they belong. admitWaiting
// runs afterwards and gives the slots, the oldest first.
func (a *applications) moveBegins() { a.podsAreMoved = true }

// moveEnds notes that all pods are where they belong.
func (a *applications) moveEnds() { a.podsAreMoved = false }

// roundLater asks for a round.
func (a *applications) roundLater() { a.due = true }

// limitUsers takes in how many applications of each user may run.
func (a *applications) limitUsers(most queue.Limit) { a.slots.LimitUsers(most) }

// limitPriorities takes in the default priorities and the highest one from the tree. It returns the applications of which the
// priority has changed by that: their place among the others has to be found again.
func (a *applications) limitPriorities() (moved []*appAccount) {
	most := a.tree.root.spec.MaxPriority
	for i := range a.tree.Nodes {
		leaf := a.tree.accounts[a.tree.Nodes[i].Path]
		is := application.Priorities{Default: leaf.spec.DefaultPriority, Capped: most.Stated, Most: int32(most.Most)}
		if leaf.priorities == is {
			continue
		}
		leaf.priorities = is
		for _, name := range sortedKeys(leaf.apps) {
			app := leaf.apps[name]
			if before := app.priority; len(app.members) > 0 {
				if a.seniority(app); app.priority != before {
					moved = append(moved, app)
				}
			}
		}
	}
	return moved
}

// seniority notes what an application has from its oldest pod and its oldest driver.
func (a *applications) seniority(app *appAccount) {
	first, by := app.members[0], app.appDrivers.oldest()
	if by == nil {
		by = first.record
	}
	priority := app.parent.priorities.OfApplication(by.priority())
	if app.priority != priority || app.slot.Submitted != first.Created {
		app.leaveLine() // until it is settled
		if app.parent.stopped() {
			a.roundLater() // it may go on by now
		}
	}
	app.priority = priority
	entry, slot := a.entries.Change(&app.entry, first.User, first.Created), a.slots.Change(&app.slot, first.User, first.Created)
	if entry || slot {
		a.roundLater()
	}
}

// settle keeps the application where its pods put it, after a change of one of them: running, waiting for a slot, refused, or none of these.
func (a *applications) settle(app *appAccount) {
	switch {
	case app.wanting == 0:
		a.entries.Leave(&app.entry)
		if app.entry.Runs {
			a.end(app)
		}
	case app.slot.Runs:
	case app.limited < app.wanting: // some pod runs, or was found to fit
		a.enter(app)
		a.slots.Start(&app.slot)
		a.started(app)
	case app.entry.Runs || a.mayEnter(app):
		a.enter(app)
		a.slots.Wait(&app.slot)
	default:
		a.entries.Wait(&app.entry)
	}
}

// started notes that an application has a slot from now on: its pods that waited for the slot are judged again.
func (a *applications) started(app *appAccount) {
	a.shares.noteActive(app.parent)
	a.judgeLimited(app)
}

// judgeLimited has the pods of an application that a limit on applications blocks judged again.
func (a *applications) judgeLimited(app *appAccount) {
	for _, r := range app.members { // each for itself: order does not matter
		if r.blockedByAppLimit() {
			a.effects.judgeLater(r.record)
		}
	}
}

// end takes an application that has an entry off the numbers, and hands on what it had unless admitWaiting follows.
func (a *applications) end(app *appAccount) {
	var slot admission.Freed
	if app.slot.Runs {
		slot = a.slots.End(&app.slot)
	}
	a.slots.Leave(&app.slot)
	entry := a.entries.End(&app.entry)
	a.shares.noteActive(app.parent)
	if a.mode() == admission.Open && !a.due {
		a.handOn(entry, slot)
	}
}

// accountOf is the account of an application.
func (a *applications) accountOf(of *admission.Application) *appAccount {
	return a.tree.accounts[of.Leaf.Path].apps[of.Name]
}

// round makes a round that is due, unless the tree is out of date: then settle makes it, with a new tree.
func (a *applications) round() {
	a.due = false
	if !a.tree.stale {
		a.admitWaiting()
	}
}

// admitWaiting lets every application in that now fits, in order of submission, and has the pods of the others judged again
// if another limit keeps them out now.
func (a *applications) admitWaiting() {
	mode := a.mode()
	a.takeIn(mode)
	for _, of := range a.slots.Admit(mode) {
		a.started(a.accountOf(of))
	}
	for _, s := range []*admission.Slots{&a.entries, &a.slots} {
		for _, of := range s.Waiting() {
			why, _ := s.Fits(of.Leaf, of.User, of.Submitted, mode)
			for _, e := range a.accountOf(of).members {
				if e.blockedByAppLimit() && !sameLimit(e.blockedBy, why) {
					a.effects.judgeLater(e.record)
				}
			}
		}
	}
	a.due, a.reasonsAsOf = false, a.revision()
}

// revision grows whenever a number changes on which a limit depends.
func (a *applications) revision() uint64 { return a.entries.Revision() + a.slots.Revision() }

// updateReasons finds out again which limit stops each application that waits, and reports whether that may have changed.
// Only the writer of conditions has it done, since a slot that changes hands may change it for all of them. A read works it
// out for one pod: see blockNow.
func (a *applications) updateReasons() bool {
	if !a.allSeen || a.reasonsAsOf == a.revision() {
		return false
	}
	a.admitWaiting()
	return true
}

// updateSlotReasons is updateReasons with what follows from it.
func (l *consequences) updateSlotReasons() {
	if l.applications.updateReasons() {
		l.drain()
	}
}

// limitNow is the limit on applications that keeps the pod out, in the numbers of now; false: none does, or it is not known
// before the next step.
func (a *applications) limitNow(r *record) (reason.Reason, bool) {
	if !r.blockedByAppLimit() || a.tree.stale {
		return reason.Reason{}, false
	}
	why, fits := a.fits(r.leaf, r.app.entry.Runs, r.app.slot.User, r.app.slot.Submitted)
	return why, !fits
}

// blockNow is what blocks a pod: the reason that its condition shows, unless another limit on applications applies by now.
// If only its numbers moved, the reason stays. What blocks a driver blocks those that wait with it.
func (a *applications) blockNow(r *record) reason.Reason {
	if r.blockedBy.Code == reason.WaitingForDriver {
		if driver := r.app.firstWaiting(); driver != nil {
			return withDriver(driver, a.blockNow(driver))
		}
	}
	if why, out := a.limitNow(r); out && !sameLimit(why, r.blockedBy) {
		return why
	}
	return r.blockedBy
}

// lead notes that all applications have been seen.
func (a *applications) lead() { a.allSeen = true }

// takeBack ends an application that was let in before all objects were seen, if a limit concerns it and it holds nothing. It
// returns its pods, which wait for a slot from now on.
func (a *applications) takeBack(app *appAccount) (kept []*record) {
	if !app.entry.Runs || app.holds() {
		return nil
	}
	_, mayEnter := a.entries.Fits(&app.parent.entries, app.slot.User, app.slot.Submitted, admission.Bootstrapping)
	_, mayRun := a.slots.Fits(&app.parent.admission, app.slot.User, app.slot.Submitted, admission.Bootstrapping)
	if mayEnter && (mayRun || !app.slot.Runs) {
		return nil // no limit concerns it
	}
	return a.putOut(app)
}

// takeBackTooMany takes the slots back from the applications that hold nothing where a limit has been lowered below the number of those that run. They
// wait, and get what is left in order of submission, as after a restart. It returns their pods, which are to wait from now on.
func (a *applications) takeBackTooMany() (kept []*record) {
	var out []*appAccount
	for i := range a.tree.Nodes {
		leaf := a.tree.accounts[a.tree.Nodes[i].Path]
		for _, app := range leaf.apps { // sorted below
			if app.slot.Runs && a.slots.TooMany(&app.slot) && !app.holds() {
				out = append(out, app)
			}
		}
	}
	slices.SortFunc(out, bySubmission)
	for _, app := range out {
		a.slots.End(&app.slot)
		a.slots.Wait(&app.slot)
		a.shares.noteActive(app.parent)
		kept = append(kept, app.wantToRun()...)
	}
	return kept
}

// putOut ends an application, and returns its pods that are to wait for a slot from now on.
func (a *applications) putOut(app *appAccount) (kept []*record) {
	a.end(app)
	return app.wantToRun()
}

// wantToRun are the pods of the application that want to run.
func (a *appAccount) wantToRun() (all []*record) {
	for _, r := range a.members { // each for itself: order does not matter
		if r.wants() {
			all = append(all, r.record)
		}
	}
	return all
}

// bySubmission is the order in which applications are shown.
func bySubmission(a, b *appAccount) int { return admission.Compare(&a.slot, &b.slot) }
