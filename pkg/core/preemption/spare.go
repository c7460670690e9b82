package preemption

import "slices"

// spare lets those stay whom nobody needs once all claims are paid: a later claimant on the same node may need more than it asks for alone, and
// its victims make room for an earlier one too.
func (p *planner) spare() {
	for _, o := range slices.Backward(p.paid) {
		for i := range slices.Backward(o.placed) {
			for j := range slices.Backward(o.placed[i].seats) {
				s := &o.placed[i].seats[j]
				for k := len(s.victims) - 1; k >= 0; k-- {
					if p.roomWithout(s.victims[k]) {
						p.tryWithout(s, k)
					}
				}
			}
		}
	}
}

// roomWithout reports whether all places have room though an eviction unit stays.
func (p *planner) roomWithout(id int32) bool {
	p.undo(id)
	defer p.restoreTaken([]int32{id})
	for _, v := range p.evictionUnits[id].pods {
		n := p.pods[v].node
		for _, o := range p.paid {
			for _, u := range o.placed {
				for i, s := range u.seats {
					if s.node == n && !p.hasRoom(n, u.unit.pods[i].request) {
						return false
					}
				}
			}
		}
	}
	return true
}

// hasRoom reports whether nothing that somebody on the node asks for is overdrawn.
func (p *planner) hasRoom(node int32, request []int64) bool {
	n := &p.nodes[node]
	for i, v := range request {
		if v > 0 && n.free[i] < 0 {
			return false
		}
	}
	return n.slots >= 0
}

func (p *planner) tryWithout(s *seat, k int) {
	before := s.victims
	p.retractAll()
	s.victims = slices.Delete(slices.Clone(before), k, k+1)
	lawful := p.replay()
	if lawful && p.tellAll() {
		return
	}
	if lawful {
		p.retractAll()
	}
	s.victims = before
	for _, o := range p.paid {
		p.repeat(o.placed)
	}
	if lawful {
		p.f.Rollback(p.commits)
		for _, o := range p.paid {
			p.tell(o.placed, p.f.Commits())
		}
	}
}

func (p *planner) retractAll() {
	for _, o := range slices.Backward(p.paid) {
		p.retract(o.placed)
	}
}

// replay carries everything out again, and reports whether it kept the rules. If not, nothing of it is left.
func (p *planner) replay() bool {
	for q := range p.queues {
		p.queues[q].guarded = false
	}
	lawful, done := true, 0
	for ; lawful && done < len(p.paid); done++ {
		lawful = p.replayClaim(p.paid[done])
		p.guard(p.paid[done])
	}
	for _, o := range p.paid { // every max in the end: all victims go at once
		lawful = lawful && len(p.excess(o, nil)) == 0
	}
	if !lawful {
		for _, o := range slices.Backward(p.paid[:done]) {
			p.retract(o.placed)
		}
	}
	return lawful
}

// replayClaim puts all of a claim in place even if it finds a rule broken.
func (p *planner) replayClaim(o *activeClaim) bool {
	lawful := true
	for _, u := range o.placed {
		p.chargeUnit(u.unit, true)
		h := &hunt{activeClaim: o, lcaBound: p.lcaBound(o), drivers: true}
		for i, s := range u.seats {
			p.open()
			for _, id := range s.victims {
				if !p.may(h, id) {
					lawful = false
					p.restoreTaken([]int32{id})
				}
			}
			change(p.round.taken, p.amounts(s.victims), true)
			p.settle(s.node, u.unit.pods[i].request, true)
		}
	}
	return lawful
}

// tellAll asks the filters about every place with all victims gone, and reports whether they agree.
func (p *planner) tellAll() bool {
	p.f.Rollback(p.commits)
	p.stamp++
	waiting := map[int32][]string{}
	for _, o := range p.paid {
		for _, u := range o.placed {
			for _, s := range u.seats {
				for n := range p.nodes {
					waiting[int32(n)] = append(waiting[int32(n)], p.onNode(int32(n), s.victims)...)
				}
			}
		}
	}
	for _, o := range p.paid {
		for _, u := range o.placed {
			for i, s := range u.seats {
				gone := waiting[s.node]
				waiting[s.node] = nil
				a, node := u.unit.pods[i].Claimant, p.nodes[s.node].index
				if !p.f.Fits(a, node, gone) {
					return false
				}
				p.f.Commit(a, node, gone)
			}
		}
	}
	return true
}
