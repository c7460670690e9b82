package preemption

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// hunt is the search of room for one claimant: what it may take, and what for.
type hunt struct {
	*activeClaim
	asker    *asker
	lcaBound int
	drivers  bool // drivers may go too
	// standing is the rank of each queue below the claim's path, by surplus, the largest first.
	standing []int
	// elsewhere is who goes under a max where nobody has to go for room; looked says that it was looked for.
	elsewhere []int32
	looked    bool
	tries     int // nodes that did not have all that lacks
}

// open notes which queues may be touched at all, before anything is taken for a claimant.
func (p *planner) open() {
	for q := range p.queues {
		a := &p.queues[q]
		a.touchable = a.bar == nil || !a.within(a.bar)
	}
}

// below is the queue under the claim's path from which a pod of this queue is taken.
func (p *picture) below(o *activeClaim, q int) int {
	for p.queues[q].depth > o.lowestCommonAncestor[q]+1 {
		q = p.queues[q].parent
	}
	return q
}

// may takes an eviction unit if the rules let it go beside those that went already, and reports whether they did. Each queue from its leaf to the
// one below the claim's path must keep its entitlement, and so must those that kept it for an earlier claim.
func (p *planner) may(h *hunt, id int32) bool {
	a := &p.evictionUnits[id]
	for i, v := range a.pods {
		victim := &p.pods[v]
		if !p.reaches(h, victim) || !p.budgeted(victim) {
			p.restore(a.pods[:i])
			return false
		}
		p.take(victim, true)
		if !p.keeps(h.activeClaim, victim.Queue) {
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

// undo brings the pods of eviction units back.
func (p *planner) undo(evictionUnits ...int32) {
	for _, id := range evictionUnits {
		p.restore(p.evictionUnits[id].pods)
	}
}

// reaches is the part of may that does not depend on what else goes.
func (p *planner) reaches(h *hunt, v *pod) bool {
	if at := h.lowestCommonAncestor[v.Queue]; v.gone || at == never || at < h.lcaBound || h.Exempts(v.Candidate) {
		return false
	}
	for q := v.Queue; p.queues[q].depth > h.lowestCommonAncestor[v.Queue]; q = p.queues[q].parent {
		if !p.queues[q].touchable {
			return false
		}
	}
	return true
}

func (p *planner) keeps(o *activeClaim, leaf int) bool {
	lca := o.lowestCommonAncestor[leaf]
	for q := leaf; q >= 0; q = p.queues[q].parent {
		a := &p.queues[q]
		if (a.depth > lca || a.guarded) && !a.keepsEntitlement() {
			return false
		}
	}
	return true
}

// surplus is what a queue uses above its entitlement, of the resource it uses most of, in whole units.
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

// rank writes the standing of all queues. Those inside one are taken from it, so they stand as it does.
func (p *planner) rank(o *activeClaim, standing []int) []int {
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
	standing = slices.Grow(standing[:0], len(p.queues))[:len(p.queues)]
	for i, q := range rivals {
		standing[q] = i
	}
	for q := range p.queues {
		if at := o.lowestCommonAncestor[q]; at != never && p.queues[q].depth > at+1 {
			standing[q] = standing[p.queues[q].parent]
		}
	}
	return standing
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

// compare: announced before, from the queue with the largest surplus, of lower priority, no driver, newest. One by one, since nothing is
// compared more often.
func (m *victimRank) compare(o *victimRank, standing []int) int {
	if m.announced != o.announced {
		if m.announced {
			return -1
		}
		return 1
	}
	if by := standing[m.queue] - standing[o.queue]; by != 0 {
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

// prefer compares two victims of equal cost.
func (p *picture) prefer(h *hunt, x, y int32) int {
	a, b := p.victimRank(x), p.victimRank(y)
	if by := a.compare(&b, h.standing); by != 0 {
		return by
	}
	return cmp.Compare(p.pods[p.evictionUnits[x].pods[0]].UID, p.pods[p.evictionUnits[y].pods[0]].UID)
}
