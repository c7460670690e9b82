package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// A claimant of a plan is nominated to a node. Its room is taken there from then on, also while its victims still run. So the node is overfull on
// the books, no other pod is sent there, and the room that the victims free is the claimant's. The claimant is released before all other pods once
// the room is there. A pod that kube-scheduler or an earlier process of this scheduler nominated is treated alike.

// nomination is the node where a waiting pod will run.
type nomination struct {
	node  *node
	claim *account // whose claim it is, nil for none
	kind  preemption.Kind
	preemption.Nomination
	// roomy says whether the room was there at change lookedAt-1 of the node.
	roomy    bool
	lookedAt uint64
	// victims are evicted for it. Their room may serve other nominations to the node too.
	victims []*record
}

// preempting is the state of preemption. Clocks and claims are in the accounts.
type preempting struct {
	lookedAt   uint64 // the version, plus one, at the last look at the clocks
	recalled   bool   // what statuses remember has been taken into account
	plannedFor uint64 // the version, plus one, at the last round
	pace       preemption.Pace
	adopted    bool // this process has adopted a plan, or would have but for observeOnly
	nominated  []*record
	victims    []*record         // in the order in which they were chosen
	showing    []*record         // pods whose objects show an announcement
	renominate []*record         // pods whose status may name the wrong node
	withdrawn  map[UID]withdrawn // why former victims stay
	counts     PreemptionCounts
	memory     evictionMemory
}

// giveNode nominates a waiting pod: it takes the pod's room on the node.
func (l *Ledger) giveNode(r *record, p *nomination) {
	r.nomination = p
	if r.group != nil {
		r.group.wait.roomAt = 0 // what it lacked may be there now
	}
	r.listOnNode()
	l.preempting.nominated = append(l.preempting.nominated, r)
	if r.leaf != nil && !r.state.charged() {
		l.assume(r, p.node)
	}
	l.nominate(r)
	l.version++
}

// endNomination gives the nominated node back, if there is one. Its victims stay unless another claimant needs their room.
func (l *Ledger) endNomination(r *record) {
	p := r.nomination
	if p == nil {
		return
	}
	r.nomination = nil
	p.node.changed()
	l.preempting.nominated = slices.DeleteFunc(l.preempting.nominated, func(o *record) bool { return o == r })
	if !r.state.charged() {
		l.assume(r, nil)
	}
	r.listOnNode()
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

// failNomination ends the nomination of a pod that did not fit on the node after all, and lets its claim pause: see preemption.Pause.
func (l *Ledger) failNomination(r *record, now int64) {
	if r.nomination == nil {
		return
	}
	if c := r.nomination.claim; c != nil && c.starving != nil {
		c.starving.pause = c.starving.pause.Failed(now)
		l.preempting.counts.Stale++
	}
	l.endNomination(r)
}

// tendNominations ends the nominations that are of no use any more: see preemption.Nomination.
func (l *Ledger) tendNominations(now int64) {
	known, some := false, false // whether any pod is leaving; computed at most once, since it looks at all nodes
	leaving := func() bool {
		if !known {
			known, some = true, l.someLeave(now)
		}
		return some
	}
	for _, r := range slices.Clone(l.preempting.nominated) { // in the order in which they were given
		in := l.nominationInput(r, now)
		in.Idle = r.state == Waiting && in.RoomThere && !leaving()
		in.Blocked = in.Idle && r.InQueue() && l.stopsNow(r)
		var outcome preemption.NominationOutcome
		switch r.nomination.Nomination, outcome = r.nomination.Next(in, now); outcome {
		case preemption.Ends:
			l.endNomination(r)
		case preemption.Fails:
			l.failNomination(r, now)
		}
	}
}

// someLeave reports whether any pod is leaving, and so may free the room that a nomination still lacks.
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

// nominationInput is what the core needs to know of a nomination, except Idle and Blocked.
func (l *Ledger) nominationInput(r *record, now int64) preemption.NominationInput {
	p := r.nomination
	in := preemption.NominationInput{
		Attempting: r.state == Released, Waiting: r.leaf != nil && (r.state == Waiting || r.state == Parked),
		ObserveOnly: l.queues.root.spec.Preemption.ObserveOnly,
	}
	if in.Attempting || !in.Waiting {
		return in
	}
	in.NodeUsable = p.node.known && p.node.takes(r.class)
	in.GroupIncomplete = r.group.open() && l.nominatedOf(r.group) < r.group.Need()
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

// nominatedOf is how many waiting pods of a group are nominated.
func (l *Ledger) nominatedOf(g *group) (n int) {
	for _, r := range g.pods { // a count: order does not matter
		n += btoi(r.nomination != nil && !r.state.charged())
	}
	return n
}

// roomIsThere reports whether the node has room for the pod by now, without regard to other pods that are nominated to it.
func (l *Ledger) roomIsThere(r *record) bool {
	p := r.nomination
	if p.lookedAt != p.node.changes+1 {
		p.lookedAt, p.roomy = p.node.changes+1, l.hasRoomFor(r, nil)
	}
	return p.roomy
}

// hasRoomFor is roomIsThere for a pod that starts together with others, which need their room on the node too.
func (l *Ledger) hasRoomFor(r *record, together []*record) bool {
	e := r.nomination.node
	if r.assumedOn != e {
		return false
	}
	for _, v := range r.nomination.victims {
		if v.victim.unlike {
			return false
		}
	}
	others, pods := e.used.List(), e.assumed+e.foreignPods
	for _, o := range e.on {
		if o != r && o.nomination != nil && !o.state.charged() && !slices.Contains(together, o) {
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

// nextNominated returns a pod whose nominated node has room for it. It is released before all others, since the room was made for it.
func (l *Ledger) nextNominated(now int64) *record {
	for _, r := range l.preempting.nominated { // in the order in which they were given
		if r.state != Waiting || !r.InQueue() || !l.roomIsThere(r) || l.stopsNow(r) {
			continue
		}
		if !r.group.open() {
			return r
		}
		if l.groupRelease.starting == nil {
			if first := l.releaseGroup(r.group, now); first != nil {
				return first
			}
		}
	}
	return nil
}

// nominatedNodes returns the nodes of pods that are all nominated and have room there; given: at least one is nominated.
func (l *Ledger) nominatedNodes(pods []*record) (nodes []*node, given bool) {
	for _, r := range pods {
		given = given || r.nomination != nil
	}
	if !given {
		return nil, false
	}
	for _, r := range pods {
		if r.nomination == nil || !l.hasRoomFor(r, pods) {
			return nil, true
		}
		nodes = append(nodes, r.nomination.node)
	}
	return nodes, true
}

// exceedsMaxWithNominated returns a queue whose max these pods would exceed together with the pods that are nominated, nil if there is none. What
// victims free under a max is for the claimants: otherwise a replacement of the first victim could take it before the last victim is gone.
func (l *Ledger) exceedsMaxWithNominated(pods ...*record) *account {
	var asked []*account // mostly few: claimants share the queues above them
	for _, o := range l.preempting.nominated {
		if o.leaf == nil || o.state.charged() || slices.Contains(pods, o) {
			continue
		}
		for a := o.leaf; a != nil; a = a.parent {
			if a.spec.Max.Len() == 0 || slices.Contains(asked, a) {
				continue
			}
			if l.exceedsWithNominated(a, pods) {
				return a
			}
			asked = append(asked, a)
		}
	}
	return nil
}

// blockedByMax is a class of which no pod may be released below a queue during this walk: it would exceed the queue's max, counting nominations.
type blockedByMax struct {
	class *class
	under *account
}

// withoutBlockedByMax removes the lanes that hold only blocked classes below a queue, so that the walk does not visit every pod there.
func (l *Ledger) withoutBlockedByMax(a *account, open book.Lanes) book.Lanes {
	for _, k := range l.blockedByMax {
		alone := !slices.ContainsFunc(l.lanes.Classes(k.class.lane), func(c *class) bool { return c != k.class && c.mark == l.mark })
		if k.under == a && alone {
			open &^= k.class.lane.Set()
		}
	}
	return open
}

// isBlockedByMax: a pod of the class in the application would exceed a max, counting nominations.
func (l *Ledger) isBlockedByMax(app *account, c *class) bool {
	return slices.ContainsFunc(l.blockedByMax, func(k blockedByMax) bool { return k.class == c && app.isUnder(k.under) })
}

// exceedsWithNominated: with these pods and all nominated ones, the queue would use more than its max of a resource that one of these pods
// requests.
func (l *Ledger) exceedsWithNominated(a *account, pods []*record) bool {
	var all, asked resource.Sum
	for _, r := range pods {
		if r.leaf.isUnder(a) {
			asked.Add(r.Request)
		}
	}
	all.AddSum(&a.usage)
	all.AddSum(&asked)
	for _, o := range l.preempting.nominated {
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

// nominatedNode is the node whose room is taken for the pod while it waits.
func (r *record) nominatedNode() *node {
	if r.nomination == nil || r.leaf == nil {
		return nil
	}
	return r.nomination.node
}

// followNomination brings a nomination up to date with the pod's status. A nomination of a claim stays as it is: then the status is out of date.
func (l *Ledger) followNomination(r *record) {
	switch {
	case r.Node != "" || r.Terminating:
		l.endNomination(r)
	case r.nomination != nil && r.nomination.claim != nil:
		l.nominate(r)
	case r.Nominated == "":
		l.endNomination(r)
	case r.nomination == nil || r.nomination.node.Name != r.Nominated:
		l.endNomination(r)
		if e := l.nodes.byName[r.Nominated]; e != nil && e.known && !r.state.charged() {
			l.giveNode(r, &nomination{node: e, Nomination: preemption.NewNomination(l.now)})
		}
	}
	l.nominate(r)
}

// nominate lists a pod whose status does not name its nominated node.
func (l *Ledger) nominate(r *record) {
	if r.wantsNomination() && !slices.Contains(l.preempting.renominate, r) {
		l.preempting.renominate = append(l.preempting.renominate, r)
	}
}

// wantsNomination: the status names the wrong node. While a pod is released, its status is up to kube-scheduler.
func (r *record) wantsNomination() bool {
	if r.state != Waiting && r.state != Parked || r.Terminating {
		return false
	}
	if r.nomination == nil {
		return r.Nominated != ""
	}
	return r.nomination.node.Name != r.Nominated
}

// NodesNominatedToOthers returns the nodes whose free room is too small for a pod without the room of pods nominated there; nil: none, as in most
// cases.
func (l *Ledger) NodesNominatedToOthers(uid UID) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || len(l.preempting.nominated) == 0 {
		return nil
	}
	var kept map[string]bool
	for _, o := range l.preempting.nominated {
		e := o.nomination.node
		if o == r || o.assumedOn != e || e == r.assumedOn || kept[e.Name] || r.class == nil || l.nodes.fits(e, r.class) {
			continue
		}
		if kept == nil {
			kept = map[string]bool{}
		}
		kept[e.Name] = true
	}
	return kept
}
