package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A claimant of a plan is nominated to a node. From then on its room is taken there, although its victims still run. So by the ledger's
// numbers the node is overfull, no other pod is sent there, and the room that the victims free is the claimant's. Once the room is
// there, the claimant is released before all other pods. The same holds for a pod that kube-scheduler or an earlier process of this
// scheduler nominated. The steps from a plan to the start of its claimant are listed in evictions.go.

// nomination is the node where a waiting pod will run.
type nomination struct {
	node  *node
	claim *queueAccount // whose claim it is, nil for none
	kind  preemption.Kind
	pays  resource.Name // what it pays of a guarantee, "" for none
	preemption.NominationState
	// roomThere says whether the room was there at change roomAsOf-1 of the node.
	roomThere bool
	roomAsOf  uint64
	// victims are evicted for it. Their room may serve other nominations to the node too.
	victims []*record
	// left is what pods of its leaf that are gone have left on the node since the nomination.
	left resource.Sum
	// keptIn is the leaf in which this amount (kept) counts as room kept for the pod; nil: in none, as after the charge.
	keptIn *queueAccount
	kept   resource.List
}

func (p *nomination) addVictim(v *record) { p.victims = append(p.victims, v) }

func (p *nomination) removeVictim(v *record) {
	p.victims = slices.DeleteFunc(p.victims, func(o *record) bool { return o == v })
}

func (p *nomination) addLeft(request resource.List) { p.left.Add(request) }

// next has the rules decide what becomes of the nomination.
func (p *nomination) next(in preemption.NominationInput, now int64) (is preemption.NominationOutcome) {
	p.NominationState, is = p.Next(in, now)
	return is
}

// isRoomThere returns whether the node has room for the pod. look finds that out, and is asked again only after a change of the node.
func (p *nomination) isRoomThere(look func() bool) bool {
	if p.roomAsOf != p.node.changes+1 {
		p.roomAsOf, p.roomThere = p.node.changes+1, look()
	}
	return p.roomThere
}

// keep notes that room is kept for it in a leaf queue. keptNoMore: it is not any more.
func (p *nomination) keep(in *queueAccount, request resource.List) { p.keptIn, p.kept = in, request }

func (p *nomination) keptNoMore() { p.keptIn = nil }

// nominations owns the list of nominated pods. It hears of nominations that are given and ended (add, remove), and of statuses that are
// observed or written (checkStatus). It says whether a max has room beside them, and which statuses are to be written.
type nominations struct {
	pods []*record // in the order in which they were nominated
	// outdated are pods whose status may name the wrong node.
	outdated []*record
}

func (n *nominations) add(r *record, p *nomination) {
	r.nomination = p
	n.pods = append(n.pods, r)
}

func (n *nominations) remove(r *record) {
	r.nomination = nil
	n.pods = slices.DeleteFunc(n.pods, func(o *record) bool { return o == r })
}

// podLeaves notes for whom a bound pod that is gone leaves its room: for the pods of its leaf that are nominated to its node.
func (n *nominations) podLeaves(r *record) {
	for _, o := range n.pods {
		if o.leaf != nil && o.leaf == r.leaf && o.nomination.node == r.assumedOn {
			o.nomination.addLeft(r.Request)
		}
	}
}

// checkStatus lists a pod whose status does not name its nominated node.
func (n *nominations) checkStatus(r *record) {
	if r.wantsNomination() && !slices.Contains(n.outdated, r) {
		n.outdated = append(n.outdated, r)
	}
}

// updates are the statuses to be written.
func (n *nominations) updates(pods map[UID]*record) (us []NominationUpdate) {
	n.outdated = slices.DeleteFunc(n.outdated, func(r *record) bool { return pods[r.UID] != r || !r.wantsNomination() })
	for _, r := range n.outdated {
		u := NominationUpdate{UID: r.UID, Namespace: r.Namespace, Name: r.Name}
		if r.nomination != nil {
			u.Node = r.nomination.node.Name
		}
		us = append(us, u)
	}
	return us
}

// exceedMax returns a queue whose max these pods would exceed together with the pods that are nominated, nil if there is none. What victims
// free under a max is for the claimants: otherwise a replacement of the first victim could take it before the last victim is gone.
func (n *nominations) exceedMax(pods ...*record) *queueAccount {
	var asked []*queueAccount // mostly few: claimants share the queues above them
	for _, o := range n.pods {
		if o.leaf == nil || o.state.charged() || slices.Contains(pods, o) {
			continue
		}
		for a := o.leaf; a != nil; a = a.parent {
			if a.spec.Max.Len() == 0 || slices.Contains(asked, a) {
				continue
			}
			if n.exceedMaxOf(a, pods) {
				return a
			}
			asked = append(asked, a)
		}
	}
	return nil
}

// exceedMaxOf: with these pods and all nominated ones, the queue would use more than its max of a resource that one of these pods requests.
func (n *nominations) exceedMaxOf(a *queueAccount, pods []*record) bool {
	var all, asked resource.Sum
	for _, r := range pods {
		if r.leaf.isUnder(a) {
			asked.Add(r.Request)
		}
	}
	all.AddSum(&a.usage)
	all.AddSum(&asked)
	for _, o := range n.pods {
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

// withoutRoom are the nominated pods whose node lacks room for them although no pod is leaving it. After a restart all may be, until a plan
// finds their victims again. They are planned again, and prefer the node that they have.
func (n *nominations) withoutRoom(nodes *nodeTable, tree *queueTree, now int64) (rs []*record) {
	for _, r := range n.pods {
		if r.state.charged() || len(r.nomination.victims) > 0 {
			continue
		}
		e := r.nomination.node
		copied := e.copyForPlan(tree, now)
		if copied.Slots < 0 || nodes.capacityOf(e).Overfull(copied.Free, r.Request) {
			rs = append(rs, r)
		}
	}
	return rs
}

// anyClaimOn reports whether a claim has nominated a pod to the node.
func (n *nominations) anyClaimOn(e *node) bool {
	return slices.ContainsFunc(n.pods, func(r *record) bool { return r.nomination.node == e && r.nomination.claim != nil })
}

// giveNode nominates a waiting pod: it takes the pod's room on the node.
func (l *moves) giveNode(r *record, p *nomination) {
	l.nominations.add(r, p)
	if r.group != nil {
		r.group.wait.roomAt = 0 // what it lacked may be there now
	}
	r.listOnNode()
	if r.leaf != nil && !r.state.charged() {
		l.nodes.assume(r, p.node)
	}
	l.countNominated(r)
	l.nominations.checkStatus(r)
	l.version++
}

// endNomination gives the nominated node back, if there is one. Its victims stay unless another claimant needs their room.
func (l *moves) endNomination(r *record) {
	p := r.nomination
	if p == nil {
		return
	}
	l.nominations.remove(r)
	l.uncountNominated(p)
	p.node.changed()
	if !r.state.charged() {
		l.nodes.assume(r, nil)
	}
	r.listOnNode()
	l.window.open(func(o *record) bool { return o != r && l.nodes.fits(p.node, &o.class.room) })
	l.nominations.checkStatus(r)
	for _, v := range p.victims {
		l.reassign(v, p.node)
	}
	l.version++
}

// failNomination ends the nomination of a pod that did not fit on the node after all, and lets its claim pause: see preemption.Pause.
func (l *moves) failNomination(r *record, now int64) {
	if r.nomination == nil {
		return
	}
	if c := r.nomination.claim; c != nil && c.starving != nil {
		c.starving.pause = c.starving.pause.Failed(now)
		l.evictions.outOfDate(1)
	}
	l.endNomination(r)
}

// tendNominations ends the nominations that are of no use any more: see preemption.NominationState.
func (l *plans) tendNominations(now int64) {
	known, some := false, false // whether any pod is leaving; computed at most once, since it looks at all nodes
	leaving := func() bool {
		if !known {
			known, some = true, l.evictions.anyPodLeaves(l.nodes.all, now)
		}
		return some
	}
	for _, r := range slices.Clone(l.nominations.pods) { // in the order in which they were given
		in := l.nominationInput(r, now)
		in.Idle = r.state == Waiting && in.RoomThere && !leaving()
		in.Limited = in.Idle && r.InQueue() && (r.waitsForDriverOutside() || l.walk.limitStops(r))
		switch r.nomination.next(in, now) {
		case preemption.Ends:
			l.endNomination(r)
		case preemption.Fails:
			l.failNomination(r, now)
		case preemption.Keeps:
			if r.state == Parked && in.RoomThere {
				l.window.wake(r) // no event need tell kube-scheduler so
			}
		}
	}
}

// nominationInput is what the core needs to know of a nomination, except Idle and Limited.
func (l *contents) nominationInput(r *record, now int64) preemption.NominationInput {
	p := r.nomination
	in := preemption.NominationInput{
		Attempting: r.state == Released, Waiting: r.leaf != nil && (r.state == Waiting || r.state == Parked),
		ObserveOnly: l.queues.root.spec.Preemption.ObserveOnly,
	}
	if in.Attempting || !in.Waiting {
		return in
	}
	in.NodeUsable = l.nodes.couldHold(p.node, r.class)
	in.Blocked = r.blocked() && r.blockedBy.Code != reason.BackOff
	in.GroupIncomplete = r.group.startsTogether() && r.group.nominated() < r.group.Need()
	in.RoomThere = l.nodes.roomIsThere(r)
	switch c := p.claim; {
	case c == nil:
		in.NotOwed = !l.mayKeepFor(r, now)
	case l.queues.accounts[c.path] == c && c.starving != nil && c.starving.clocks[p.kind].Claimed != 0 && r.leaf.isUnder(c):
		in.Claim = preemption.OpenClaim
	default:
		in.Claim = preemption.ClosedClaim
	}
	in.VictimStuck = slices.ContainsFunc(p.victims, func(v *record) bool { return v.Terminating && now > v.Deadline+preemption.Overstay })
	return in
}

// endNotOwed ends the nominations without a claim that nextNominated would release into room that is not owed to them. Pods of other queues may have left
// it since tendNominations looked.
func (l *releases) endNotOwed(now int64) {
	for i := 0; i < len(l.nominations.pods); {
		r := l.nominations.pods[i]
		switch {
		case !l.nominatedMayGo(r):
			i++
		case r.nomination.claim == nil && !l.mayKeepFor(r, now):
			l.endNomination(r)
		case r.group.startsTogether():
			i++ // the others of its group may keep it from going
		default:
			return // it goes before those that follow, which are judged then
		}
	}
}

// nextNominated returns a pod whose nominated node has room for it. The order of queues does not matter to it, since the room was made for it.
func (l *releases) nextNominated(now int64) *record {
	for _, r := range l.nominations.pods { // in the order in which they were given
		if !l.nominatedMayGo(r) {
			continue
		}
		if !r.group.startsTogether() {
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

// nominatedMayGo: the room of a nominated pod is there, and nothing keeps the pod itself from being released.
func (l *contents) nominatedMayGo(r *record) bool {
	return r.state == Waiting && r.InQueue() && l.nodes.roomIsThere(r) && !l.walk.stopsNow(r)
}

// nominatedNode is the node whose room is taken for the pod while it waits.
func (r *record) nominatedNode() *node {
	if r.nomination == nil || r.leaf == nil {
		return nil
	}
	return r.nomination.node
}

// readNomination brings a nomination up to date with the pod's status. A nomination of a claim stays as it is: then the status is out of
// date.
func (l *moves) readNomination(r *record) {
	switch {
	case r.Node != "" || r.Terminating:
		l.endNomination(r)
	case r.nomination != nil && r.nomination.claim != nil:
		l.nominations.checkStatus(r)
	case r.Nominated == "":
		l.endNomination(r)
	case r.nomination == nil || r.nomination.node.Name != r.Nominated:
		l.endNomination(r)
		if e := l.nodes.byName[r.Nominated]; e != nil && e.known && !r.state.charged() {
			l.giveNode(r, &nomination{node: e, NominationState: preemption.NewNominationState(l.now)})
		}
	}
	l.nominations.checkStatus(r)
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
