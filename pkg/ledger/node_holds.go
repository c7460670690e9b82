package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Whether a pod may use a node that is held is decided by node.isHeldFrom: the pods of the group for which it is held may, all others may
// not. One exception: a pod that is nominated to the node, by a claim or by its status. This is asked
//
//   - by a release, when it looks for room: nodeTable.fits, spaces and freeInAll (fits.go). The release of a nominated pod does not ask;
//   - by an attempt: schedulePod (pkg/app/candidates.go) has kube-scheduler look only at the nodes that NodesOpenTo returns. If it first
//     tries a few nodes (Candidates, PreferredNodes), these come from fits;
//   - by a plan of preemption, which uses no held node, for whatever pod: copyForPreemption (preemption.go).
//
// A pod that was released to a node before the node was held keeps its room there. If its attempt begins with a few nodes, that node is one
// of them; else the pod has to fit on another one. An attempt that has begun goes on, and Reserve does not ask.
//
// The other way to keep a pod off a node is a nomination: room that is made for one pod is closed to all others (nominated_room.go).

// nodeHolds owns for which group nodes are held, and what waits behind that group: what came to its queue after it. core/gang says when it
// is a group's turn, and for how long; group_room.go says which nodes those are, at most as many as the group has pods.
//
// It hears which groups of a walk lack room (lacksRoom), when nodes are held and may be (hold, judged), what is free there (keepFree), and
// when they are given back (giveBack). It says whose turn it is, when a hold ends, which applications wait behind the group, and what is
// kept for which queues: see kept_room.go.
type nodeHolds struct {
	gang.Holds[*group]
	behind queueBehind
	nodes  []*node
	queues []*queueAccount // for which they are held
	free   resource.Sum    // what is free on them, as the queues have it
	asOf   uint64          // the version of the ledger when it was last judged that they may be held
	flips  uint64          // those of the shares then
}

// queueBehind is what waits behind the group for which nodes are held: what came to its leaf after it.
type queueBehind struct {
	leaf  *queueAccount
	after int64 // when the last of the group's applications was submitted
}

// groupWait is a group's wait for room.
type groupWait struct {
	gang.Wait
	roomAt   uint64 // the state of the nodes in which it last had no room
	tooLarge bool   // it did not fit on empty nodes in that state either
	moved    bool   // something has changed on the nodes that are held for it
}

// isHeldFrom reports whether a pod of the group (nil: of none) may not use the node, since it is held for another group.
func (e *node) isHeldFrom(g *group) bool { return e.heldFor != nil && e.heldFor != g }

// NodesOpenTo returns the nodes that a pod may use while others are held for a pod group that it is not of; false: none is held from it. The node to
// which it is nominated is never held from it.
func (l *Ledger) NodesOpenTo(uid UID) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var of *group
	var nominated *node
	if r := l.pods[uid]; r != nil {
		of = r.group
		if r.nomination != nil {
			nominated = r.nomination.node
		}
	}
	if !l.nodeHolds.Held() || of == l.nodeHolds.Group {
		return nil, false
	}
	var open []string
	for _, e := range l.nodes.all { // into a set: order does not matter
		if !e.isHeldFrom(of) || e == nominated {
			open = append(open, e.Name)
		}
	}
	return open, true
}

// stillLacksRoom: the group had no room in the last look, and no node has gained any since.
func (g *group) stillLacksRoom(nodes *nodeTable) bool {
	return g.wait.Since != 0 && g.wait.roomAt == nodes.roomChanges
}

// lacksRoom notes that the walk came to a group for which there is no room. holdNow: it is certain that nodes are to be held for it next. None are held
// for a group that is too large for the cluster.
func (h *nodeHolds) lacksRoom(g *group, nodes *nodeTable, now int64) (holdNow bool) {
	if g.wait.roomAt != nodes.roomChanges {
		g.wait.roomAt, g.wait.tooLarge = nodes.roomChanges, false
	}
	if g.wait.tooLarge {
		return false
	}
	h.LacksRoom(g, &g.wait.Wait, now)
	first, sure, _ := h.Turn()
	return sure && first == g
}

// hold notes that nodes are held for a group, of which these pods are to start.
func (h *nodeHolds) hold(g *group, pods []*record, nodes []*node, now int64) {
	h.Hold(g, now)
	h.nodes, h.queues = nodes, queuesOf(pods)
	h.behind = queueBehind{leaf: pods[0].leaf}
	for _, r := range pods {
		h.behind.after = max(h.behind.after, r.app.slot.Submitted)
	}
}

// judged notes that the nodes may be held, as of these versions of the ledger and of the shares.
func (h *nodeHolds) judged(asOf, flips uint64) { h.asOf, h.flips = asOf, flips }

// giveBack notes that no nodes are held any more. It returns the leaf in which applications waited behind the group, and the queues of which less is kept.
func (h *nodeHolds) giveBack() (leaf *queueAccount, changed []*queueAccount) {
	leaf, changed = h.behind.leaf, h.keepFree(&resource.Sum{})
	h.behind, h.nodes, h.queues = queueBehind{}, nil, nil
	return leaf, changed
}

// has reports whether an application waits since it came after the group for which nodes are held.
func (b queueBehind) has(app *appAccount) bool {
	return b.leaf != nil && app.parent == b.leaf && app.slot.Submitted > b.after
}

// behindGroup says behind which group an application waits; false: behind none.
func (h *nodeHolds) behindGroup(app *appAccount) (reason.Reason, bool) {
	if !h.behind.has(app) {
		return reason.Reason{}, false
	}
	return reason.Reason{Code: reason.BehindGang, Queue: string(app.parent.path), PodGroup: h.Group.Key, Details: reason.Turn{
		Since: h.Group.wait.Since, Until: h.Until,
	}}, true
}

// waitForRoom notes that a group of the walk has no room.
func (l *releases) waitForRoom(g *group, now int64) {
	if l.nodeHolds.lacksRoom(g, &l.nodes, now) {
		l.holdForNext(now) // so that nothing that comes after it in this walk passes it
	}
}

// holdForNext holds nodes for the first group that has its turn, can make use of them and is owed them.
func (l *releases) holdForNext(now int64) {
	for l.groupRelease.starting == nil {
		g, _, ok := l.nodeHolds.Turn()
		if !ok {
			return
		}
		if !l.admits(g.next(g.Need())) {
			l.endWait(g) // room would be of no use to it
			l.nodeHolds.PassOver()
			continue
		}
		p := packingOf(g, g.next(g.Need()), l.shares.total)
		switch nodes, _, some := l.nodesToHold(p); {
		case !some:
			g.wait.tooLarge = true
			l.nodeHolds.PassOver()
		case nodes == nil:
			l.nodeHolds.Refuse(&g.wait.Wait, now)
		default:
			l.holdFor(p, nodes, now)
			return
		}
	}
}

// nodesToHold returns nodes to hold for a group that its queues are owed. nil: none may be held; why is that of the first. some: it could
// start on empty nodes. It tries first the nodes that are free soonest. Then those on which its own queues run most: they are that much of
// what the queues have already.
func (l *contents) nodesToHold(p *packing) (nodes []*node, why reason.ShareForbids, some bool) {
	if nodes = l.nodes.nodesToHold(p, nil); nodes == nil {
		return nil, why, false
	}
	why, may := l.mayHold(p.pods, nodes)
	for a := p.pods[0].leaf; !may && a.parent != nil; a = a.parent {
		if nodes = l.nodes.nodesToHold(p, func(e *node) int64 { return e.partOf(a, l.shares.total) }); nodes != nil {
			_, may = l.mayHold(p.pods, nodes)
		}
	}
	if !may {
		return nil, why, true
	}
	return nodes, reason.ShareForbids{}, true
}

// holdFor holds nodes for a group.
func (l *moves) holdFor(p *packing, nodes []*node, now int64) {
	for _, e := range nodes {
		e.heldFor = p.group
	}
	l.nodeHolds.hold(p.group, p.pods, nodes, now)
	p.group.wait.moved = true
	l.countHeld()
	l.books.reoffer(l.nodeHolds.behind.leaf, &l.queues)
	l.version++
	l.nodeHolds.judged(l.version, l.shares.flips)
}

// endWait: the group does not wait for room any more.
func (l *moves) endWait(g *group) {
	if l.nodeHolds.Group == g {
		l.nodeHolds.End()
		l.giveBackHeld()
	}
	g.wait = groupWait{}
}

// endHoldInTime gives back nodes that were held for long enough, or that have become useless to the group.
func (l *releases) endHoldInTime(now int64) {
	g := l.nodeHolds.Group
	if g == nil {
		return
	}
	if _, stopped := g.stoppedBy(""); stopped || lacksDriver(g.asksForRoom()) {
		l.endWait(g)
	} else if l.nodeHolds.Expire(&g.wait.Wait, now) {
		l.giveBackHeld()
	} else {
		l.reviewHold(now)
	}
}

// reviewHold judges again whether the nodes may be held: at once if shares have changed, and once a second if anything has.
func (l *releases) reviewHold(now int64) {
	h := &l.nodeHolds
	g := h.Group
	if g.Taken > 0 || h.asOf == l.version || h.flips == l.shares.flips && now < h.NextReview() {
		return
	}
	pods := g.next(g.Need())
	switch {
	case !l.admits(pods):
		l.endWait(g)
	case !slices.Equal(h.queues, queuesOf(pods)) || !l.nodes.holdAll(packingOf(g, pods, l.shares.total), h.nodes):
		h.End() // they are of no use any more, and others may be
		l.giveBackHeld()
	default:
		if _, may := l.mayHold(pods, h.nodes); !may {
			h.Refuse(&g.wait.Wait, now)
			l.giveBackHeld()
			return
		}
		h.judged(l.version, l.shares.flips)
		h.Reviewed(now)
	}
}

// giveBackHeld opens the nodes that were held to all pods again.
func (l *moves) giveBackHeld() {
	leaf, changed := l.nodeHolds.giveBack()
	l.refreshLeaves(changed)
	l.books.reoffer(leaf, &l.queues)
	for _, e := range l.nodes.all { // each for itself: order does not matter
		if e.heldFor != nil {
			e.heldFor = nil
			l.nodes.gained(e)
		}
	}
	l.window.open(func(*record) bool { return true })
	l.version++
}
