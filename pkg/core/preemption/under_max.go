package preemption

import "slices"

// fewTries is how many nodes are looked at even if the claim has used up its work: under a max, no node may have all that is missing.
const fewTries = 4

// solveUnderMax takes victims on the node for the room there, and victims on any node so that no max above the claim is exceeded.
func (p *planner) solveUnderMax(rs *roomSearch, o *option) {
	c := &p.cover
	c.lacks = slices.DeleteFunc(c.lacks, func(l lack) bool { return l.at != room })
	var here []int32
	if len(c.lacks) > 0 {
		if rs.tries++; p.work <= 0 && rs.tries > fewTries {
			return
		}
		if !p.takeSingle(c, p.nodes[o.node].evictionUnits) && !(c.prepare(p.nodes[o.node].evictionUnits) && c.fewest()) {
			return
		}
		here = slices.Clone(c.chosen)
	}
	rest := p.takeUnderMax(rs, here)
	if rest != nil {
		all := append(here, rest...)
		p.recordOption(rs, o, all)
		p.undo(all...)
		return
	}
	p.undo(here...)
}

// takeUnderMax takes victims so that no max above the claim is exceeded, beside those taken on the node already (here). nil: there are
// none. Without victims on the node the result is the same for all nodes, so it is looked for once.
func (p *planner) takeUnderMax(rs *roomSearch, here []int32) []int32 {
	c := &p.cover
	c.lacks = p.excess(rs.activeClaim, c.lacks[:0])
	c.node = -1
	if len(c.lacks) == 0 {
		return []int32{}
	}
	if len(here) == 0 && rs.triedUnderMax {
		if rs.underMax == nil || !p.takeAgain(rs, &option{victims: rs.underMax}) {
			return nil
		}
		return rs.underMax
	}
	all := p.givers(rs, c.lacks)
	var out []int32
	if p.takeSingle(c, all) || c.prepare(p.mostGiving(rs, c.lacks, all)) && c.fewest() {
		out = slices.Clone(c.chosen)
	}
	if len(here) == 0 {
		rs.triedUnderMax, rs.underMax = true, out
	}
	return out
}

// givers are the eviction units, on whatever node, that give anything of what is missing.
func (p *planner) givers(rs *roomSearch, lacks []lack) []int32 {
	p.work -= len(p.evictionUnits)
	var out []int32
	for id := range p.evictionUnits {
		a := &p.evictionUnits[id]
		if (a.drivers > 0 && !rs.drivers) || !p.eligible(rs, &p.pods[a.pods[0]]) {
			continue
		}
		if slices.ContainsFunc(lacks, func(l lack) bool { return p.gives(rs, int32(id), never, l) > 0 }) {
			out = append(out, int32(id))
		}
	}
	return out
}

// mostGiving bounds the search to the units that give most of the first lack.
func (p *planner) mostGiving(rs *roomSearch, lacks []lack, all []int32) []int32 {
	const most = 128
	if len(all) > most {
		slices.SortFunc(all, func(a, b int32) int {
			x, y := p.gives(rs, a, never, lacks[0]), p.gives(rs, b, never, lacks[0])
			switch {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return p.compareVictims(rs, a, b)
		})
		all = all[:most]
	}
	return all
}
