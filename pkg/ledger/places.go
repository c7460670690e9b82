package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// A claimant of a plan has a place: its room is taken on its node from then on, also while those that are to go are still there. So the node is
// overfull on the books, nobody else is sent there, and what its victims give back is the claimant's. It is released, before all others, once the
// room is there. A pod that the scheduling framework nominated (upstream's priority preemption, or an earlier process of this scheduler) has one too.

// place is where a waiting pod will run.
type place struct {
	node  *node
	claim *account // whose claim it is, nil for none
	kind  preemption.Kind
	preemption.Nomination
	// roomy is whether its room was there when the node had changed so often, plus one.
	roomy    bool
	lookedAt uint64
	// victims go for it. They may serve other places on the node too.
	victims []*record
}

// preempting is what preemption remembers. Clocks and claims stand in the accounts.
type preempting struct {
	lookedAt   uint64 // the version, plus one, at the last look at the clocks
	recalled   bool   // what statuses remember has been taken into account
	plannedFor uint64 // the version, plus one, at the last round
	pace       preemption.Pace
	placed     []*record
	victims    []*record         // in the order in which they were chosen
	showing    []*record         // that show that they are to go, as their objects say
	renominate []*record         // of which the status may name another node than it should
	withdrawn  map[UID]withdrawn // why pods stay that were victims
	counts     PreemptionCounts
	memory     evictionMemory
}

// givePlace takes room for a waiting pod on a node.
func (l *Ledger) givePlace(r *record, p *place) {
	r.place = p
	if r.group != nil {
		r.group.wait.roomAt = 0 // what it lacked may be there now
	}
	r.stay()
	l.preempting.placed = append(l.preempting.placed, r)
	if r.leaf != nil && !r.state.charged() {
		l.occupy(r, p.node)
	}
	l.nominate(r)
	l.version++
}

// endPlace gives a place back, if the pod has one; its victims stay, unless somebody else needs their room.
func (l *Ledger) endPlace(r *record) {
	p := r.place
	if p == nil {
		return
	}
	r.place = nil
	p.node.changed()
	l.preempting.placed = slices.DeleteFunc(l.preempting.placed, func(o *record) bool { return o == r })
	if !r.state.charged() {
		l.occupy(r, nil)
	}
	r.stay()
	for _, o := range l.parked { // each for itself: a probe may have been kept off the node
		if o != r && l.nodes.fits(p.node, o.class) {
			l.woken = append(l.woken, o.UID)
		}
	}
	l.nominate(r)
	for _, v := range p.victims {
		l.reassign(v, p.node)
	}
	l.version++
}

// losePlace ends the place of a pod that did not fit there after all, and lets its claim pause: more each time, so that plans which the cluster
// does not bear out cannot chase each other.
func (l *Ledger) losePlace(r *record, now int64) {
	if r.place == nil {
		return
	}
	if c := r.place.claim; c != nil && c.starving != nil {
		c.starving.pause = c.starving.pause.Failed(now)
		l.preempting.counts.Stale++
	}
	l.endPlace(r)
}

// tendPlaces ends the places that are of no use any more.
func (l *Ledger) tendPlaces(now int64) {
	known, some := false, false // whether anybody is leaving: a look at all nodes, so at most one
	leaving := func() bool {
		if !known {
			known, some = true, l.someLeave(now)
		}
		return some
	}
	for _, r := range slices.Clone(l.preempting.placed) { // in the order in which they were given
		in := l.nominationInput(r, now)
		in.Idle = r.state == Waiting && in.RoomThere && !leaving()
		in.Blocked = in.Idle && r.InQueue() && l.stopsNow(r)
		var outcome preemption.NominationOutcome
		switch r.place.Nomination, outcome = r.place.Next(in, now); outcome {
		case preemption.Ends:
			l.endPlace(r)
		case preemption.Fails:
			l.losePlace(r, now)
		}
	}
}

// someLeave reports whether anybody is on its way out, and so may make good what a place still lacks.
func (l *Ledger) someLeave(now int64) bool {
	if len(l.preempting.victims) > 0 {
		return true
	}
	for _, e := range l.nodes.all { // any: order does not matter
		if slices.ContainsFunc(e.on, func(r *record) bool { return r.leavingAt(now) }) {
			return true
		}
	}
	return false
}

// nominationInput is what the core asks of a nomination, but for Idle and Blocked.
func (l *Ledger) nominationInput(r *record, now int64) preemption.NominationInput {
	p := r.place
	in := preemption.NominationInput{
		Attempting: r.state == Released, Waiting: r.leaf != nil && (r.state == Waiting || r.state == Parked),
		ObserveOnly: l.queues.root.spec.Preemption.ObserveOnly,
	}
	if in.Attempting || !in.Waiting {
		return in
	}
	in.NodeUsable = p.node.known && p.node.takes(r.class)
	in.GroupIncomplete = r.group.open() && l.placedOf(r.group) < r.group.Need()
	in.RoomThere = l.roomIsThere(r)
	switch c := p.claim; {
	case c == nil:
	case l.queues.accounts[c.path] == c && c.starving != nil && c.starving.clocks[p.kind].Claimed != 0 && r.leaf.isUnder(c):
		in.Claim = preemption.OpenClaim
	default:
		in.Claim = preemption.ClosedClaim
	}
	in.VictimStuck = slices.ContainsFunc(p.victims, func(v *record) bool { return v.Terminating && now > v.Deadline+preemption.Overstay })
	return in
}

// placedOf is how many pods of a group have places.
func (l *Ledger) placedOf(g *group) (n int) {
	for _, r := range g.pods { // a count: order does not matter
		n += btoi(r.place != nil && !r.state.charged())
	}
	return n
}

// roomIsThere reports whether the node has room for the pod by now, whatever others with places on it wait for.
func (l *Ledger) roomIsThere(r *record) bool {
	p := r.place
	if p.lookedAt != p.node.changes+1 {
		p.lookedAt, p.roomy = p.node.changes+1, l.hasRoomFor(r, nil)
	}
	return p.roomy
}

// hasRoomFor is roomIsThere for a pod that starts together with others: they have to have their room on the node too.
func (l *Ledger) hasRoomFor(r *record, together []*record) bool {
	e := r.place.node
	if r.spot != e {
		return false
	}
	for _, v := range r.place.victims {
		if v.victim.unlike {
			return false
		}
	}
	others, pods := e.used.List(), e.spots+e.foreignPods
	for _, o := range e.on {
		if o != r && o.place != nil && !o.state.charged() && !slices.Contains(together, o) {
			others, pods = others.Sub(o.Request), pods-1
		}
	}
	return !l.overfull(e, others, pods, r.Request)
}

// overfull reports whether a node holds too much with these amounts and so many pods on it: too many pods, or more than it has of something that the
// request names.
func (l *Ledger) overfull(e *node, used resource.List, pods int, request resource.List) bool {
	return capacity.Slots(e.Pods, pods) < 0 || l.nodes.capacityOf(e).Overfull(e.Allocatable.Sub(used), request)
}

// nextPlaced returns a pod whose place has its room: it goes before all others, since that room was made for it.
func (l *Ledger) nextPlaced(now int64) *record {
	for _, r := range l.preempting.placed { // in the order in which they were given
		if r.state != Waiting || !r.InQueue() || !l.roomIsThere(r) || l.stopsNow(r) {
			continue
		}
		if !r.group.open() {
			return r
		}
		if l.startingGroup == nil {
			if first := l.releaseGroup(r.group, now); first != nil {
				return first
			}
		}
	}
	return nil
}

// placesGiven returns the nodes of pods of which all have a place with room; given: at least one has a place.
func (l *Ledger) placesGiven(pods []*record) (nodes []*node, given bool) {
	for _, r := range pods {
		given = given || r.place != nil
	}
	if !given {
		return nil, false
	}
	for _, r := range pods {
		if r.place == nil || !l.hasRoomFor(r, pods) {
			return nil, true
		}
		nodes = append(nodes, r.place.node)
	}
	return nodes, true
}

// takesKept reports whether these pods would take, under some max, what victims have given up there for claimants: else their room on nodes would be
// kept, and the first of them to be gone would come back under the max before the last is.
//
// It returns the queue that has the max, nil if there is none.
func (l *Ledger) takesKept(pods ...*record) *account {
	var asked []*account // mostly few: claimants of a queue have all those above it in common
	for _, o := range l.preempting.placed {
		if o.leaf == nil || o.state.charged() || slices.Contains(pods, o) {
			continue
		}
		for a := o.leaf; a != nil; a = a.parent {
			if a.spec.Max.Len() == 0 || slices.Contains(asked, a) {
				continue
			}
			if l.exceedsWithKept(a, pods) {
				return a
			}
			asked = append(asked, a)
		}
	}
	return nil
}

// keptOff is a class of which nothing may be released below a queue, since that would take what is kept there. Elsewhere it may.
type keptOff struct {
	class *class
	under *account
}

// withoutKeptOff takes the lanes out that are of no use below a queue, so that the walk does not go to everybody who waits there.
func (l *Ledger) withoutKeptOff(a *account, open book.Lanes) book.Lanes {
	for _, k := range l.keptOff {
		alone := !slices.ContainsFunc(l.lanes.Classes(k.class.lane), func(c *class) bool { return c != k.class && c.mark == l.mark })
		if k.under == a && alone {
			open &^= k.class.lane.Set()
		}
	}
	return open
}

// isKeptOff: a pod of the class in the application would take what is kept.
func (l *Ledger) isKeptOff(app *account, c *class) bool {
	return slices.ContainsFunc(l.keptOff, func(k keptOff) bool { return k.class == c && app.isUnder(k.under) })
}

// exceedsWithKept: with these pods and all claimants that are still to come, the queue would use more than its max of what one of these pods asks for.
func (l *Ledger) exceedsWithKept(a *account, pods []*record) bool {
	var all, asked resource.Sum
	for _, r := range pods {
		if r.leaf.isUnder(a) {
			asked.Add(r.Request)
		}
	}
	all.AddSum(&a.usage)
	all.AddSum(&asked)
	for _, o := range l.preempting.placed {
		if o.leaf != nil && o.leaf.isUnder(a) && !o.state.charged() && !slices.Contains(pods, o) {
			all.Add(o.Request)
		}
	}
	for i := range a.spec.Max.Len() {
		if m := a.spec.Max.At(i); asked.Get(m.Name) > 0 && all.Get(m.Name) > m.Value {
			return true
		}
	}
	return false
}

// placeNode is where room is kept for the pod while it waits.
func (r *record) placeNode() *node {
	if r.place == nil || r.leaf == nil {
		return nil
	}
	return r.place.node
}

// followNomination gives a pod a place where its status names a node, and ends one that its status does not name any more, unless a claim stands
// behind it: then the status is what is behind.
func (l *Ledger) followNomination(r *record) {
	switch {
	case r.Node != "" || r.Terminating:
		l.endPlace(r)
	case r.place != nil && r.place.claim != nil:
		l.nominate(r)
	case r.Nominated == "":
		l.endPlace(r)
	case r.place == nil || r.place.node.Name != r.Nominated:
		l.endPlace(r)
		if e := l.nodes.byName[r.Nominated]; e != nil && e.known && !r.state.charged() {
			l.givePlace(r, &place{node: e, Nomination: preemption.NewNomination(l.now)})
		}
	}
	l.nominate(r)
}

// nominate has the status of a pod looked at: whether it names the node where room is kept for it.
func (l *Ledger) nominate(r *record) {
	if r.wantsNomination() && !slices.Contains(l.preempting.renominate, r) {
		l.preempting.renominate = append(l.preempting.renominate, r)
	}
}

// wantsNomination: the status names another node than it should. That of a pod in kube-scheduler's hands is kube-scheduler's.
func (r *record) wantsNomination() bool {
	if r.state != Waiting && r.state != Parked || r.Terminating {
		return false
	}
	if r.place == nil {
		return r.Nominated != ""
	}
	return r.place.node.Name != r.Nominated
}

// KeptFrom returns the nodes on which a pod finds no room since what is free there is kept for claimants; nil, mostly: there are none.
func (l *Ledger) KeptFrom(uid UID) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || len(l.preempting.placed) == 0 {
		return nil
	}
	var kept map[string]bool
	for _, o := range l.preempting.placed {
		e := o.place.node
		if o == r || o.spot != e || e == r.spot || kept[e.Name] || r.class == nil || l.nodes.fits(e, r.class) {
			continue
		}
		if kept == nil {
			kept = map[string]bool{}
		}
		kept[e.Name] = true
	}
	return kept
}
