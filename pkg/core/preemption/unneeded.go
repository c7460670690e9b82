package preemption

import "slices"

// dropUnneeded drops the victims that are not needed once all claims are paid. There may be some: a victim often gives more room than its
// claimant needs, and what is left may do for another claimant on the node, whose victims were chosen before.
func (p *planner) dropUnneeded() {
	for _, o := range slices.Backward(p.paid) {
		for i := range slices.Backward(o.placed) {
			for j := range slices.Backward(o.placed[i].assignments) {
				s := &o.placed[i].assignments[j]
				for k := len(s.victims) - 1; k >= 0; k-- {
					if p.roomWithout(s.victims[k]) {
						p.tryWithout(s, k)
					}
				}
			}
		}
	}
}

// roomWithout reports whether all claimants have room although an eviction unit stays.
func (p *planner) roomWithout(id int32) bool {
	p.undo(id)
	defer p.restoreTaken([]int32{id})
	for _, v := range p.evictionUnits[id].pods {
		n := p.pods[v].node
		for _, o := range p.paid {
			for _, u := range o.placed {
				for i, s := range u.assignments {
					if s.node == n && !p.hasRoom(n, u.unit.pods[i].request) {
						return false
					}
				}
			}
		}
	}
	return true
}

// hasRoom reports whether the node is overfull of nothing that this request names.
func (p *planner) hasRoom(node int32, request []int64) bool {
	n := &p.nodes[node]
	for i, v := range request {
		if v > 0 && n.free[i] < 0 {
			return false
		}
	}
	return n.slots >= 0
}

func (p *planner) tryWithout(s *assignment, k int) {
	before := s.victims
	p.unplaceAll()
	s.victims = slices.Delete(slices.Clone(before), k, k+1)
	allowed := p.replay()
	if allowed && p.askFilters() {
		return
	}
	if allowed {
		p.unplaceAll()
	}
	s.victims = before
	for _, o := range p.paid {
		p.placeAgain(o.placed)
	}
	if allowed {
		p.f.Rollback(p.commits)
		for _, o := range p.paid {
			p.tellFilters(o.placed, p.f.Commits())
		}
	}
}

func (p *planner) unplaceAll() {
	for _, o := range slices.Backward(p.paid) {
		p.unplace(o.placed)
	}
}

// replay places all units again, with the rules asked again, and reports whether they allow it. If not, nothing is placed.
func (p *planner) replay() bool {
	for q := range p.queues {
		p.queues[q].guarded = false
	}
	allowed, done := true, 0
	for ; allowed && done < len(p.paid); done++ {
		allowed = p.replayClaim(p.paid[done])
		p.guardQueues(p.paid[done])
	}
	for _, o := range p.paid { // every max in the end: all victims go at once
		allowed = allowed && len(p.excess(o, nil)) == 0
	}
	if !allowed {
		for _, o := range slices.Backward(p.paid[:done]) {
			p.unplace(o.placed)
		}
	}
	return allowed
}

// replayClaim places all units of a claim, also if a rule does not allow it, and reports whether all rules do.
func (p *planner) replayClaim(o *activeClaim) bool {
	allowed := true
	for _, u := range o.placed {
		p.chargeUnit(u.unit, true)
		rs := p.search(o, u.unit, u.reach, true)
		rs.from = p.lcaBound(o, u.unit, u.reach.ideal)
		for i, s := range u.assignments {
			for _, id := range s.victims {
				if !p.tryTake(rs, id) {
					allowed = false
					p.restoreTaken([]int32{id})
				}
			}
			change(p.round.taken, p.amounts(s.victims), true)
			p.assume(s.node, u.unit.pods[i].request, true)
		}
	}
	return allowed
}

// askFilters asks the filters about every assignment in the order in which they were found, and reports whether they agree. An assignment
// that lost a victim may get its room from a victim of a later one, so where a node is refused, they are asked about it with all victims
// there gone.
func (p *planner) askFilters() bool {
	p.f.Rollback(p.commits)
	p.stamp++
	for _, o := range p.paid {
		for _, u := range o.placed {
			for i, s := range u.assignments {
				a, node := u.unit.pods[i].Claimant, p.nodes[s.node].index
				if !p.f.Fits(a, node, p.onNode(s.node, s.victims)) && !p.f.Fits(a, node, p.victimsOn(s.node)) {
					return false
				}
				p.f.Commit(a, node, p.uids(s.victims))
			}
		}
	}
	return true
}

// victimsOn are the victims of the whole plan on a node.
func (p *planner) victimsOn(node int32) []string {
	var out []string
	for _, id := range p.nodes[node].evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			if p.pods[v].node == node && p.pods[v].gone {
				out = append(out, p.pods[v].UID)
			}
		}
	}
	return out
}
