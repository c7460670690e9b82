package ledger

import "slices"

// endedHold is a hold that ended in a rehearsal, since its group started.
type endedHold struct {
	charges int // how many had been made when it ended
	group   *group
	nodes   []*node
	until   int64
}

// openHeld opens the nodes that are held for a group to all pods once the group's pods have been charged, as they are once these have nodes.
func (h *Rehearsal) openHeld(g *group) {
	l := h.ledger
	if g == nil || l.nodeHolds.For != &g.wait || len(h.group) > 0 || g.Taken == 0 {
		return
	}
	h.ended = &endedHold{len(h.charged), g, slices.Clone(l.nodeHolds.nodes), l.nodeHolds.Until}
	l.nodeHolds.End()
	l.giveBackHeld()
	h.fresh = false
}

// holdAgain holds the nodes again if fewer charges are left than had been made when they were opened.
func (h *Rehearsal) holdAgain() {
	if e := h.ended; e != nil && len(h.charged) < e.charges {
		h.ended = nil
		h.ledger.holdAgain(e.group, e.nodes, e.until)
	}
}
