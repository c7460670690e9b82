package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Node holds: core/gang says for which group nodes are held, and for how long; this file finds the nodes, and says who waits behind the group.
// At most as many nodes are held as the group has pods. While they are, what came after the group in its queue waits too.

// groupWait is a group's wait for room.
type groupWait struct {
	gang.Wait
	roomAt   uint64 // the state of the nodes in which it last had no room
	tooLarge bool   // it did not fit on empty nodes in that state either
}

// queueBehind is what waits behind the group for which nodes are held: what came to its leaf after it.
type queueBehind struct {
	leaf  *account
	after int64 // when the last of the group's applications was submitted
}

// stillLacksRoom: the group had no room in the last look, and nothing has changed since.
func (l *Ledger) stillLacksRoom(g *group) bool {
	return g.wait.Since != 0 && g.wait.roomAt == l.nodes.roomChanges
}

// waitForRoom notes that a group of the walk has no room, and holds nodes for it if it is certain that it has its turn. A group that is too large for
// the cluster has none.
func (l *Ledger) waitForRoom(g *group, now int64) {
	if g.wait.roomAt != l.nodes.roomChanges {
		g.wait.roomAt, g.wait.tooLarge = l.nodes.roomChanges, false
	}
	if g.wait.tooLarge {
		return
	}
	l.nodeHolds.LacksRoom(g, &g.wait.Wait, now)
	if first, sure, _ := l.nodeHolds.Turn(); sure && first == g {
		l.holdForNext(now) // so that nothing that comes after it in this walk passes it
	}
}

// holdForNext holds nodes for the first group that has its turn and can make use of them.
func (l *Ledger) holdForNext(now int64) {
	for l.groupRelease.starting == nil {
		g, _, ok := l.nodeHolds.Turn()
		switch {
		case !ok:
			return
		case !l.admits(g.next(g.Need())):
			l.endWait(g) // room would be of no use to it
		case l.hold(g, now):
			return
		default:
			g.wait.tooLarge = true
		}
		l.nodeHolds.PassOver()
	}
}

// hold holds nodes for a group: those on which most of its pods would fit now, and as many of them as would hold all of it once our pods there have
// ended. False: it could not start on empty nodes.
func (l *Ledger) hold(g *group, now int64) bool {
	pods := g.next(g.Need())
	classes, _, need := l.classesOf(pods)
	none := make([]int, len(classes))
	type choice struct {
		*node
		fit int
	}
	choices := make([]choice, 0, len(l.nodes.all))
	for _, e := range l.nodes.all {
		fit := 0
		for c := range classes {
			fit += min(l.nodes.spaces(e, classes, c, none, false), need[c])
		}
		choices = append(choices, choice{e, fit})
	}
	slices.SortFunc(choices, func(a, b choice) int { return cmp.Or(cmp.Compare(b.fit, a.fit), cmp.Compare(a.Name, b.Name)) })
	places, placed := gang.Pack(len(choices), need, func(node, c int, taken []int) int {
		return l.nodes.spaces(choices[node].node, classes, c, taken, true)
	})
	if lacks, _ := l.nodes.lacksInAll(g, true); placed < len(pods) || lacks != "" {
		return false
	}
	l.nodeHolds.Hold(g, now)
	for _, p := range places {
		choices[p.Node].heldFor = g
	}
	l.waitsBehind = queueBehind{leaf: pods[0].leaf}
	for _, r := range pods {
		l.waitsBehind.after = max(l.waitsBehind.after, r.app.slot.Submitted)
	}
	l.reoffer(l.waitsBehind.leaf)
	l.version++
	return true
}

// endWait: the group does not wait for room any more.
func (l *Ledger) endWait(g *group) {
	if l.nodeHolds.Group == g {
		l.nodeHolds.End()
		l.giveBackHeld()
	}
	g.wait = groupWait{}
}

// endHoldInTime gives back nodes that were held for long enough, or that have become useless to the group.
func (l *Ledger) endHoldInTime(now int64) {
	g := l.nodeHolds.Group
	if g == nil {
		return
	}
	if _, stopped := l.stopOfGroup(g, ""); stopped {
		l.endWait(g)
	} else if l.nodeHolds.Expire(&g.wait.Wait, now) {
		l.giveBackHeld()
	}
}

// giveBackHeld lets everybody use the nodes again that were held.
func (l *Ledger) giveBackHeld() {
	leaf := l.waitsBehind.leaf
	l.waitsBehind = queueBehind{}
	l.reoffer(leaf)
	for _, e := range l.nodes.all { // each for itself: order does not matter
		if e.heldFor != nil {
			e.heldFor = nil
			l.nodes.gained(e)
		}
	}
	for _, r := range l.window.parked { // a probe may have been kept off those nodes
		l.window.wake(r)
	}
	l.version++
}

// reoffer has the applications of a leaf take part in its order again, or not: those that wait behind a group do not, since there may be thousands,
// and each walk would step past all of them.
func (l *Ledger) reoffer(leaf *account) {
	if l.queues.accounts[leaf.path] != leaf {
		return // it left the tree
	}
	for _, app := range leaf.apps { // each for itself: order does not matter
		app.book().Offer(&app.inOrder, l.lanesOf(app))
	}
	l.refresh(leaf)
}

// isBehindGroup reports whether an application waits since it came after the group for which nodes are held.
func (l *Ledger) isBehindGroup(app *account) bool {
	return l.waitsBehind.leaf != nil && app.parent == l.waitsBehind.leaf && app.slot.Submitted > l.waitsBehind.after
}

// behindGroup says behind which group an application waits.
func (l *Ledger) behindGroup(app *account) (reason.Reason, bool) {
	if !l.isBehindGroup(app) {
		return reason.Reason{}, false
	}
	g := l.nodeHolds.Group
	return reason.Reason{Code: reason.BehindGang, Queue: string(app.path), PodGroup: g.Key, Details: reason.Turn{
		Since: g.wait.Since, Until: l.nodeHolds.Until,
	}}, true
}

// NodesOpenTo returns the nodes that a pod may use while others are held for a pod group that it is not of; false: none is held from it. The node on
// which preemption made a place for it is never held from it.
func (l *Ledger) NodesOpenTo(uid UID) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if !l.nodeHolds.Held() || r != nil && r.group == l.nodeHolds.Group {
		return nil, false
	}
	var open []string
	for _, e := range l.nodes.all { // into a set: order does not matter
		if e.heldFor == nil || r != nil && r.nomination != nil && r.nomination.node == e {
			open = append(open, e.Name)
		}
	}
	return open, true
}
