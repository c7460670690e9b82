package preemption

import "slices"

// fewTries nodes are looked at however much work a claim has made: under a max it may be that none has all that lacks.
const fewTries = 4

// solveElsewhere makes room on the node by pods of the node, and under a max above the claim by pods wherever they run.
func (p *planner) solveElsewhere(h *hunt, o *option) {
	c := &p.cover
	c.lacks = slices.DeleteFunc(c.lacks, func(l lack) bool { return l.at != room })
	var here []int32
	if len(c.lacks) > 0 {
		if h.tries++; p.work <= 0 && h.tries > fewTries {
			return
		}
		if !p.single(c, p.nodes[o.node].evictionUnits) && !(c.prepare(p.nodes[o.node].evictionUnits) && c.fewest()) {
			return
		}
		here = slices.Clone(c.chosen)
	}
	rest := p.under(h, here)
	if rest != nil {
		all := append(here, rest...)
		p.note(h, o, all)
		p.undo(all...)
		return
	}
	p.undo(here...)
}

// under takes pods so that no max above the claim is exceeded. What would go for nobody's room on a node is alike to all nodes, and is looked for
// once. nil: there are none.
func (p *planner) under(h *hunt, here []int32) []int32 {
	c := &p.cover
	c.lacks = p.excess(h.activeClaim, c.lacks[:0])
	c.node = -1
	if len(c.lacks) == 0 {
		return []int32{}
	}
	if len(here) == 0 && h.looked {
		if h.elsewhere == nil || !p.retake(h, &option{victims: h.elsewhere}) {
			return nil
		}
		return h.elsewhere
	}
	all := p.insiders(h, c.lacks)
	var out []int32
	if p.single(c, all) || c.prepare(p.promising(h, c.lacks, all)) && c.fewest() {
		out = slices.Clone(c.chosen)
	}
	if len(here) == 0 {
		h.looked, h.elsewhere = true, out
	}
	return out
}

// insiders are those who give anything of what lacks, wherever they run.
func (p *planner) insiders(h *hunt, lacks []lack) []int32 {
	p.work -= len(p.evictionUnits)
	var out []int32
	for id := range p.evictionUnits {
		a := &p.evictionUnits[id]
		if (a.drivers > 0 && !h.drivers) || !p.reaches(h, &p.pods[a.pods[0]]) {
			continue
		}
		if slices.ContainsFunc(lacks, func(l lack) bool { return p.gives(h, int32(id), never, l) > 0 }) {
			out = append(out, int32(id))
		}
	}
	return out
}

// promising bounds the search: those who give most of the first thing that lacks.
func (p *planner) promising(h *hunt, lacks []lack, all []int32) []int32 {
	const most = 128
	if len(all) > most {
		slices.SortFunc(all, func(a, b int32) int {
			x, y := p.gives(h, a, never, lacks[0]), p.gives(h, b, never, lacks[0])
			switch {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return p.prefer(h, a, b)
		})
		all = all[:most]
	}
	return all
}

// fits asks the filters about an option whose victims are taken.
func (p *planner) fits(h *hunt, o *option) bool {
	if !p.f.Fits(h.asker.Claimant, p.nodes[o.node].index, p.onNode(o.node, o.victims)) {
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

// resolveConflict is for a node that has the room but that the filters refuse. One of its pods may be in the way. If the filters
// agree with everybody gone who may go, those come back who are not needed.
func (p *planner) resolveConflict(h *hunt, o *option) {
	o.state, o.checked = refused, p.stamp
	lacks := p.lacks(h, o.node, nil)
	var gone []int32
	for _, id := range p.byPreference(h, o.node) {
		if p.may(h, id) {
			gone = append(gone, id)
		}
	}
	if !p.covers(h, o.node, gone, lacks) || len(gone) == len(o.victims) || !p.fits(h, &option{node: o.node, victims: gone}) {
		p.undo(gone...)
		return
	}
	for i := len(gone) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(gone), i, i+1)
		p.undo(gone[i])
		if p.covers(h, o.node, without, lacks) && p.fits(h, &option{node: o.node, victims: without}) {
			gone = without
			continue
		}
		p.may(h, gone[i])
	}
	p.note(h, o, gone)
	o.checked = p.stamp
	p.undo(gone...)
}

// byPreference are those who might go from a node, drivers last.
func (p *planner) byPreference(h *hunt, node int32) []int32 {
	var out []int32
	for _, id := range p.nodes[node].evictionUnits {
		if a := &p.evictionUnits[id]; a.drivers == 0 || h.drivers {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b int32) int {
		if by := p.evictionUnits[a].drivers - p.evictionUnits[b].drivers; by != 0 {
			return by
		}
		return p.prefer(h, a, b)
	})
	return out
}

func (p *planner) covers(h *hunt, node int32, evictionUnits []int32, lacks []lack) bool {
	for _, l := range lacks {
		for _, id := range evictionUnits {
			l.amount -= p.gives(h, id, node, l)
		}
		if l.amount > 0 {
			return false
		}
	}
	return true
}
