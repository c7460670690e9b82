package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Which nodes are held is known in memory only. The status of the queue that has the waiting pods shows it, so that a reader of objects can say what is kept,
// for whom and until when. A ledger that answers questions reads it from there (RestoreHolds). One that begins to lead does not: it holds no nodes until a
// group or a large pod has waited for long enough again, and the statuses then say so.

// shownHolds are the holds for pods of a queue.
func (l *contents) shownHolds(a *queueAccount) []queue.Hold {
	h := &l.nodeHolds
	if !h.Held() || h.leaf != a {
		return nil
	}
	hold := queue.Hold{Since: h.For.Since, Until: h.Until}
	if g := h.For.group; g != nil {
		hold.PodGroup = g.Key
	} else if pods := l.largePodsOf(h.For.class, a, 1, l.now); len(pods) > 0 {
		hold.Pod = pods[0].Namespace + "/" + pods[0].Name
	} else {
		return nil // the nodes are about to be given back
	}
	for _, e := range h.nodes {
		if e.heldFor == h.For {
			hold.Nodes = append(hold.Nodes, e.Name)
		}
	}
	slices.Sort(hold.Nodes)
	return []queue.Hold{hold}
}

// endsAt sets when the nodes are given back at the latest: a hold that is taken up again keeps its end.
func (h *nodeHolds) endsAt(until int64) { h.Until = until }

// waitsSince sets since when the group or the large pods have waited: a hold that is taken up again keeps that, too.
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

// restoreHold holds the nodes again if the group or the pod still asks for room.
func (l *moves) restoreHold(h queue.Hold) {
	var pods []*record
	if h.PodGroup == "" {
		pods = l.waitingPodNamed(h.Pod)
	} else if g := l.groups.byKey[h.PodGroup]; g != nil {
		pods = g.asksForRoom()
	}
	var nodes []*node
	for _, name := range h.Nodes {
		if e := l.nodes.byName[name]; e != nil && e.known {
			nodes = append(nodes, e)
		}
	}
	if len(pods) > 0 && len(nodes) > 0 {
		pods[0].waiter().waitsSince(h.Since)
		l.holdAgain(pods, nodes, h.Until)
	}
}

// waitingPodNamed returns the pod of this namespace and name if it waits and is of no group.
func (l *contents) waitingPodNamed(name string) []*record {
	for _, r := range l.requests.unbound { // there is one of a name: order does not matter
		if r.Namespace+"/"+r.Name == name && r.state == Waiting && r.InQueue() && r.group == nil {
			return []*record{r}
		}
	}
	return nil
}

// holdAgain holds nodes for the group of these pods, or for the class of one, for which they were held before.
func (l *moves) holdAgain(pods []*record, nodes []*node, until int64) {
	if g := pods[0].group; g != nil {
		l.holdFor(packingOf(g, g.next(g.Need()), l.shares.total), nodes, l.now)
	} else {
		for _, e := range nodes {
			l.holdNode(pods[0].waiter(), e, pods, l.now)
		}
	}
	l.nodeHolds.endsAt(until)
}
