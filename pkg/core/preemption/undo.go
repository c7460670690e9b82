package preemption

import "slices"

// cost is how many drivers and how many pods are evicted for these units.
func (p *planner) cost(units []placedUnit) (drivers, pods int) {
	for _, u := range units {
		for _, s := range u.assignments {
			for _, id := range s.victims {
				drivers += p.evictionUnits[id].drivers
				pods += len(p.evictionUnits[id].pods)
			}
		}
	}
	return drivers, pods
}

// unplace takes units and their victims out of our picture, the last first. The picture of the filters stays as it is.
func (p *planner) unplace(units []placedUnit) {
	for _, u := range slices.Backward(units) {
		for i, s := range slices.Backward(u.assignments) {
			p.assume(s.node, u.unit.pods[i].request, false)
			change(p.round.taken, p.amounts(s.victims), false)
			p.undo(s.victims...)
		}
		p.chargeUnit(u.unit, false)
	}
}

// placeAgain puts back units that were taken out by unplace.
func (p *planner) placeAgain(units []placedUnit) {
	for _, u := range units {
		p.chargeUnit(u.unit, true)
		for i, s := range u.assignments {
			p.restoreTaken(s.victims)
			change(p.round.taken, p.amounts(s.victims), true)
			p.assume(s.node, u.unit.pods[i].request, true)
		}
	}
}

// restoreTaken takes victims again without asking the rules, which allowed them before.
func (p *planner) restoreTaken(evictionUnits []int32) {
	for _, id := range evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			p.take(&p.pods[v], true)
		}
	}
}

// tellFilters brings the picture of the filters up to date: it keeps the first so many commits, and commits the assignments of these units.
func (p *planner) tellFilters(units []placedUnit, commits int) {
	p.f.Rollback(commits)
	for _, u := range units {
		for i, s := range u.assignments {
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
