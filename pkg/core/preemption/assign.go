package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// assignWithin finds a node for each pod of the first of these units, within the first reach that has the victims, without drivers if that
// is possible there.
func (p *planner) assignWithin(o *activeClaim, units []unit) (assignments []assignment, within reach, why reason.UnpaidCause) {
	u, before, wanted := &units[0], p.f.Commits(), p.wanted(o, units)
	for _, within = range p.reaches(o, u) {
		for _, drivers := range []bool{false, true} {
			rs := p.search(o, u, within, drivers)
			if assignments, why = p.assignAll(rs, u, wanted); why == "" {
				return assignments, within, ""
			}
			p.rollback(u, assignments, before)
			if why == reason.RoundSpent {
				return nil, within, why
			}
		}
		if assignments = p.assignExactly(o, u, within); assignments != nil {
			return assignments, within, ""
		}
	}
	return nil, within, why
}

// assignAll finds a node for each pod of a unit.
func (p *planner) assignAll(rs *roomSearch, u *unit, wanted int) ([]assignment, reason.UnpaidCause) {
	var assignments []assignment
	for i := range u.pods {
		rs.claimant = &u.pods[i]
		rs.triedUnderMax, rs.tries = false, 0
		if ranks := p.rankQueues(rs.activeClaim, nil); p.moved || !slices.Equal(ranks, p.ranks) {
			p.ranks, p.moved = ranks, false
			p.ranked++
		}
		rs.ranks = p.ranks
		s, why := p.find(rs, max(wanted, len(u.pods)-i))
		if why != "" {
			return assignments, why
		}
		assignments = append(assignments, s)
	}
	return assignments, ""
}

// wanted is how many units in a row, from the first on, are single pods of the same shape and are owed together.
func (p *planner) wanted(o *activeClaim, units []unit) int {
	n := 0
	for i := range units {
		u := &units[i]
		if len(u.pods) > 1 || u.pods[0].shape != units[0].pods[0].shape || u.After != "" && !p.placed[u.After] {
			break
		}
		if i > 0 {
			p.chargeUnit(u, true)
			if !p.isOwed(o, u) || !p.inRound(o, u) {
				p.chargeUnit(u, false)
				break
			}
		}
		n++
	}
	for i := 1; i < n; i++ {
		p.chargeUnit(&units[i], false)
	}
	return n
}
