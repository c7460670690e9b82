package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// Rehearsal goes through the next releases on a ledger that nobody else uses. It charges the pods that would be released, can tell
// which comparisons decided, takes charges back, and tries the same again with other limits or more nodes. Nothing is released, no
// attempt is made and no time passes. A class may be charged while some node has room for it by the numbers, unless one of its pods
// shows that it fitted no node all the same.
type Rehearsal struct {
	ledger  *Ledger
	charged []*record
	parked  map[*class]bool // classes that have room on the nodes as they are, although a pod of theirs shows that it fitted none
	watch   []*Threshold

	// fresh: what is known of the room of classes still holds. A class is looked at when its turn comes. If it has no room then, it is not
	// looked at again, since charges only take room.
	fresh, roomy bool
	remembered   map[*class]seen // see RememberNodes

	stops map[queue.Path]int64 // since when queues were stopped before the first change of one: see Readmit

	// The others of a group of which a pod was charged, and where they go.
	group  []*record
	places []*node

	ended []endedHold // the last of them last
}

// Charge is a release as rehearsed.
type Charge struct {
	UID       UID
	Decisions []Decision // from the root down, where asked for
}

// Decision is one step of the way from the root to the pod: which child of a queue, or application of a leaf, was chosen, which was the
// next best, and what decided.
type Decision struct {
	At     queue.Path
	Rule   queue.Rule // of that queue
	Chosen Competitor
	// Over is the best of the others that had something to release; without a Name there was none.
	Over Competitor
	By   ordering.Criterion
	// Node has the room that is kept for the pod, where that decided: then there is no other.
	Node string
	// Asking: a queue above has its turn because of its guarantee, so only pods that ask for what it lacks take part.
	Asking bool
}

// ByNomination is that room is kept for the pod, and is there. Such a pod goes before the order of queues.
const ByNomination ordering.Criterion = "nomination"

// Competitor is a queue or an application as it stood when it was compared.
type Competitor struct {
	Name      string
	Usage     resource.List
	Below     guarantee.Part // what it has of what it is owed, where it had its turn because it is below its guarantee
	Weight    int64          // milli; with ByCapacity the capacity, in thousandths of a percent
	Priority  int32
	Submitted int64

	ByCapacity bool
}

// Rehearse begins a rehearsal.
func (l *Ledger) Rehearse() *Rehearsal {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &Rehearsal{ledger: l, parked: map[*class]bool{}}
	for _, c := range l.classes.byKey { // each for itself: order does not matter
		h.parked[c] = c.says() != "" && !reason.ReadShownRoom(c.says()).Numbers && l.nodes.roomFor(&c.room) != nil
	}
	return h
}

// Len is the number of charges made and not taken back.
func (h *Rehearsal) Len() int { return len(h.charged) }

// Size is the number of queues and applications, all of which a change of a Queue looks at.
func (h *Rehearsal) Size() int {
	n := len(h.ledger.queues.Nodes)
	for _, a := range h.ledger.queues.accounts { // a sum: order does not matter
		n += len(a.apps)
	}
	return n
}

// Total is what the queues share.
func (h *Rehearsal) Total() resource.List { return h.ledger.shares.total }

// Next charges the pod that would be released next; false: nothing would. roomy: as if every node had room for anything. tell: with
// the decisions, which cost more than the charge.
func (h *Rehearsal) Next(roomy, tell bool) (Charge, bool) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	l.updateSlotReasons()
	l.books.recheckDrivers(&l.queues)
	for _, t := range h.watch {
		t.look(l)
	}
	if !h.fresh || h.roomy != roomy {
		h.beginWalk(roomy)
	}
	r, place := h.nextOfGroup()
	if r == nil {
		r, place = h.nextNominated()
	}
	nominated := r != nil && place != nil && r.nominatedNode() == place
	if r == nil {
		r = h.turn(l.queues.root, l.books.lanesBelow(l.queues.root))
		l.walk.refreshStale()
		if r == nil {
			return Charge{}, false
		}
		if !roomy {
			place = l.nodes.roomFor(&r.class.room)
		}
		if len(h.group) > 0 {
			place = h.places[0]
			h.group, h.places = h.group[1:], h.places[1:]
		}
	}
	c := Charge{UID: r.UID}
	switch {
	case tell && nominated && !r.group.startsTogether():
		c.Decisions = []Decision{{At: queue.Root, Chosen: r.app.competitor(), By: ByNomination, Node: place.Name}}
	case tell:
		group, places := h.group, h.places
		c.Decisions = h.decisions(r)
		h.group, h.places = group, places
	}
	r.alone = r.startsAlone()
	l.set(r, r.leaf, Released, reason.Reason{})
	l.settleApplications()
	l.nodes.assume(r, place)
	h.charged = append(h.charged, r)
	if r.group != nil {
		r.group.count()
	}
	h.openHeld(r, place)
	return c, true
}

// nextOfGroup returns the next pod of the group of which the last charge was.
func (h *Rehearsal) nextOfGroup() (*record, *node) {
	for len(h.group) > 0 {
		r, place := h.group[0], h.places[0]
		h.group, h.places = h.group[1:], h.places[1:]
		if r.state == Waiting && r.InQueue() {
			return r, place
		}
	}
	return nil, nil
}

// nextNominated returns a nominated pod whose room is there: it goes before the order of queues. A nomination that is not owed by now, and has no claim, ends
// before that. Pods of groups go in their groups' turn.
func (h *Rehearsal) nextNominated() (*record, *node) {
	l := h.ledger
	for _, r := range l.nominations.pods { // in the order in which they were given
		if !r.group.startsTogether() && l.nominatedMayGo(r) && (r.nomination.claim != nil || l.mayKeepFor(r, l.now)) {
			return r, r.nomination.node
		}
	}
	return nil, nil
}

// mayReleaseGroup reports whether all pods that the pod's group needs may be charged, and keeps them for the next charges.
func (h *Rehearsal) mayReleaseGroup(r *record) bool {
	l, g := h.ledger, r.group
	g.count()
	pods := g.next(g.Need())
	if len(pods) < g.Need() || len(pods) == 0 {
		return len(pods) == g.Need()
	}
	if _, over := l.walk.exceedsMax(g, pods); over || !l.admits(pods) {
		return false
	}
	places := make([]*node, len(pods))
	if !h.roomy && !l.opts.Extenders {
		if places, _, _ = l.nodes.pack(packingOf(g, pods, l.shares.total), false); places == nil {
			return false
		}
	}
	h.group, h.places = pods, places
	return true
}

// beginWalk begins a walk of the classes that may have room.
func (h *Rehearsal) beginWalk(roomy bool) {
	l := h.ledger
	h.fresh, h.roomy = true, roomy
	l.walk.begin(func(c *class) bool { return roomy || !h.parked[c] })
}

// turn returns the pod below a queue whose turn it is, of the classes that have room.
func (h *Rehearsal) turn(a *queueAccount, lanes book.Lanes) *record {
	return h.withRoom(func() *record { return h.ledger.walk.next(a, lanes) })
}

// withRoom returns the first of the pods that next finds that has room. It leaves out the classes of the others.
func (h *Rehearsal) withRoom(next func() *record) *record {
	l := h.ledger
	for {
		r := next()
		switch {
		case r == nil:
			return nil
		case r.group.startsTogether():
			h.group, h.places = nil, nil
			if h.mayReleaseGroup(r) {
				if len(h.group) > 0 {
					return h.group[0]
				}
				return r
			}
		case h.roomy || l.nodes.roomFor(&r.class.room) != nil:
			if under := l.nominations.exceedMax(r); under != nil {
				l.walk.block(r.class, under)
				continue
			}
			return r
		}
		l.walk.leaveOut(r.class)
	}
}

// Back takes charges back until n are left.
func (h *Rehearsal) Back(n int) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	for len(h.charged) > n {
		last := len(h.charged) - 1
		r := h.charged[last]
		h.charged = h.charged[:last]
		l.set(r, r.leaf, Waiting, reason.Reason{})
		l.settleApplications()
		if r.group != nil {
			r.group.count()
		}
	}
	h.group, h.places = nil, nil
	h.holdAgain()
	h.restoreSeen()
}

// RememberNodes remembers what classes know of the nodes, for every time that Back returns to this point; with false it forgets that again.
func (h *Rehearsal) RememberNodes(on bool) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	h.remembered = nil
	if on {
		h.remembered = make(map[*class]seen, len(l.classes.byKey))
		for _, c := range l.classes.byKey { // each for itself: order does not matter
			h.remembered[c] = c.seen
		}
	}
}

// restoreSeen lets classes look for room from the first node on again, or from where they stood, so that the same try always fills the same
// nodes: one after the other, in the order in which they were observed.
func (h *Rehearsal) restoreSeen() {
	h.fresh = false
	for _, c := range h.ledger.classes.byKey { // each for itself: order does not matter
		c.seen = h.remembered[c]
	}
}

// Readmit lets the applications that hold nothing compete for slots again, as after a restart: a limit that was raised for a try has let
// some in, and lowering it again puts none out. A queue that was started for a try is stopped since the time it was before.
func (h *Rehearsal) Readmit() {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	h.fresh = false
	l.queues.restoreStops(h.stops)
	l.lead()
}

// decisions are the steps from the root to the pod, before it is charged.
func (h *Rehearsal) decisions(r *record) []Decision {
	var path []*queueAccount
	for a := r.leaf; a.parent != nil; a = a.parent {
		path = append(path, a)
	}
	slices.Reverse(path)
	ds := make([]Decision, 0, len(path)+1)
	w := &h.ledger.walk
	open := w.open & h.ledger.books.lanesBelow(h.ledger.queues.root) // as Next walks
	for _, a := range path {
		d := Decision{At: a.parent.path, Rule: a.parent.spec.Rule(), Chosen: a.competitor(), Asking: len(w.asking) > 0}
		below := h.hasTurnBelow(a, open)
		if below {
			d.Chosen.Below = a.smallestPart()
		}
		if !below || !h.rivalBelow(a, open, &d) {
			h.rival(a, open, &d)
			if below && d.Over.Name != "" {
				d.By = ordering.CriterionGuarantee
			}
		}
		ds = append(ds, d)
		open &= h.ledger.books.lanesBelow(a)
		if below {
			w.ask(a.lacking())
		}
	}
	ds = append(ds, h.decisionInLeaf(r.app, open))
	w.askForNothing()
	return ds
}

// decisionInLeaf is the last step: from the leaf to the application.
func (h *Rehearsal) decisionInLeaf(app *appAccount, open book.Lanes) Decision {
	leaf, w := app.parent, &h.ledger.walk
	d := Decision{At: leaf.path, Rule: leaf.spec.Rule(), Chosen: app.competitor(), Asking: len(w.asking) > 0}
	for c := leaf.firstApplication(open, nil); c != nil; c = leaf.firstApplication(open, c) {
		if c.Owner() != app && h.withRoom(func() *record { return w.nextOf(c.Owner(), open&c.Own()) }) != nil {
			d.Over = c.Owner().competitor()
			_, d.By = app.inOrder.Compare(c.Competitor)
			break
		}
	}
	return d
}

// hasTurnBelow reports whether a queue has its turn because it is below its guarantee: with a pod that asks for what it lacks.
func (h *Rehearsal) hasTurnBelow(a *queueAccount, open book.Lanes) bool {
	return len(a.lacking()) > 0 && h.turnBelow(a, open&a.parent.guarantees().below.OwnOf(&a.guarantee.inBelow)) != nil
}

func (h *Rehearsal) turnBelow(a *queueAccount, open book.Lanes) *record {
	h.ledger.walk.ask(a.lacking())
	defer h.ledger.walk.askNoMore()
	return h.turn(a, open)
}

// rivalBelow notes the best of the others that are below their guarantees too; false: there is none with a pod that asks for what it lacks.
func (h *Rehearsal) rivalBelow(a *queueAccount, open book.Lanes, d *Decision) bool {
	for c := a.parent.firstBelow(open, nil); c != nil; c = a.parent.firstBelow(open, c) {
		if c.Owner() != a && h.turnBelow(c.Owner(), open&c.Own()) != nil {
			d.Over = c.Owner().competitor()
			d.Over.Below = c.Owner().smallestPart()
			_, d.By = a.guarantee.inBelow.Compare(c.Competitor)
			return true
		}
	}
	return false
}

// rival notes the best of the others by their shares, if any has something to release.
func (h *Rehearsal) rival(a *queueAccount, open book.Lanes, d *Decision) {
	for c := a.parent.queueOrder.First(open, nil); c != nil; c = a.parent.queueOrder.First(open, c) {
		if c.Owner() != a && h.turn(c.Owner(), open&c.Own()) != nil {
			d.Over = c.Owner().competitor()
			_, d.By = a.inOrder.Compare(c.Competitor)
			return
		}
	}
}

func (a *queueAccount) competitor() Competitor {
	return Competitor{Name: string(a.path), Usage: a.standing().List(), Weight: a.spec.Weight, ByCapacity: a.spec.Capacity.Stated}
}

func (a *appAccount) competitor() Competitor {
	return Competitor{Name: a.slot.Name, Usage: a.usage.List(), Weight: queue.DefaultWeight, Priority: a.priority, Submitted: a.slot.Submitted}
}

// Stopped says what keeps a waiting pod from being charged now: a rule that blocks it, a limit, room, or nothing but its turn.
func (h *Rehearsal) Stopped(uid UID) reason.Reason {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	l.updateSlotReasons()
	r := l.pods[uid]
	if r == nil || r.state != Waiting {
		return reason.Reason{}
	}
	return h.stopped(r)
}

func (h *Rehearsal) stopped(r *record) reason.Reason {
	l := h.ledger
	why := l.why(r)
	switch cause := why.Cause().Code; {
	case why.Code == reason.WaitingForDriver && (cause == reason.WaitingTurn || cause == reason.GangWaitsForRoom):
		driver := r.app.firstWaiting()
		return withDriver(driver, h.stopped(driver))
	case why.Code == reason.GangWaitsForRoom:
		return l.withShare(r.group, why)
	case why.Code != reason.WaitingTurn:
	case l.nodes.roomFor(&r.class.room) == nil:
		return l.noRoom(r)
	case h.parked[r.class]:
		return reason.Reason{Code: reason.Parked, Queue: why.Queue, Details: reason.Answer{Text: r.answer()}}
	}
	return why
}

// Lead is the driver with which a pod waits, or the pod itself if it waits with none.
func (h *Rehearsal) Lead(uid UID) UID {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	if r := l.pods[uid]; r != nil && r.app != nil && r.Role != application.Driver && r.app.podCounts.WaitsForDriver() {
		return r.app.firstWaiting().UID
	}
	return uid
}
