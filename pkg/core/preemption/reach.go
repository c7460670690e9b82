package preemption

// reach is where the victims for a unit may come from.
type reach struct {
	// ideal: only from queues that keep their ideal without the victims. Otherwise they only keep their entitlement.
	ideal bool
	// from and to are the first and the last index on the claim's path that a victim may have as its lowestCommonAncestor.
	from, to int
}

// reaches are the reaches for a unit, charged already, in the order in which they are tried: a later one is for what no earlier one can
// pay. So no queue within its ideal loses a pod if queues above theirs can pay, and while a queue around the claim is short, no queue
// inside it loses a pod if queues outside can pay.
func (p *planner) reaches(o *activeClaim, u *unit) []reach {
	var out []reach
	for _, ideal := range []bool{true, false} {
		from := p.lcaBound(o, u, ideal)
		for to := from; to < len(o.path)-1; to++ {
			if len(out) == 0 || p.couldPay(o, to, ideal) { // the first one finds free room, too
				out = append(out, reach{ideal, from, to})
			}
		}
	}
	return out
}

// couldPay reports whether some queue beside the claim's path, at this index, has enough to lose a pod.
func (p *planner) couldPay(o *activeClaim, at int, ideal bool) bool {
	for q := range p.queues {
		if a := &p.queues[q]; o.lowestCommonAncestor[q] == at && a.depth == at+1 && a.keeps(a.entitled) && (!ideal || a.keeps(a.ideal)) {
			return true
		}
	}
	return false
}

// lcaBound is the smallest index on the claim's path that a victim may have as its lowestCommonAncestor. If this unit, charged already,
// brings a queue on the path above that queue's own entitlement, no victim may be outside that queue: as a whole it lacks nothing, so its
// children must give. From queues above their ideal it may take up to its own ideal. A queue that with the unit is not above its own
// guarantee of something that the unit asks for does lack that, whatever else it has. What counts is what is covered for the queues outside.
func (p *planner) lcaBound(o *activeClaim, u *unit, ideal bool) int {
	m := len(o.path) - 2
	for m > 0 && p.lackFrom(o, u, m-1, ideal) {
		m--
	}
	return m
}

// lackFrom reports whether the claim's queue, and all around it that are further inside than this index on the claim's path, lack something for the queues
// that meet the claim there.
func (p *planner) lackFrom(o *activeClaim, u *unit, at int, ideal bool) bool {
	for _, q := range o.path[at+1 : len(o.path)-1] {
		if !p.isShort(o, u, q, at, ideal) {
			return false
		}
	}
	return at >= len(o.covered) || p.withinTarget(o, u, o.covered[at])
}

// isShort reports whether a queue around the claim lacks something itself, for the queues that meet it at this index on the claim's path: see lcaBound.
func (p *planner) isShort(o *activeClaim, u *unit, q, at int, ideal bool) bool {
	a := &p.queues[q]
	due := a.seen(at)
	if a.within(due.above) || ideal && a.within(due.aboveIdeal) {
		return true
	}
	return o.Kind == BelowGuaranteed && p.pays(q, u, due.guaranteed) != paysNothing
}
