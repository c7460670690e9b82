package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// commit puts a claimant on its node, in our picture and in that of the filters. Its victims are taken already.
func (p *planner) commit(a *claimant, s assignment) {
	p.noteChanges(s)
	change(p.round.taken, p.amounts(s.victims), true)
	p.assume(s.node, a.request, true)
	p.f.Commit(a.Claimant, p.nodes[s.node].index, p.uids(s.victims))
	p.stamp++
}

// noteChanges notes which nodes an assignment changes.
func (p *planner) noteChanges(s assignment) {
	p.nodes[s.node].change++
	for _, id := range s.victims {
		for _, v := range p.evictionUnits[id].pods {
			p.nodes[p.pods[v].node].change++
		}
	}
}

// rollback takes back the assignments of a unit. The unit stays charged to its queues.
func (p *planner) rollback(u *unit, assignments []assignment, commits int) {
	for i := range slices.Backward(assignments) {
		s := &assignments[i]
		change(p.round.taken, p.amounts(s.victims), false)
		p.assume(s.node, u.pods[i].request, false)
		p.noteChanges(*s)
		p.undo(s.victims...)
	}
	if p.f.Commits() > commits {
		p.f.Rollback(commits)
		p.stamp++
	}
}

// amounts is what the pods of eviction units use together.
func (p *planner) amounts(evictionUnits []int32) []int64 {
	out := make([]int64, len(p.names))
	for _, id := range evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			change(out, p.pods[v].request, true)
		}
	}
	return out
}

// explain says why there is no node for a unit, which is charged already: no pod may be evicted, or no eviction would help.
func (p *planner) explain(o *activeClaim, u *unit) reason.UnpaidCause {
	rs := p.search(o, u, reach{false, p.lcaBound(o, u, false), len(o.path) - 2}, true)
	over := p.excess(o, nil) != nil
	switch {
	case p.anyMayGo(rs):
		if over && p.exceedsWithoutThem(rs) {
			return reason.LimitForbids
		}
		return reason.NoPlace
	case over:
		return reason.LimitForbids
	}
	if rs.touchAll = true; p.anyMayGo(rs) {
		return reason.InDeadZone
	}
	return reason.NoSurplus
}

func (p *planner) anyMayGo(rs *roomSearch) bool {
	for id := range p.evictionUnits {
		if p.tryTake(rs, int32(id)) {
			p.undo(int32(id))
			return true
		}
	}
	return false
}

// exceedsWithoutThem reports whether a queue above the claim would still exceed its max if all pods inside it that may be evicted were
// gone.
func (p *planner) exceedsWithoutThem(rs *roomSearch) bool {
	var taken []int32
	for _, id := range p.givers(rs, p.excess(rs.activeClaim, nil)) {
		if p.tryTake(rs, id) {
			taken = append(taken, id)
		}
	}
	over := p.excess(rs.activeClaim, nil) != nil
	p.undo(taken...)
	return over
}

// failure is why there was no node for a single pod, and in which picture.
type failure struct {
	claimant claimant
	why      reason.UnpaidCause
	stamp    int
}

// knownFailure says why there will be no node for a single pod: there was none for another pod of its queue and class, which asked for no
// more, and the picture has not changed since. "": that is not known.
func (p *planner) knownFailure(u *unit) reason.UnpaidCause {
	if len(u.pods) > 1 {
		return ""
	}
	a := &u.pods[0]
	for i := range p.failed {
		f := &p.failed[i]
		if f.stamp == p.stamp && f.claimant.Queue == a.Queue && f.claimant.Class == a.Class && within(f.claimant.request, a.request) {
			return f.why
		}
	}
	return ""
}

func within(a, b []int64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}
