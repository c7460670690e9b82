package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// The gate of a StateAware leaf: while maxStarting of its applications are Starting, no pod of an application at the gate is released.
// At the gate are those that are Accepted, except one that is known to have only one pod. An open gate lets any of them pass, in their
// order, and an application takes its place among the Starting only when it holds something. So the gate never waits for an application
// that cannot start. Applications at the gate have an order book of their own, so that the gate opens and closes at no cost.

// stage is how far an application has come, and what that follows from. Every charge touches it, so it is small.
type stage struct {
	state  application.State
	stated bool // counted in the states of its queues
	atGate bool
	inLine bool
	// counted: all of its demand counts in that of its leaf; else only what it uses.
	counted   bool
	progress  application.Progress
	podCounts application.Pods
	singles   int32 // pods that are said to be the only one
	asking    int32 // pods that count as demand
}

// beginning is what only an application that is starting has, or that is at a gate.
type beginning struct {
	began    int64 // when it began to be Starting
	turn     uint64
	until    int64  // when it ceases to be Starting at the latest
	inStarts int    // place among the timers
	passing  uint64 // the last time it was among those that an open gate lets pass
}

// gates is what a leaf knows of its gate.
type gates struct {
	starting       []*appAccount // in the order in which they began
	accepted       []*appAccount // those at the gate that ask for something, in their order
	passed         []*appAccount // those of accepted that would be let pass, were there room
	startDurations []int64       // of the last starts, the newest last
}

// startTimers owns which applications are starting, in all StateAware leaves, and how long they may be. It hears of every change of an application
// (restate), of what a queue declares (gatesChanged), and of the time (due). What it says stands in the accounts: the state of an application, whether
// it waits at its gate, and whether its demand counts.
type startTimers struct {
	timers  []startEntry    // a heap
	turns   uint64          // of applications that began to start
	changed []*queueAccount // leaves of which the gate was set otherwise
	passes  uint64
}

type startEntry struct{ *appAccount }

func (e *startEntry) Before(o *startEntry) bool { return leavesFirst(e.appAccount, o.appAccount) < 0 }
func (e *startEntry) Moved(to int)              { e.inStarts = to }

// leavesFirst is the order in which applications leave Starting at the latest.
func leavesFirst(a, b *appAccount) int {
	return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.turn, b.turn))
}

// gateIsOpen reports whether one more application of the leaf may start.
func (a *queueAccount) gateIsOpen() bool { return int64(len(a.starting)) < a.spec.Starters() }

// book is where the application competes.
func (a *appAccount) book() *book.Order[*appAccount] {
	if a.atGate {
		return &a.parent.gateOrder
	}
	return &a.parent.appOrder
}

// firstApplication returns the first of the leaf's applications after the given one (nil: of all) that has one of the lanes.
func (a *queueAccount) firstApplication(open book.Lanes, after *book.Entry[*appAccount]) *book.Entry[*appAccount] {
	c := a.appOrder.First(open, after)
	if !a.gated || !a.gateIsOpen() {
		return c
	}
	if g := a.gateOrder.First(open, after); g != nil && (c == nil || g.Before(c)) {
		return g
	}
	return c
}

// ask puts the demand of one pod on the application, or takes it off.
func (a *appAccount) ask(d resource.List, sign int) {
	a.asking += int32(sign)
	addSigned(&a.demand, d, sign)
	if a.counted {
		a.demandOfUser(d, sign)
		a.parent.addDemand(d, sign)
	}
}

// tally counts a pod in the numbers from which its application's state follows, or takes it off.
func (r *record) tally(s State, sign int, now int64) {
	a, n := r.app, int32(sign)
	if r.Single {
		a.singles += n
	}
	p := &a.podCounts
	driver := n * int32(btoi(r.Role == application.Driver))
	p.Drivers += driver
	switch {
	case !s.charged():
		p.Waiting += n
		p.WaitingDrivers += driver
	case r.Terminating:
		p.Leaving += n
	default:
		p.Holding += n
		p.HoldingDrivers += driver
	}
	if s != Bound || r.Terminating {
		return
	}
	p.Bound += n
	switch r.Role {
	case application.Driver:
		p.BoundDrivers += n
	case application.Executor:
		p.BoundExecutors += n
	case application.None:
	}
	if sign > 0 {
		a.progress = a.progress.Bound(r.Bound, now)
	}
}

// inDoubt reports whether the pod may be bound although its binding failed: the answer may have been lost, or an earlier process may have
// sent a binding, too. Until its back-off is over, it counts as holding something; else a second application could pass the gate meanwhile.
// By then the watch has shown whether it is bound. Only the first failure in a row counts: an application that cannot be bound must not
// keep the gate closed.
func (r *record) inDoubt() bool {
	return r.doubtful && r.state == Waiting && r.blockedBy.Code == reason.BackOff
}

func (a *appAccount) doubt(n int) {
	a.podCounts.Holding += int32(n)
	a.podCounts.Waiting -= int32(n)
}

// restate brings the state of an application up to date with its pods, and with it the gate. The caller refreshes the application.
func (t *startTimers) restate(a *appAccount, now int64, leading bool) {
	leaf, exists := a.parent, len(a.members) > 0
	t.look(a, leading)
	is := application.StateOf(a.podCounts, application.Start{Gated: leaf.gated, Single: a.single(), Started: a.progress.Started})
	if is != a.state || exists != a.stated {
		t.move(a, is, exists, now)
	}
	if !leaf.gated {
		t.untime(a)
	}
	if !leaf.gated && !a.atGate && !a.inLine && len(leaf.passed) == 0 {
		return // as in most queues
	}
	if leaf.gated && a.state == application.Starting && exists {
		t.time(a)
	}
	if at := exists && leaf.gated && is == application.Accepted && !a.single(); at != a.atGate {
		a.book().Offer(&a.inOrder, 0)
		a.atGate = at
	}
	if in := a.atGate && a.asking > 0; in != a.inLine {
		a.leaveLine()
		if in {
			i, _ := slices.BinarySearchFunc(leaf.accepted, a, startingOrder)
			leaf.accepted, a.inLine = slices.Insert(leaf.accepted, i, a), true
		}
	}
	t.regate(leaf)
	a.count(!a.atGate || slices.Contains(leaf.passed, a))
}

// single: the application is known to be one pod, and is.
func (a *appAccount) single() bool { return a.singles == 1 && len(a.members) == 1 }

// countedDemand is what of an application counts in the demand of its leaf.
func (a *appAccount) countedDemand() *resource.Sum {
	if a.counted {
		return &a.demand
	}
	return &a.usage
}

// count sets whether what the application asks for beyond its usage counts as demand of its leaf.
func (a *appAccount) count(counts bool) {
	if a.counted == counts {
		return
	}
	a.counted = counts
	var asked resource.Sum
	asked.AddSum(&a.demand)
	asked.SubSum(&a.usage)
	if u := a.user; u != nil && counts {
		u.demand.AddSum(&asked)
	} else if u != nil {
		u.demand.SubSum(&asked)
	}
	a.parent.addDemandSum(&asked, sign(counts))
}

// look follows the progress of an application, and learns how long its start took.
func (t *startTimers) look(a *appAccount, leading bool) {
	next, took, measured := a.progress.Next(application.Look{Pods: a.podCounts, Single: a.single(), Leading: leading})
	a.progress = next
	if measured && a.parent.gated {
		t.learn(a.parent, took)
	}
}

// noteMoved notes that a pod of the application came with its node from another queue.
func (a *appAccount) noteMoved() { a.progress = a.progress.Moved(a.podCounts) }

// learn takes a start into account.
func (t *startTimers) learn(leaf *queueAccount, took int64) {
	leaf.startDurations = append(leaf.startDurations, took)
	if n := len(leaf.startDurations) - application.RememberedStarts; n > 0 {
		leaf.startDurations = slices.Delete(leaf.startDurations, 0, n)
	}
	if leaf.spec.StartingTimeout.Adaptive {
		for _, a := range leaf.starting {
			t.time(a)
		}
	}
}

// move counts the application where it is now.
func (t *startTimers) move(a *appAccount, is application.State, exists bool, now int64) {
	if a.stated {
		for up := a.parent; up != nil; up = up.parent {
			up.states[a.state]--
		}
		if a.state == application.Starting {
			t.leave(a)
		}
	}
	a.state, a.stated = is, exists
	if !exists {
		return
	}
	for up := a.parent; up != nil; up = up.parent {
		up.states[a.state]++
	}
	if is == application.Starting {
		t.turns++
		a.turn, a.began = t.turns, now
		a.parent.starting = append(a.parent.starting, a)
	}
}

func (t *startTimers) leave(a *appAccount) {
	i := slices.Index(a.parent.starting, a)
	a.parent.starting = slices.Delete(a.parent.starting, i, i+1)
	t.untime(a)
}

// untime: nothing but its pods ends its start.
func (t *startTimers) untime(a *appAccount) {
	if a.inStarts != notIn {
		t.timers = heap.Remove(t.timers, a.inStarts)
	}
}

// time sets when the application ceases to be Starting at the latest.
func (t *startTimers) time(a *appAccount) {
	timeout, _ := a.parent.startingTimeout()
	until := resource.SatAdd(a.since(), timeout)
	if a.inStarts != notIn {
		if until == a.until {
			return
		}
		t.timers = heap.Remove(t.timers, a.inStarts)
	}
	a.until = until
	t.timers = heap.Push(t.timers, startEntry{a})
}

func (a *appAccount) since() int64 { return a.progress.Since(a.began) }

// startingTimeout is how long an application of the leaf may be Starting, and the percentile from which that was learnt, if it was.
func (a *queueAccount) startingTimeout() (timeout, percentile int64) {
	switch t := a.spec.StartingTimeout; {
	case t.Adaptive:
		timeout, percentile, _ = application.LearntTimeout(a.startDurations)
		return timeout, percentile
	case t.Nanoseconds > 0:
		return t.Nanoseconds, 0
	}
	return application.DefaultStartingTimeout, 0
}

// due returns the first application that has been Starting for long enough, nil if none has.
func (t *startTimers) due(now int64) *appAccount {
	if len(t.timers) == 0 || t.timers[0].until > now {
		return nil
	}
	return t.timers[0].appAccount
}

// endStarts has the applications leave Starting that have been so for long enough.
func (l *moves) endStarts(now int64) {
	for a := l.startTimers.due(now); a != nil; a = l.startTimers.due(now) {
		l.markStarted(a)
		l.version++
	}
}

// markStarted has an application leave Starting for good.
func (l *moves) markStarted(a *appAccount) {
	a.progress.Started = true
	l.startTimers.restate(a, l.now, l.leading)
	l.books.refreshApplication(a)
}

// leaveLine takes the application out of the line at its gate.
func (a *appAccount) leaveLine() {
	if a.inLine {
		i, _ := slices.BinarySearchFunc(a.parent.accepted, a, startingOrder)
		a.parent.accepted, a.inLine = slices.Delete(a.parent.accepted, i, i+1), false
	}
}

// startingOrder is FIFO.
func startingOrder(a, b *appAccount) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.slot.Submitted, b.slot.Submitted), queue.ComparePaths(queue.Path(a.slot.Name), queue.Path(b.slot.Name)))
}

// regate brings up to date which applications at the gate count as demand: only as many as the gate would let start now, in their order.
func (t *startTimers) regate(leaf *queueAccount) {
	n := 0
	if leaf.gated && leaf.gateIsOpen() {
		n = int(min(leaf.spec.Starters()-int64(len(leaf.starting)), int64(len(leaf.accepted))))
	}
	if slices.Equal(leaf.accepted[:n], leaf.passed) {
		return
	}
	t.passes++
	for _, a := range leaf.accepted[:n] {
		a.passing = t.passes
		a.count(true)
	}
	for _, a := range leaf.passed {
		if a.passing != t.passes && a.atGate {
			a.count(false)
		}
	}
	leaf.passed = append(leaf.passed[:0], leaf.accepted[:n]...)
}

// gatesChanged notes leaves of which the gate was set otherwise.
func (t *startTimers) gatesChanged(leaves []*queueAccount) { t.changed = append(t.changed, leaves...) }

// takeChanged returns these leaves, and forgets them.
func (t *startTimers) takeChanged() []*queueAccount {
	leaves := t.changed
	t.changed = nil
	return leaves
}

// resetGates applies what the specs of leaves say now.
func (l *moves) resetGates() {
	for _, leaf := range l.startTimers.takeChanged() {
		for _, name := range sortedKeys(leaf.apps) {
			app := leaf.apps[name]
			l.startTimers.restate(app, l.now, l.leading)
			l.books.offerApplication(app)
		}
		l.startTimers.regate(leaf)
	}
}

// behind says behind whom an application waits at the gate.
func (a *appAccount) behind() reason.Reason {
	leaf := a.parent
	why := reason.Reason{Code: reason.StateAware, Queue: string(leaf.path)}
	start := reason.Start{Most: leaf.spec.Starters()}
	_, start.Took = leaf.startingTimeout()
	var next *appAccount
	for _, o := range leaf.starting {
		if o != a && (next == nil || leavesFirst(o, next) < 0) {
			next = o
		}
	}
	if next != nil {
		start.Next, start.Since, start.Until = next.slot.Name, next.since(), next.until
	}
	i, _ := slices.BinarySearchFunc(leaf.accepted, a, startingOrder)
	start.Position = int64(i) + 1
	why.Details = start
	return why
}

// startsTooMany reports whether a released pod must go back because more applications are starting than the gate allows. Its application yields if
// none of its pods has a node, and maxStarting others have one or began to start earlier. That happens if somebody else bound a pod of
// another application, or if maxStarting was lowered.
func (r *record) startsTooMany() (reason.Reason, bool) {
	a := r.app
	if a.state != application.Starting || a.podCounts.Bound > 0 {
		return reason.Reason{}, false
	}
	others := int64(0)
	for _, o := range a.parent.starting {
		others += int64(btoi(o != a && (o.podCounts.Bound > 0 || o.turn < a.turn)))
	}
	if others < a.parent.spec.Starters() {
		return reason.Reason{}, false
	}
	return a.behind(), true
}

// firstInLine is how many applications at the front of the line have their conditions written again at each change before them.
const firstInLine = 10

// saysEnough reports whether what the condition of a pod at a gate says is still true, and enough for a pod that is not among the first in
// line. Otherwise each start of an application would cause a write for every pod of a long line.
func saysEnough(told, is reason.Reason, now int64) bool {
	if is.Code != reason.StateAware || told.Code != is.Code || told.Queue != is.Queue {
		return false
	}
	was, start := reason.As[reason.Start](told), reason.As[reason.Start](is)
	return was.Most == start.Most && start.Position > firstInLine && was.Until > now
}

// gateAt is the gate of a leaf for its status, nil where it has none.
func (a *queueAccount) gateAt(now int64) *GateStatus {
	if !a.gated {
		return nil
	}
	s := &GateStatus{Memory: queue.Memory{Starts: slices.Clone(a.startDurations)}}
	s.Timeout, s.Percentile = a.startingTimeout()
	for _, app := range a.starting {
		if app.progress.FirstBound != 0 {
			s.Starting = append(s.Starting, StartingApplication{Application: app.slot.Name, Since: app.since(), Until: app.until})
		}
	}
	slices.SortFunc(s.Starting, func(a, b StartingApplication) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.Application, b.Application))
	})
	for _, name := range sortedKeys(a.apps) {
		app := a.apps[name]
		// A restarted ledger counts the start from the oldest pod that still exists; in the worst case that is the pod bound last.
		if app.progress.Started && !app.podCounts.Progresses() && !app.single() && resource.SatAdd(app.progress.LastBound, s.Timeout) > now {
			s.Memory.Started = append(s.Memory.Started, name)
		}
	}
	return s
}

// GateStatus is the gate of a StateAware leaf, as its status shows it and a restart needs it.
type GateStatus struct {
	// Timeout is how long an application may be starting, in nanoseconds. Percentile is that of the last starts (see
	// application.LearntTimeout) from which it was learnt; 0 where it was not.
	Timeout, Percentile int64
	// Starting are the applications that are starting and have a node, in the order in which they leave that state at the latest.
	Starting []StartingApplication
	Memory   queue.Memory
}

// StartingApplication is an application that is starting.
type StartingApplication struct {
	Application  string
	Since, Until int64 // unix nanoseconds; Until: at the latest
}
