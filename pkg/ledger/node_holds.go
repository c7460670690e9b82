package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Whether a pod may use a node that is held is decided by node.isHeldFrom: the pods of the group or class for which it is held may, all others may
// not. Two exceptions: a pod that is nominated to the node, by a claim or by its status; and one that has ended before a large pod could start there
// (backfill.go). This is asked
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

// nodeHolds owns for which group, or for which class of large pods, nodes are held, and what waits behind a group: what came to its queue after it.
// core/gang says whose turn it is, and for how long; group_room.go and large_pods.go say which nodes those are, at most as many as the group has pods,
// or as there are large pods that have waited for long enough.
//
// It hears which groups and classes of a walk lack room (lacksRoom, LacksRoom), when nodes are held and may be (hold, addNode, judged), what is free
// there (keepFree), and when they are given back (dropNode, giveBack). It says whose turn it is, when a hold ends, which applications wait behind the
// group, and what is kept for which queues: see kept_room.go.
type nodeHolds struct {
	gang.Holds[*waiter]
	leaf   *queueAccount // of the pods for which they are held, or of the first of their group
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

// waiter is what waits for room, and may have nodes held: a pod group, or the large pods of a class.
type waiter struct {
	group *group // nil: it is a class
	class *class // nil: it is a group
	gang.Wait
	roomAt   uint64 // the state of the nodes in which it last had no room
	tooLarge bool   // it did not fit on empty nodes in that state either
	moved    bool   // something has changed on the nodes that are held for it
}

func (w *waiter) title() string {
	if w.class != nil {
		return "class " + w.class.key
	}
	return "group " + w.group.Key
}

// isHeldFrom reports whether a pod of the group or class may not use the node, since it is held for another one. nil: it is of none that waits.
func (e *node) isHeldFrom(w *waiter) bool { return e.heldFor != nil && e.heldFor != w }

// waiter is what the pod waits for room with; nil: nothing.
func (r *record) waiter() *waiter {
	switch {
	case r.group != nil:
		return &r.group.wait
	case r.class != nil:
		return &r.class.wait
	}
	return nil
}

// NodesOpenTo returns the nodes that a pod may use while others are held for a pod group or class that it is not of; false: none is held from it. The
// node to which it is nominated is never held from it, nor is the one whose room it uses meanwhile.
func (l *Ledger) NodesOpenTo(uid UID) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var of *waiter
	var its *node
	if r := l.pods[uid]; r != nil {
		of = r.waiter()
		switch {
		case r.nomination != nil:
			its = r.nomination.node
		case r.backfills:
			its = r.assumedOn
		}
	}
	if !l.nodeHolds.Held() || of == l.nodeHolds.For {
		return nil, false
	}
	var open []string
	for _, e := range l.nodes.all { // into a set: order does not matter
		if !e.isHeldFrom(of) || e == its {
			open = append(open, e.Name)
		}
	}
	return open, true
}

// HeldNodes is how many nodes are held now for a pod group, and how many for large pods.
func (l *Ledger) HeldNodes() (groups, large int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.nodeHolds.nodes {
		switch w := e.heldFor; {
		case w == nil: // it went, or came back
		case w.class != nil:
			large++
		default:
			groups++
		}
	}
	return groups, large
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
	h.LacksRoom(&g.wait, &g.wait.Wait, now)
	first, sure, _ := h.Turn()
	return sure && first == &g.wait
}

// hold notes that nodes are held for a group, of which these pods are to start.
func (h *nodeHolds) hold(g *group, pods []*record, nodes []*node, now int64) {
	h.Hold(&g.wait, now)
	h.nodes, h.queues, h.leaf = nodes, queuesOf(pods), pods[0].leaf
	h.behind = queueBehind{leaf: h.leaf}
	for _, r := range pods {
		h.behind.after = max(h.behind.after, r.app.slot.Submitted)
	}
}

// judged notes that the nodes may be held, as of these versions of the ledger and of the shares.
func (h *nodeHolds) judged(asOf, flips uint64) { h.asOf, h.flips = asOf, flips }

// giveBack notes that no nodes are held any more. It returns the leaf in which applications waited behind a group (nil: in none), and the queues of which less is kept.
func (h *nodeHolds) giveBack() (leaf *queueAccount, changed []*queueAccount) {
	leaf, changed = h.behind.leaf, h.keepFree(&resource.Sum{})
	h.behind, h.nodes, h.queues, h.leaf = queueBehind{}, nil, nil, nil
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
	return reason.Reason{Code: reason.BehindGang, Queue: string(app.parent.path), PodGroup: h.For.group.Key, Details: reason.Turn{
		Since: h.For.Since, Until: h.Until,
	}}, true
}

// waitForRoom notes that a group of the walk has no room.
func (l *releases) waitForRoom(g *group, now int64) {
	if l.nodeHolds.lacksRoom(g, &l.nodes, now) {
		l.holdForNext(now) // so that nothing that comes after it in this walk passes it
	}
}

// holdForNext holds nodes for the first group or large pod that has its turn, can make use of them and is owed them.
func (l *releases) holdForNext(now int64) {
	for l.groupRelease.starting == nil {
		w, _, ok := l.nodeHolds.Turn()
		if !ok {
			return
		}
		if w.class != nil {
			l.holdOneMore(w, now)
			return
		}
		g := w.group
		if !l.admits(g.next(g.Need())) {
			l.endWait(&g.wait) // room would be of no use to it
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
		e.heldFor = &p.group.wait
	}
	l.nodeHolds.hold(p.group, p.pods, nodes, now)
	p.group.wait.moved = true
	l.countHeld()
	l.books.reoffer(l.nodeHolds.behind.leaf, &l.queues)
	l.version++
	l.nodeHolds.judged(l.version, l.shares.flips)
}

// endWait: the group or class does not wait for room any more.
func (l *moves) endWait(w *waiter) {
	if l.nodeHolds.For == w {
		l.nodeHolds.End()
		l.giveBackHeld()
	}
	*w = waiter{group: w.group, class: w.class}
}

// endHoldInTime gives back nodes that were held for long enough, or that have become useless to the group.
func (l *releases) endHoldInTime(now int64) {
	w := l.nodeHolds.For
	if w == nil {
		return
	}
	if w.class != nil {
		l.reviewLargePods(w, now)
		return
	}
	g := w.group
	if _, stopped := g.stoppedBy(""); stopped || lacksDriver(g.asksForRoom()) {
		l.endWait(w)
	} else if l.nodeHolds.Expire(&g.wait.Wait, now) {
		l.giveBackHeld()
	} else {
		l.reviewHold(now)
	}
}

// reviewHold judges again whether the nodes may be held: at once if shares have changed, and once a second if anything has.
func (l *releases) reviewHold(now int64) {
	h := &l.nodeHolds
	g := h.For.group
	if g.Taken > 0 || h.asOf == l.version || h.flips == l.shares.flips && now < h.NextReview() {
		return
	}
	pods := g.next(g.Need())
	switch {
	case !l.admits(pods):
		l.endWait(&g.wait)
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
	if leaf != nil {
		l.books.reoffer(leaf, &l.queues)
	}
	for _, e := range l.nodes.all { // each for itself: order does not matter
		if e.heldFor != nil {
			e.heldFor = nil
			l.nodes.gained(e)
		}
	}
	l.window.open(func(*record) bool { return true })
	l.version++
}
