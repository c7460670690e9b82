package preemption

import "cmp"

// roomSearch is the search of room for one claimant: what may be taken for it.
type roomSearch struct {
	*activeClaim
	reach
	claimant *claimant
	pays     int // the place in precedence of what the unit pays of a guarantee
	// paysOutside is pays for victims from further outside, by the index on the claim's path, where less of the claim is covered for them.
	paysOutside []int
	drivers     bool // drivers may be evicted too
	touchAll    bool // so may pods of leaves that are not touchable
	// ranks are those of the queues beside the claim's path: see rankQueues.
	ranks []int
	// underMax are the victims under a max if the node needs none; triedUnderMax: they were looked for.
	underMax      []int32
	triedUnderMax bool
	tries         int // nodes whose own pods do not give all that is missing
}

// noteTouchable notes which leaves lose pods in this round: see MaxIgnoredOverCapacity.
func (p *planner) noteTouchable() {
	for q := range p.queues {
		a := &p.queues[q]
		change(a.usage, a.announced, true)
		for at := range len(a.covered) + 1 {
			due := a.seen(at)
			due.touchable = due.bar == nil || !a.within(due.bar)
		}
		change(a.usage, a.announced, false)
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
// from its leaf up to the claim's path must keep its entitlement, or its ideal, and the guarded queues must keep their entitlement.
func (p *planner) tryTake(rs *roomSearch, id int32) bool {
	a := &p.evictionUnits[id]
	for i, v := range a.pods {
		victim := &p.pods[v]
		if !p.eligible(rs, victim) || !p.budgeted(victim) {
			p.restore(a.pods[:i])
			return false
		}
		p.take(victim, true)
		if !p.keepsEntitlements(rs, victim.Queue) || !p.keepsGuarantees(rs, victim) {
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
	if at := rs.lowestCommonAncestor[v.Queue]; v.gone || at == never || !p.queues[v.Queue].preemptible || at < rs.from || at > rs.to || rs.Exempts(v.Candidate) {
		return false
	}
	return rs.touchAll || p.queues[v.Queue].seen(rs.lowestCommonAncestor[v.Queue]).touchable
}

func (p *planner) keepsEntitlements(rs *roomSearch, leaf int) bool {
	lca := rs.lowestCommonAncestor[leaf]
	for q := leaf; q >= 0; q = p.queues[q].parent {
		a := &p.queues[q]
		if a.depth <= lca {
			if a.guarded && !a.keeps(a.seen(a.guardedFrom).entitled) {
				return false
			}
			continue
		}
		if due := a.seen(lca); !a.keeps(due.entitled) || rs.ideal && !a.keeps(due.ideal) {
			return false
		}
	}
	return true
}

// victimRank is what ranks one victim before another. Names decide between equal ranks.
type victimRank struct {
	announced   bool
	queue       int
	application int32 // never (the constant): not known
	drivers     int
	priority    int32
	bound       int64
}

func (p *picture) victimRank(id int32) victimRank {
	a := &p.evictionUnits[id]
	v := &p.pods[a.pods[0]]
	return victimRank{
		announced: a.announced, queue: v.Queue, application: v.application, drivers: a.drivers, priority: v.Priority, bound: v.Bound,
	}
}

// compareRanks orders victims: announced ones first, then by queue, inside a leaf by application, then fewer drivers, lower priority, the
// newest. It is written for speed: nothing is compared more often.
func (p *picture) compareRanks(rs *roomSearch, m, o *victimRank) int {
	if m.announced != o.announced {
		if m.announced {
			return -1
		}
		return 1
	}
	if m.queue != o.queue {
		if by := rs.ranks[m.queue] - rs.ranks[o.queue]; by != 0 {
			return by
		}
	} else if m.application != o.application {
		if by := p.applicationRank(m.application) - p.applicationRank(o.application); by != 0 {
			return by
		}
	}
	if by := m.drivers - o.drivers; by != 0 {
		return by
	}
	if by := cmp.Compare(m.priority, o.priority); by != 0 {
		return by
	}
	return cmp.Compare(o.bound, m.bound)
}

// compareVictims compares two eviction units of equal cost, the preferred first.
func (p *picture) compareVictims(rs *roomSearch, x, y int32) int {
	a, b := p.victimRank(x), p.victimRank(y)
	if by := p.compareRanks(rs, &a, &b); by != 0 {
		return by
	}
	return cmp.Compare(p.pods[p.evictionUnits[x].pods[0]].UID, p.pods[p.evictionUnits[y].pods[0]].UID)
}
