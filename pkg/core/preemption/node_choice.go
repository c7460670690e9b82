package preemption

// nodeChoice is one claimant on one node in a jointSearch, and the choice of its victims.
type nodeChoice struct {
	s     *jointSearch
	i, j  int
	rs    *roomSearch
	node  int32
	cover cover
}

// try tries all sets of victims that give the claimant's room, and with each the rest of the claim.
func (f *nodeChoice) try() bool {
	p := f.s.p
	f.cover = cover{p: p, rs: f.rs, node: f.node, lacks: p.lacks(f.rs, f.node, nil)}
	if len(f.cover.lacks) == 0 {
		return f.assign()
	}
	evictionUnits := p.nodes[f.node].evictionUnits
	if f.cover.lacks[len(f.cover.lacks)-1].at != room {
		evictionUnits = make([]int32, len(p.evictionUnits))
		for id := range evictionUnits {
			evictionUnits[id] = int32(id)
		}
	}
	return f.cover.prepare(evictionUnits) && f.choose(0)
}

// choose adds victims, from the given one on in order of preference, until all is given. Every victim must be needed.
func (f *nodeChoice) choose(from int) bool {
	c, s := &f.cover, f.s
	if c.covered() {
		return !f.hasUnneeded() && f.assign()
	}
	for i := from; i < len(c.evictionUnits) && s.steps > 0; i++ {
		a := &s.p.evictionUnits[c.evictionUnits[i]]
		if len(a.pods) > s.pods || a.drivers > s.drivers || !c.helps(i) {
			continue
		}
		s.steps--
		if !s.p.tryTake(f.rs, c.evictionUnits[i]) {
			continue
		}
		f.give(i, true)
		if f.choose(i + 1) {
			return true
		}
		f.give(i, false)
		s.p.undo(c.evictionUnits[i])
	}
	return false
}

func (f *nodeChoice) give(i int, goes bool) {
	s, a := f.s, &f.s.p.evictionUnits[f.cover.evictionUnits[i]]
	f.cover.give(i, goes)
	if goes {
		s.gone = append(s.gone, f.cover.evictionUnits[i])
		s.pods -= len(a.pods)
		s.drivers -= a.drivers
		return
	}
	s.gone = s.gone[:len(s.gone)-1]
	s.pods += len(a.pods)
	s.drivers += a.drivers
}

// hasUnneeded reports whether the chosen victims give all even without one of them.
func (f *nodeChoice) hasUnneeded() bool {
	c := &f.cover
	n := len(c.lacks)
	for _, id := range c.chosen {
		needed := false
		for i := range c.evictionUnits {
			if c.evictionUnits[i] != id {
				continue
			}
			for j, v := range c.left {
				needed = needed || v+c.given[i*n+j] > 0
			}
		}
		if !needed {
			return true
		}
	}
	return false
}

// assign puts the claimant on the node and goes on with the next claimant.
func (f *nodeChoice) assign() bool {
	s, p := f.s, f.s.p
	at := assignment{node: f.node, victims: append([]int32(nil), f.cover.chosen...)}
	amounts := p.amounts(at.victims)
	if !p.round.affords(amounts, s.alone(f.i)) {
		return false
	}
	s.assignments[f.i] = append(s.assignments[f.i], at)
	if !s.refused[s.filterKey(f.i, f.j)] {
		change(p.round.taken, amounts, true)
		p.assume(at.node, f.rs.claimant.request, true)
		if s.place(f.i, f.j+1) {
			return true
		}
		p.assume(at.node, f.rs.claimant.request, false)
		change(p.round.taken, amounts, false)
	}
	s.assignments[f.i] = s.assignments[f.i][:f.j]
	return false
}

// alone reports whether the round has no victims before those of this unit.
func (s *jointSearch) alone(unit int) bool {
	for _, assignments := range s.assignments[:unit] {
		for _, at := range assignments {
			if len(at.victims) > 0 {
				return false
			}
		}
	}
	return !s.any
}
