package preemption

// frame is one claimant on one node in a search, and the choice of who goes for it.
type frame struct {
	s         *search
	i, j      int
	h         *hunt
	node      int32
	cover     cover
	touchable []bool
}

// open tries everybody who may go for the claimant's room, and then the rest of the claim.
func (f *frame) open() bool {
	p := f.s.p
	f.cover = cover{p: p, h: f.h, node: f.node, lacks: p.lacks(f.h, f.node, nil)}
	if len(f.cover.lacks) == 0 {
		return f.sit()
	}
	evictionUnits := p.nodes[f.node].evictionUnits
	if f.cover.lacks[len(f.cover.lacks)-1].at != room {
		evictionUnits = make([]int32, len(p.evictionUnits))
		for id := range evictionUnits {
			evictionUnits[id] = int32(id)
		}
	}
	if p.queues[0].bar != nil {
		for q := range p.queues {
			f.touchable = append(f.touchable, p.queues[q].touchable)
		}
	}
	return f.cover.prepare(evictionUnits) && f.choose(0)
}

// choose adds victims, from one on in order of preference, until all is given and nobody of them could stay.
func (f *frame) choose(from int) bool {
	c, s := &f.cover, f.s
	if c.covered() {
		return !f.idle() && f.sit()
	}
	for i := from; i < len(c.evictionUnits) && s.steps > 0; i++ {
		a := &s.p.evictionUnits[c.evictionUnits[i]]
		if len(a.pods) > s.pods || a.drivers > s.drivers || !c.helps(i) {
			continue
		}
		s.steps--
		if !s.p.may(f.h, c.evictionUnits[i]) {
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

func (f *frame) give(i int, goes bool) {
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

// idle reports whether the others give all without one of the chosen.
func (f *frame) idle() bool {
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

// sit puts the claimant on the node and goes on with the next.
func (f *frame) sit() bool {
	s, p := f.s, f.s.p
	at := seat{node: f.node, victims: append([]int32(nil), f.cover.chosen...)}
	amounts := p.amounts(at.victims)
	if !p.round.affords(amounts, s.alone(f.i)) {
		return false
	}
	s.seats[f.i] = append(s.seats[f.i], at)
	if !s.wrong[s.question(f.i, f.j)] {
		change(p.round.taken, amounts, true)
		p.settle(at.node, f.h.asker.request, true)
		if s.place(f.i, f.j+1) {
			return true
		}
		p.settle(at.node, f.h.asker.request, false)
		change(p.round.taken, amounts, false)
	}
	s.seats[f.i] = s.seats[f.i][:f.j]
	for q, touchable := range f.touchable {
		p.queues[q].touchable = touchable
	}
	return false
}

// alone reports whether nobody goes in the round for anybody before a unit.
func (s *search) alone(unit int) bool {
	for _, seats := range s.seats[:unit] {
		for _, at := range seats {
			if len(at.victims) > 0 {
				return false
			}
		}
	}
	return !s.any
}
