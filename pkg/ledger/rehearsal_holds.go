package ledger

import "slices"

// endedHold is a hold, or the hold of one node, that ended in a rehearsal, since the pods for which it was have started.
type endedHold struct {
	charges int // how many had been made when it ended
	pods    []*record
	nodes   []*node
	until   int64
}

// openHeld opens nodes that are held to all pods, as they are once the pods for which they are held have nodes: those of a group once all of its pods have
// been charged, and one that a large pod takes with the charge.
func (h *Rehearsal) openHeld(r *record, place *node) {
	l := h.ledger
	if !l.nodeHolds.Held() || l.nodeHolds.For != r.waiter() {
		return
	}
	ended := endedHold{len(h.charged), []*record{r}, nil, l.nodeHolds.Until}
	switch g := r.group; {
	case g == nil && place != nil && place.heldFor == r.waiter():
		ended.nodes = []*node{place}
		l.openHeld(place)
	case g != nil && len(h.group) == 0 && g.Taken > 0:
		ended.nodes = slices.Clone(l.nodeHolds.nodes)
		l.nodeHolds.End()
		l.giveBackHeld()
	default:
		return
	}
	h.ended = append(h.ended, ended)
	h.fresh = false
}

// holdAgain holds nodes again that were opened with a charge that has been taken back.
func (h *Rehearsal) holdAgain() {
	for n := len(h.ended); n > 0 && len(h.charged) < h.ended[n-1].charges; n = len(h.ended) {
		e := h.ended[n-1]
		h.ended = h.ended[:n-1]
		h.ledger.holdAgain(e.pods, e.nodes, e.until)
	}
}
