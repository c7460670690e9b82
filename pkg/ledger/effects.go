package ledger

// effects are the consequences of a change that are still to be drawn. A change of a pod, a queue or a group writes them down here and returns, and
// drain draws them one after the other. So no change ever runs inside another one, and every method may assume that what it reads is complete. Whether
// applications that wait for a slot are to be looked at is noted by applications (due).
//
// Invariant: there are none when the lock is given up (checkUndrawn). ADR 0024 names the modes that say what kind of change runs.
type effects struct {
	apps   fifo[*appAccount] // to be settled: see settleApplication
	pods   fifo[*record]     // to be judged again: see judge
	groups fifo[*group]      // to be reviewed: see reviewGroup
	labels fifo[*record]     // pods that wait again, and say something else of themselves by now: see relabel
}

// settleLater asks for an application to be settled.
func (e *effects) settleLater(app *appAccount) {
	if app != nil && !app.unsettled {
		app.unsettled = true
		e.apps.push(app)
	}
}

// judgeLater asks for a pod to be judged again.
func (e *effects) judgeLater(r *record) {
	if !r.unjudged {
		r.unjudged = true
		e.pods.push(r)
	}
}

// judgeGroupLater asks for the pods of a group to be judged again, since its declaration changed, or enough of them exist or do not.
func (e *effects) judgeGroupLater(g *group) {
	for _, r := range g.pods { // each for itself: order does not matter
		switch r.state {
		case Waiting, Parked:
			e.judgeLater(r)
		case Bound:
			r.touch() // a plan is to know with whom it goes
		case Released, Reserved, Gone:
		}
	}
}

// reviewLater asks for a group to be reviewed.
func (e *effects) reviewLater(g *group) {
	if g != nil && !g.unreviewed {
		g.unreviewed = true
		e.groups.push(g)
	}
}

// drain draws all consequences, and those that follow from them, in this order:
//
//  1. Applications: their state, gate, place in the order books, and slot. First, so that a slot that a pod was promised is taken before the next
//     pod asks for one.
//  2. Pods that are to be judged again, one at a time: each may give or take a slot.
//  3. Applications that wait for a slot: see applications.round.
//  4. Groups, once all of their pods have moved.
//  5. Pods that were relabelled while they were charged, as if their labels changed now: what they gave back is handed on before.
//
// It ends: a pod that is judged again without a change causes nothing, each application starts at most once for each slot that was freed, and a
// group is reviewed only when one of its pods has moved.
func (l *consequences) drain() {
	for e := &l.effects; ; {
		switch {
		case e.apps.some():
			l.settleApplications()
		case e.pods.some():
			r := e.pods.pop()
			r.unjudged = false
			l.judge(r)
		case l.applications.due:
			l.applications.round()
		case e.groups.some():
			g := e.groups.pop()
			g.unreviewed = false
			l.reviewGroup(g)
		case e.labels.some():
			l.relabel(e.labels.pop())
		default:
			return
		}
	}
}

// settleApplications settles the applications of which a pod has changed, and draws no other consequence.
func (l *consequences) settleApplications() {
	for l.effects.apps.some() {
		app := l.effects.apps.pop()
		app.unsettled = false
		l.settleApplication(app)
	}
}

// settleApplication brings an application up to date with its pods: its state, its gate, what blocks its drivers, its place in the order
// books, its slot.
func (l *consequences) settleApplication(app *appAccount) {
	if len(app.members) == 0 && app.parent.apps[app.slot.Name] == app {
		delete(app.parent.apps, app.slot.Name)
	}
	l.startTimers.restate(app, l.now, l.leading)
	l.followDrivers(app)
	l.books.refreshApplication(app)
	l.applications.settle(app)
	for _, r := range l.applications.takeBackStopped(app) {
		l.judge(r)
	}
}

// judge asks again what blocks a pod that waits or is parked.
func (l *consequences) judge(r *record) {
	switch r.state {
	case Waiting:
		l.wait(r, l.now)
	case Parked:
		l.rejudgeParked(r)
	case Released, Reserved, Bound, Gone:
	}
}

// fifo is a queue that reuses its memory.
type fifo[T any] struct {
	items []T
	first int
}

func (q *fifo[T]) some() bool { return len(q.items) > 0 }

func (q *fifo[T]) push(x T) { q.items = append(q.items, x) }

func (q *fifo[T]) pop() T {
	var none T
	x := q.items[q.first]
	q.items[q.first] = none
	if q.first++; q.first == len(q.items) {
		q.items, q.first = q.items[:0], 0
	}
	return x
}
