package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// commit puts a claimant on its node, whose victims are taken, in our picture and in the one of the filters.
func (p *planner) commit(a *asker, s seat) {
	p.touch(s)
	change(p.round.taken, p.amounts(s.victims), true)
	p.settle(s.node, a.request, true)
	p.f.Commit(a.Claimant, p.nodes[s.node].index, p.uids(s.victims))
	p.stamp++
}

// touch notes on which nodes a seat changes anything.
func (p *planner) touch(s seat) {
	p.nodes[s.node].change++
	for _, id := range s.victims {
		for _, v := range p.evictionUnits[id].pods {
			p.nodes[p.pods[v].node].change++
		}
	}
}

// rollback takes the seats of a unit back. The unit stays charged to its queues.
func (p *planner) rollback(u *unit, seats []seat, commits int) {
	for i := range slices.Backward(seats) {
		s := &seats[i]
		change(p.round.taken, p.amounts(s.victims), false)
		p.settle(s.node, u.pods[i].request, false)
		p.touch(*s)
		p.undo(s.victims...)
	}
	if p.f.Commits() > commits {
		p.f.Rollback(commits)
		p.stamp++
	}
}

// amounts is what the pods of eviction units hold together.
func (p *planner) amounts(evictionUnits []int32) []int64 {
	out := make([]int64, len(p.names))
	for _, id := range evictionUnits {
		for _, v := range p.evictionUnits[id].pods {
			change(out, p.pods[v].request, true)
		}
	}
	return out
}

// explain says why a unit, charged already, has no place: because nobody may go, or because it would not help.
func (p *planner) explain(o *activeClaim) reason.UnpaidCause {
	h := &hunt{activeClaim: o, lcaBound: p.lcaBound(o), drivers: true}
	p.open()
	for id := range p.evictionUnits {
		if p.may(h, int32(id)) {
			p.undo(int32(id))
			if p.excess(o, nil) != nil && p.beyond(h) {
				return reason.LimitForbids
			}
			return reason.NoPlace
		}
	}
	if p.excess(o, nil) != nil {
		return reason.LimitForbids
	}
	return reason.NoSurplus
}

// beyond reports whether everybody who may go inside them would leave a queue above its max.
func (p *planner) beyond(h *hunt) bool {
	var taken []int32
	for _, id := range p.insiders(h, p.excess(h.activeClaim, nil)) {
		if p.may(h, id) {
			taken = append(taken, id)
		}
	}
	over := p.excess(h.activeClaim, nil) != nil
	p.undo(taken...)
	return over
}

// failure is why a single pod found no place, and in which picture.
type failure struct {
	asker asker
	why   reason.UnpaidCause
	stamp int
}

// hopeless says why a single pod will find no place if another of its queue and class, which asked for no more, has just found none.
func (p *planner) hopeless(u *unit) reason.UnpaidCause {
	if len(u.pods) > 1 {
		return ""
	}
	a := &u.pods[0]
	for i := range p.failed {
		f := &p.failed[i]
		if f.stamp == p.stamp && f.asker.Queue == a.Queue && f.asker.Class == a.Class && within(f.asker.request, a.request) {
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
