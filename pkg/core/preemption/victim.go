package preemption

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// roomSearch is the search of room for one claimant: what may be taken for it.
type roomSearch struct {
	*activeClaim
	claimant *claimant
	lcaBound int
	pays     int  // the place in precedence of what the unit pays of a guarantee
	drivers  bool // drivers may be evicted too
	// ranks are those of the queues below the claim's path, by surplus: 0 has the largest.
	ranks []int
	// underMax are the victims under a max if the node needs none; triedUnderMax: they were looked for.
	underMax      []int32
	triedUnderMax bool
	tries         int // nodes whose own pods do not give all that is missing
}

// noteTouchable notes from which queues victims may be taken, before any is taken for a claimant: see MaxIgnoredOverCapacity.
func (p *planner) noteTouchable() {
	for q := range p.queues {
		a := &p.queues[q]
		a.touchable = a.bar == nil || !a.within(a.bar)
	}
}

// childOfPath is the queue just below the claim's path that has this queue in it. Victims in this queue are taken from its surplus.
func (p *picture) childOfPath(o *activeClaim, q int) int {
	for p.queues[q].depth > o.lowestCommonAncestor[q]+1 {
		q = p.queues[q].parent
	}
	return q
}

// tryTake takes an eviction unit if the rules allow it beside the victims that are taken already, and reports whether they do. Each queue
// from its leaf up to the claim's path must keep its entitlement, and so must the guarded queues.
func (p *planner) tryTake(rs *roomSearch, id int32) bool {
	a := &p.evictionUnits[id]
	for i, v := range a.pods {
		victim := &p.pods[v]
		if !p.eligible(rs, victim) || !p.budgeted(victim) {
			p.restore(a.pods[:i])
			return false
		}
		p.take(victim, true)
		if !p.keepsEntitlements(rs.activeClaim, victim.Queue) || !p.keepsGuarantees(rs, victim) {
			p.restore(a.pods[:i+1])
			return false
		}
	}
	return true
}

func (p *planner) restore(pods []int32) {
	for _, v := range pods {
		p.take(&p.pods[v], false)
	}
}

// undo takes back that eviction units are taken.
func (p *planner) undo(evictionUnits ...int32) {
	for _, id := range evictionUnits {
		p.restore(p.evictionUnits[id].pods)
	}
}

// eligible is the part of tryTake that does not depend on other victims.
func (p *planner) eligible(rs *roomSearch, v *pod) bool {
	if at := rs.lowestCommonAncestor[v.Queue]; v.gone || at == never || at < rs.lcaBound || rs.Exempts(v.Candidate) {
		return false
	}
	for q := v.Queue; p.queues[q].depth > rs.lowestCommonAncestor[v.Queue]; q = p.queues[q].parent {
		if !p.queues[q].touchable {
			return false
		}
	}
	return true
}

func (p *planner) keepsEntitlements(o *activeClaim, leaf int) bool {
	lca := o.lowestCommonAncestor[leaf]
	for q := leaf; q >= 0; q = p.queues[q].parent {
		a := &p.queues[q]
		if (a.depth > lca || a.guarded) && !a.keepsEntitlement() {
			return false
		}
	}
	return true
}

// surplus is what a queue uses above its entitlement, of the resource that it uses most of.
func (p *picture) surplus(q int) Share {
	var most Share
	which := never
	a := &p.queues[q]
	for i, used := range a.usage {
		if !a.counts[i] || used <= 0 {
			continue
		}
		if s := (Share{Amount: used, Of: p.total[i]}); s.Compare(most) > 0 {
			most, which = s, i
		}
	}
	if which >= 0 {
		most.Resource = p.names[which]
		most.Amount = max(resource.SatSub(most.Amount, a.above[which]), 0)
	}
	return most
}

// rankQueues returns the rank of each queue. A queue has the rank of the queue just below the claim's path that it is in, since that one's
// surplus counts. It uses the memory of ranks.
func (p *planner) rankQueues(o *activeClaim, ranks []int) []int {
	var rivals []int
	for q := range p.queues {
		if at := o.lowestCommonAncestor[q]; at != never && p.queues[q].depth == at+1 {
			rivals = append(rivals, q)
		}
	}
	surpluses := make([]Share, len(p.queues))
	for _, q := range rivals {
		surpluses[q] = p.surplus(q)
	}
	slices.SortStableFunc(rivals, func(a, b int) int { return surpluses[b].Compare(surpluses[a]) })
	ranks = slices.Grow(ranks[:0], len(p.queues))[:len(p.queues)]
	for i, q := range rivals {
		ranks[q] = i
	}
	for q := range p.queues {
		if at := o.lowestCommonAncestor[q]; at != never && p.queues[q].depth > at+1 {
			ranks[q] = ranks[p.queues[q].parent]
		}
	}
	return ranks
}

// victimRank is what ranks one victim before another. Names decide between equal ranks.
type victimRank struct {
	announced bool
	queue     int
	priority  int32
	drivers   int
	bound     int64
}

func (p *picture) victimRank(id int32) victimRank {
	a := &p.evictionUnits[id]
	v := &p.pods[a.pods[0]]
	return victimRank{announced: a.announced, queue: v.Queue, priority: v.Priority, drivers: a.drivers, bound: v.Bound}
}

// compare orders victims: announced ones first, then the queue with the largest surplus, lower priority, fewer drivers, the newest. It is
// written for speed: nothing is compared more often.
func (m *victimRank) compare(o *victimRank, ranks []int) int {
	if m.announced != o.announced {
		if m.announced {
			return -1
		}
		return 1
	}
	if by := ranks[m.queue] - ranks[o.queue]; by != 0 {
		return by
	}
	if by := cmp.Compare(m.priority, o.priority); by != 0 {
		return by
	}
	if by := m.drivers - o.drivers; by != 0 {
		return by
	}
	return cmp.Compare(o.bound, m.bound)
}

// compareVictims compares two eviction units of equal cost, the preferred first.
func (p *picture) compareVictims(rs *roomSearch, x, y int32) int {
	a, b := p.victimRank(x), p.victimRank(y)
	if by := a.compare(&b, rs.ranks); by != 0 {
		return by
	}
	return cmp.Compare(p.pods[p.evictionUnits[x].pods[0]].UID, p.pods[p.evictionUnits[y].pods[0]].UID)
}
