package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/largepod"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A large pod is one that finds no room, while smaller pods whose turn comes after its own take what becomes free. Once that goes on for Options.LargePodPatience,
// a node is held for it, as nodes are for a group: one group or class at a time, and what core/keep allows. A class gets one node after the other,
// one for each of its pods in the queue that have waited as long, and a tenth of all nodes at most. Each is open to all pods again
//
//   - when a pod of the class is released to it: then the room is taken;
//   - after five minutes (gang.LongestHold);
//   - when fewer pods wait than nodes are held, the node could not hold one of them even if it were empty, or core/keep does not allow it any more.
//
// Any pod of the class may use it, in the order of queues. While no class has lacked room for so long, a release does nothing for all this.

// largePods owns which classes lack room. It hears when a pod of a class fitted no node (lacks) and when one found room that was not held for it (found),
// and says whether it is time to look whether such pods are passed (due).
type largePods struct {
	patience int64    // 0: nodes are held for groups alone
	lacking  []*class // in the order in which they began to; with some that do not any more, until the next look
	nextLook int64
}

// lacks notes that a pod of the class fitted no node.
func (p *largePods) lacks(c *class, now int64) {
	if p.patience == 0 || c.group != nil || c.wait.Since != 0 {
		return
	}
	c.wait.Since, c.wait.Patience = now, p.patience
	if !c.lacking {
		c.lacking = true
		p.lacking = append(p.lacking, c)
	}
}

// due reports whether it is time to look, and notes that somebody does.
func (p *largePods) due(now int64) bool {
	if len(p.lacking) == 0 || now < p.nextLook {
		return false
	}
	p.lacking = slices.DeleteFunc(p.lacking, func(c *class) bool {
		c.lacking = c.wait.Since != 0 && c.pods > 0
		return !c.lacking
	})
	p.nextLook = now + gang.ReviewEvery
	return slices.ContainsFunc(p.lacking, func(c *class) bool { return c.wait.Since+p.patience <= now })
}

// has reports whether a pod of the class may have a node held: it has waited for long enough, and nobody makes room for it.
func (p *largePods) has(r *record, c *class, now int64) bool {
	return r.class == c && r.state == Waiting && r.InQueue() && r.nomination == nil && r.Created+p.patience <= now
}

// holdForPassed holds a node for a large pod that would be passed by the release of this smaller one. If it does, the order is to be asked again.
func (l *releases) holdForPassed(r *record, now int64) bool {
	h := &l.nodeHolds
	if !l.largePods.due(now) || h.Held() && h.For.group != nil || l.groupRelease.starting != nil {
		return false
	}
	for _, c := range l.largePods.lacking {
		if c.Parked() && h.DueAt(&c.wait.Wait) <= now && largepod.Passes(r.Request, c.request) && l.nodes.roomFor(&c.room) == nil {
			l.window.wake(c.probe) // kube-scheduler has it, so it takes no part in the order; with room, a filter refuses it, and a node is of no use
		}
	}
	l.comeToPassed(r, now)
	held := len(h.nodes)
	if !h.Held() {
		l.holdForNext(now)
	} else if !h.Others() && h.SomeDue() {
		l.holdOneMore(h.For, now)
	}
	return len(h.nodes) > held
}

// comeToPassed walks to the pod that is about to be released, through the groups and the classes of large pods that lack room. Those that it comes to
// would be passed.
func (l *releases) comeToPassed(r *record, now int64) {
	h := &l.nodeHolds
	h.Walk()
	l.walk.begin(func(c *class) bool {
		if g := c.group; g != nil {
			return g.startsTogether() && g.stillLacksRoom(&l.nodes) && !g.wait.tooLarge
		}
		return c == r.class || c.wait.Since != 0 && h.DueAt(&c.wait.Wait) <= now && largepod.Passes(r.Request, c.request)
	})
	root := l.queues.root
	open := l.books.lanesBelow(root)
	for p := l.walk.next(root, open); p != nil && p.class != r.class; p = l.walk.next(root, open) {
		switch g := p.group; {
		case g != nil && g.tried == l.walk.number: // by another of its classes
		case g != nil:
			g.tried = l.walk.number
			h.LacksRoom(&g.wait, &g.wait.Wait, now)
		case l.largePods.has(p, p.class, now) && l.nodes.roomFor(&p.class.room) == nil:
			l.largePods.comeTo(p)
			h.LacksRoom(&p.class.wait, &p.class.wait.Wait, now)
		}
		l.walk.leaveOut(p.class)
	}
	l.walk.refreshStale()
}

// comeTo notes in which leaf a class is the first to be passed.
func (p *largePods) comeTo(r *record) { r.class.firstIn = r.leaf }

// holdOneMore holds one node more for the large pods of a class, if it is owed that.
func (l *releases) holdOneMore(w *waiter, now int64) {
	h, leaf := &l.nodeHolds, w.class.firstIn
	if h.Held() {
		leaf = h.leaf
	}
	n := len(h.nodes) + 1
	pods := l.largePodsOf(w.class, leaf, n, now)
	if len(pods) == n && n <= largepod.MostHeld(len(l.nodes.all)) && l.admits(pods) {
		if e := l.nodeToHold(pods, now); e != nil {
			l.holdNode(w, e, pods, now)
			return
		}
	}
	if !h.Held() {
		h.Refuse(&w.Wait, now)
	}
}

// largePodsOf returns up to n pods of the class in a leaf that may have nodes held, the oldest first.
func (l *contents) largePodsOf(c *class, leaf *queueAccount, n int, now int64) (pods []*record) {
	for _, app := range leaf.apps { // sorted below: order does not matter
		if !slices.ContainsFunc(app.podQueues, func(q podQueue) bool { return q.class == c }) {
			continue
		}
		for _, m := range app.members {
			if l.largePods.has(m.record, c, now) {
				pods = append(pods, m.record)
			}
		}
	}
	slices.SortFunc(pods, func(a, b *record) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.UID, b.UID)) })
	return pods[:min(n, len(pods))]
}

// nodeToHold returns the node to hold in addition to those that are held already; nil: none may be. It tries first the node that will probably have room
// first. Then those on which the queues of the pods run most: it is that much of what they have already.
func (l *contents) nodeToHold(pods []*record, now int64) *node {
	may := func(e *node) bool {
		_, may := l.mayHold(pods, append(slices.Clone(l.nodeHolds.nodes), e))
		return may
	}
	drains := l.drains(pods[0].class, now)
	if len(drains) == 0 {
		return nil
	}
	if e := drains[0].node; may(e) {
		return e
	}
	for a := pods[0].leaf; a.parent != nil; a = a.parent {
		most := slices.MaxFunc(drains, func(x, y drain) int {
			return cmp.Or(cmp.Compare(x.partOf(a, l.shares.total), y.partOf(a, l.shares.total)), -x.compare(y))
		})
		if may(most.node) {
			return most.node
		}
	}
	return nil
}

// drain is how a node will come to have room.
type drain struct {
	*node
	largepod.Drain
}

func (d drain) compare(o drain) int { return cmp.Or(d.Compare(o.Drain), cmp.Compare(d.Name, o.Name)) }

// drains are the nodes that will come to have room for a pod of the class, the first one in front.
func (l *contents) drains(c *class, now int64) (all []drain) {
	soon := map[*node][]*record{}
	for _, in := range []roster{l.window.released, l.window.reserved} {
		for _, r := range in {
			soon[r.assumedOn] = append(soon[r.assumedOn], r)
		}
	}
	for _, e := range l.nodes.all {
		if e.heldFor != nil || !l.nodes.couldHold(e, c) {
			continue
		}
		if d, some := largepod.DrainOf(l.nodes.lacking(e, c.request), e.running(soon[e], now), now); some {
			all = append(all, drain{e, d})
		}
	}
	slices.SortFunc(all, drain.compare)
	return all
}

// endsAt is when a pod that has a node since then will have ended, by what it says of itself; 0: nobody knows.
func (r *record) endsAt(since int64) int64 {
	switch {
	case r.Deadline > 0:
		return r.Deadline
	case r.Lasts > 0:
		return resource.SatAdd(since, r.Lasts)
	}
	return 0
}

// lacking is how much of each resource has to become free on the node until it has room for the request.
func (t *nodeTable) lacking(e *node, request resource.List) resource.List {
	has := t.capacityOf(e)
	var lacks []resource.Entry
	for i := range request.Len() {
		if want := request.At(i); has.Lacks(e.used.Get(want.Name), want) {
			lacks = append(lacks, resource.Entry{Name: want.Name, Value: want.Value - has.Free(want.Name, e.used.Get(want.Name))})
		}
	}
	return resource.Of(lacks...)
}

// addNode notes that a node is held for large pods of a class from now on, beside those that are held for them already.
func (h *nodeHolds) addNode(w *waiter, e *node, pods []*record, now int64) {
	if !h.Held() {
		h.Hold(w, now)
		h.queues, h.leaf = queuesOf(pods), pods[0].leaf
	}
	h.nodes = append(h.nodes, e)
}

// holdNode holds a node for a large pod.
func (l *moves) holdNode(w *waiter, e *node, pods []*record, now int64) {
	e.heldFor, e.heldSince = w, now
	l.nodeHolds.addNode(w, e, pods, now)
	w.moved = true
	l.countHeld()
	l.version++
	l.nodeHolds.judged(l.version, l.shares.flips)
}

// dropNode notes that a node is held no more. It reports whether it was the last.
func (h *nodeHolds) dropNode(e *node) bool {
	h.nodes = slices.DeleteFunc(h.nodes, func(o *node) bool { return o == e })
	return len(h.nodes) == 0
}

// openHeld opens one of the nodes that are held for large pods to all pods again.
func (l *moves) openHeld(e *node) {
	w := l.nodeHolds.For
	if l.nodeHolds.dropNode(e) {
		l.nodeHolds.End()
		l.giveBackHeld()
		return
	}
	if e.heldFor == w { // else it went, and may have come back
		e.heldFor = nil
		w.moved = true
		l.countHeld()
		l.nodes.gained(e)
		l.window.open(func(r *record) bool { return l.nodes.fits(e, &r.class.room) })
	}
	l.version++
}

// tookRoom takes note of the room that a pod took on its release. Its class lacks none if it was not held for it.
func (l *moves) tookRoom(r *record) {
	w, e := &r.class.wait, r.assumedOn
	switch {
	case w.Since == 0 || e == nil:
	case e.heldFor == w:
		l.openHeld(e)
	case l.nodeHolds.For != w:
		*w = waiter{class: w.class}
	}
}

// reviewLargePods gives nodes back that were held for large pods: those that were for long enough, and those that are of no use any more. At once if shares
// have changed, and once a second if anything has.
func (l *releases) reviewLargePods(w *waiter, now int64) {
	h := &l.nodeHolds
	l.giveBackOverdue(w, now)
	if !h.Held() || h.asOf == l.version || h.flips == l.shares.flips && now < h.NextReview() {
		return
	}
	pods := l.largePodsOf(w.class, h.leaf, len(h.nodes), now)
	for _, e := range slices.Backward(slices.Clone(h.nodes)) {
		if e.heldFor != w || !l.nodes.couldHold(e, w.class) || len(h.nodes) > len(pods) {
			l.openHeld(e)
		}
	}
	switch pods = pods[:min(len(pods), len(h.nodes))]; {
	case !h.Held():
	case !slices.Equal(h.queues, queuesOf(pods)):
		h.End()
		l.giveBackHeld()
	case !l.admits(pods):
		h.Refuse(&w.Wait, now)
		l.giveBackHeld()
	default:
		if _, may := l.mayHold(pods, h.nodes); !may {
			h.Refuse(&w.Wait, now)
			l.giveBackHeld()
			return
		}
		h.judged(l.version, l.shares.flips)
		h.Reviewed(now)
	}
}

// giveBackOverdue gives back the nodes that have been held for long enough.
func (l *releases) giveBackOverdue(w *waiter, now int64) {
	h := &l.nodeHolds
	if h.Until > now {
		return
	}
	var until int64
	for _, e := range h.nodes {
		if u := e.heldSince + gang.LongestHold; u > now && (until == 0 || u < until) {
			until = u
		}
	}
	if until == 0 {
		h.Expire(&w.Wait, now)
		l.giveBackHeld()
		return
	}
	h.GiveBackOne(&w.Wait, until)
	for _, e := range slices.Clone(h.nodes) {
		if e.heldSince+gang.LongestHold <= now {
			l.openHeld(e)
		}
	}
}
