package preemption

import "slices"

// fits asks the filters about an option whose victims are taken already.
func (p *planner) fits(rs *roomSearch, o *option) bool {
	if !p.f.Fits(rs.claimant.Claimant, p.nodes[o.node].index, p.onNode(o.node, o.victims)) {
		return false
	}
	o.checked = p.stamp
	return true
}

func (p *planner) onNode(node int32, evictionUnits []int32) []string {
	var out []string
	for _, id := range evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			if p.pods[v].node == node {
				out = append(out, p.pods[v].UID)
			}
		}
	}
	return out
}

// resolveConflict is for a node that has the room but that the filters refuse: one of its pods may be in the way. If the filters agree once
// all pods that may be evicted are gone, the pods whose eviction is not needed come back one by one.
func (p *planner) resolveConflict(rs *roomSearch, o *option) {
	o.state, o.checked = refused, p.stamp
	lacks := p.lacks(rs, o.node, nil)
	var gone []int32
	for _, id := range p.byPreference(rs, o.node) {
		if p.tryTake(rs, id) {
			gone = append(gone, id)
		}
	}
	if !p.covers(rs, o.node, gone, lacks) || len(gone) == len(o.victims) || !p.fits(rs, &option{node: o.node, victims: gone}) {
		p.undo(gone...)
		return
	}
	for i := len(gone) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(gone), i, i+1)
		p.undo(gone[i])
		if p.covers(rs, o.node, without, lacks) && p.fits(rs, &option{node: o.node, victims: without}) {
			gone = without
			continue
		}
		p.tryTake(rs, gone[i])
	}
	p.recordOption(rs, o, gone)
	o.checked = p.stamp
	p.undo(gone...)
}

// byPreference are the eviction units on a node, the preferred first, drivers last.
func (p *planner) byPreference(rs *roomSearch, node int32) []int32 {
	var out []int32
	for _, id := range p.nodes[node].evictionUnits {
		if a := &p.evictionUnits[id]; a.drivers == 0 || rs.drivers {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b int32) int {
		if by := p.evictionUnits[a].drivers - p.evictionUnits[b].drivers; by != 0 {
			return by
		}
		return p.compareVictims(rs, a, b)
	})
	return out
}

func (p *planner) covers(rs *roomSearch, node int32, evictionUnits []int32, lacks []lack) bool {
	for _, l := range lacks {
		for _, id := range evictionUnits {
			l.amount -= p.gives(rs, id, node, l)
		}
		if l.amount > 0 {
			return false
		}
	}
	return true
}
