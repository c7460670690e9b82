package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// set is the only way a pod changes state, reason or queue. It takes back what the old state put on the accounts and puts on what
// the new one asks for, so that no charge is lost or doubled whatever the order of events. leaf nil enters the pod nowhere. What follows for its
// application is left to drain.
func (l *moves) set(r *record, leaf *queueAccount, s State, blockedBy reason.Reason) {
	was, old, oldApp, oldState := r.footprint(), r.leaf, r.app, r.state
	if r.leaf != leaf {
		l.undo(r, was, footprint{})
		l.leave(r)
	}
	r.state = s
	if r.blockedBy.Code != "" || blockedBy.Code != "" { // mostly neither is: a release writes no memory that it need not
		r.blockedBy = blockedBy
	}
	will := r.footprint()
	if r.leaf != leaf {
		l.enter(r, leaf)
		l.redo(r, footprint{}, will)
	} else {
		l.undo(r, was, will)
		l.recount(r, oldState)
		l.redo(r, was, will)
	}
	if d := &l.inspection.addition; d.leaf != nil && (d.leaf == old || d.leaf == r.leaf) {
		d.follow(r, old, oldApp, was, oldState, will)
	}
	l.afterSet(r, old, oldState, was, will)
	l.effects.settleLater(r.app)
	if oldApp != r.formerApp { // else once the pod is where it belongs now
		l.effects.settleLater(oldApp) // last: the slot it gives back may be for the one that the pod belongs to now
	}
}

// afterSet brings up to date what is not in an account: window, room, nominations, back-off, and which conditions are due.
func (l *moves) afterSet(r *record, old *queueAccount, oldState State, was, will footprint) {
	l.window.moved(r, oldState)
	if !r.state.charged() {
		l.nodes.assume(r, r.nominatedNode())
	}
	if r.nomination != nil {
		l.countNominated(r)
	}
	l.updatePreemption(r)
	l.backOffs.follow(r)
	l.conditions.blockChanged(r, l.trials.underWay)
	if was.charged && !was.byOthers && !l.trials.underWay && old != nil && !old.holdsPlaced() {
		l.queues.emptied(old)
	}
	if was.charged && !l.trials.underWay && (r.state == Waiting || r.state == Parked) {
		l.queues.guard(r.asked, &l.requests) // it waits for that queue, perhaps another one than before
	}
	if r.relabelled != nil && (r.state == Waiting || r.state == Parked) && !l.trials.underWay {
		l.effects.labels.push(r)
	}
	l.version++
}

// updatePreemption ends the nomination of a pod that got a node or is gone, and takes a pod that runs no more off the list of victims.
func (l *moves) updatePreemption(r *record) {
	r.listOnNode()
	r.touch()
	if r.nomination != nil && !l.trials.underWay && (r.state == Reserved || r.state == Bound || r.state == Gone) {
		if c := r.nomination.claim; c != nil && c.starving != nil && r.state == Reserved {
			c.starving.pause = c.starving.pause.Fitted()
		}
		l.endNomination(r)
	}
	if !l.trials.underWay {
		l.nominations.checkStatus(r) // while it was in kube-scheduler's hands nobody looked at that
	}
	if r.victim != nil && !l.trials.underWay && r.state != Bound {
		l.queues.accounts[r.victim.Queue].noteEviction(l.now)
		l.evictions.ended(r, l.now)
		l.version++
	}
}

func (l *moves) undo(r *record, was, will footprint) {
	if r.leaf == nil {
		return
	}
	if was.queued && !will.queued {
		l.books.dequeue(r)
	}
	if was.charged && !will.charged {
		r.app.charge(r.Request, -1)
		r.leaf.direct--
		r.leaf.addDriver(r, -1)
	}
	r.leaf.byOthers -= btoi(was.byOthers && !will.byOthers)
	if was.demands && !will.demands {
		r.app.ask(r.Request, -1)
		r.leaf.askForDriver(r, -1)
	}
	r.app.outstanding -= btoi(was.outstanding() && !will.outstanding())
	r.app.wanting -= btoi(was.wants && !will.wants)
	r.app.limited -= btoi(was.limited && !will.limited)
	if was.doubted && !will.doubted {
		r.app.doubt(-1)
	}
	r.app.stuck -= int32(btoi(was.stuck && !will.stuck))
}

func (l *moves) redo(r *record, was, will footprint) {
	if r.leaf == nil {
		return
	}
	if will.charged && !was.charged {
		r.app.charge(r.Request, 1)
		r.leaf.direct++
		r.leaf.addDriver(r, 1)
	}
	r.leaf.byOthers += btoi(will.byOthers && !was.byOthers)
	if will.demands && !was.demands {
		r.app.ask(r.Request, 1)
		r.leaf.askForDriver(r, 1)
	}
	r.app.outstanding += btoi(will.outstanding() && !was.outstanding())
	r.app.wanting += btoi(will.wants && !was.wants)
	r.app.limited += btoi(will.limited && !was.limited)
	if will.doubted && !was.doubted {
		r.app.doubt(1)
	}
	r.app.stuck += int32(btoi(will.stuck && !was.stuck))
	r.app.appDrivers.changed(r)
	if will.queued && !was.queued {
		l.books.enqueue(r)
	}
}

// addDriver counts a charged driver, or takes it off the count.
func (a *queueAccount) addDriver(r *record, sign int) {
	if r.Role == application.Driver {
		addSigned(&a.drivers, r.Request, sign)
		if r.app.user != nil {
			addSigned(&r.app.user.drivers, r.Request, sign)
		}
		a.driverPods += sign
	}
}

func (a *queueAccount) askForDriver(r *record, sign int) {
	if r.Role == application.Driver {
		addSigned(&a.driverDemand, r.Request, sign)
	}
}

// enter makes the pod a member of its application in the leaf.
func (l *moves) enter(r *record, leaf *queueAccount) {
	if r.leaf = leaf; leaf == nil {
		return
	}
	r.app = leaf.apps[r.Application]
	if r.app == nil {
		r.app = newAppAccount(leaf, r.Application)
		r.app.addedIn = l.inspection.addition.number
		leaf.apps[r.Application] = r.app
	}
	r.app.members = heap.Push(r.app.members, appEntry{r})
	r.app.appDrivers.join(r)
	l.applications.seniority(r.app)
	r.app.countPods(r.state == Bound, 1)
	r.tally(r.state, 1, l.now)
}

func (l *moves) leave(r *record) {
	if r.leaf == nil {
		return
	}
	r.app.members = heap.Remove(r.app.members, r.inApp)
	r.app.appDrivers.quit(r)
	r.app.countPods(r.state == Bound, -1)
	r.tally(r.state, -1, l.now)
	if len(r.app.members) > 0 {
		l.applications.seniority(r.app)
	}
	r.leaf, r.app = nil, nil
}

// recount moves the pod to where its new state counts.
func (l *moves) recount(r *record, old State) {
	if r.leaf == nil || old == r.state {
		return
	}
	if (old == Bound) != (r.state == Bound) {
		r.app.countPods(old == Bound, -1)
		r.app.countPods(r.state == Bound, 1)
	}
	r.tally(old, -1, l.now)
	r.tally(r.state, 1, l.now)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
