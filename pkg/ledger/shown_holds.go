package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Which nodes are held is in memory only. The status of the queue of which the pods are shows it, so that a reader of objects can say what is kept,
// for whom and until when. A ledger that answers questions takes it back from there (RestoreHolds). One that begins to lead does not: it holds no nodes
// until a group has waited for long enough again, and the statuses then say so.

// shownHolds are the holds for groups of a queue. Those for large pods are not shown there.
func (h *nodeHolds) shownHolds(a *queueAccount) []queue.Hold {
	if !h.Held() || h.leaf != a || h.For.group == nil {
		return nil
	}
	hold := queue.Hold{PodGroup: h.For.group.Key, Since: h.For.Since, Until: h.Until}
	for _, e := range h.nodes {
		if e.heldFor == h.For {
			hold.Nodes = append(hold.Nodes, e.Name)
		}
	}
	slices.Sort(hold.Nodes)
	return []queue.Hold{hold}
}

// endsAt notes when the nodes are given back at the latest, where that is known from before.
func (h *nodeHolds) endsAt(until int64) { h.Until = until }

// waitsSince notes since when the group waits, where that is known from before.
func (w *waiter) waitsSince(since int64) { w.Since = since }

// RestoreHolds holds the nodes that the statuses of the Queues name, as far as that is still of use. It is for a ledger that answers questions, after Lead.
func (l *Ledger) RestoreHolds(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.settleAll()
	l.restoreHolds()
	l.drain()
}

func (l *settled) restoreHolds() {
	for _, p := range sortedKeys(l.queues.declared) {
		for _, h := range l.queues.declared[p].Memory.Holds {
			if !l.nodeHolds.Held() && h.Until > l.now {
				l.restoreHold(h)
			}
		}
	}
}

// restoreHold holds the nodes again if the group still asks for room.
func (l *moves) restoreHold(h queue.Hold) {
	g := l.groups.byKey[h.PodGroup]
	if g == nil || g.asksForRoom() == nil {
		return
	}
	var nodes []*node
	for _, name := range h.Nodes {
		if e := l.nodes.byName[name]; e != nil && e.known {
			nodes = append(nodes, e)
		}
	}
	if len(nodes) > 0 {
		g.wait.waitsSince(h.Since)
		l.holdAgain(g, nodes, h.Until)
	}
}

// holdAgain holds nodes for a group that had them held before.
func (l *moves) holdAgain(g *group, nodes []*node, until int64) {
	l.holdFor(packingOf(g, g.next(g.Need()), l.shares.total), nodes, l.now)
	l.nodeHolds.endsAt(until)
}
