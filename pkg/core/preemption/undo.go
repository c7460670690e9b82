package preemption

import "slices"

// cost is how many drivers and how many pods go for these units.
func (p *planner) cost(units []placed) (drivers, pods int) {
	for _, u := range units {
		for _, s := range u.seats {
			for _, id := range s.victims {
				drivers += p.evictionUnits[id].drivers
				pods += len(p.evictionUnits[id].pods)
			}
		}
	}
	return drivers, pods
}

// retract takes units out of the picture, the last first; the filters are not told.
func (p *planner) retract(units []placed) {
	for _, u := range slices.Backward(units) {
		for i, s := range slices.Backward(u.seats) {
			p.settle(s.node, u.unit.pods[i].request, false)
			change(p.round.taken, p.amounts(s.victims), false)
			p.undo(s.victims...)
		}
		p.chargeUnit(u.unit, false)
	}
}

// repeat puts units back that were retracted.
func (p *planner) repeat(units []placed) {
	for _, u := range units {
		p.chargeUnit(u.unit, true)
		for i, s := range u.seats {
			p.restoreTaken(s.victims)
			change(p.round.taken, p.amounts(s.victims), true)
			p.settle(s.node, u.unit.pods[i].request, true)
		}
	}
}

// restoreTaken takes eviction units again without asking the rules, which let them go before.
func (p *planner) restoreTaken(evictionUnits []int32) {
	for _, id := range evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			p.take(&p.pods[v], true)
		}
	}
}

// tell makes the picture of the filters the one in which these units, and no others after so many commits, are placed.
func (p *planner) tell(units []placed, commits int) {
	p.f.Rollback(commits)
	for _, u := range units {
		for i, s := range u.seats {
			p.f.Commit(u.unit.pods[i].Claimant, p.nodes[s.node].index, p.uids(s.victims))
		}
	}
	p.stamp++
}

func (p *planner) uids(evictionUnits []int32) []string {
	var out []string
	for _, id := range evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			out = append(out, p.pods[v].UID)
		}
	}
	return out
}
