package preemption

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// surplusAbove is what a queue uses of the resource that it uses most of, above one of its bounds; above is dues.above or aboveIdeal.
func (p *picture) surplusAbove(q int, above []int64) Share {
	a := &p.queues[q]
	most, which := p.dominant(a.counts, a.usage)
	if which != never {
		most.Resource = p.names[which]
		most.Amount = max(resource.SatSub(most.Amount, above[which]), 0)
	}
	return most
}

// surplus is what a queue uses above its entitlement, of the resource that it uses most of.
func (p *picture) surplus(q int) Share { return p.surplusAbove(q, p.queues[q].above) }

// rankQueues returns the rank of each queue beside the claim's path, level by level: first the queues that are furthest outside, of those
// below one queue the one with the largest surplus above its ideal, then above its entitlement, and inside it the same. It uses the memory
// of ranks. It also brings the ranks of applications up to date.
func (p *planner) rankQueues(o *activeClaim, ranks []int) []int {
	ranks = slices.Grow(ranks[:0], len(p.queues))[:len(p.queues)]
	clear(ranks)
	r := ranking{p: p, o: o, ranks: ranks}
	for _, q := range o.path[:len(o.path)-1] {
		r.below(q)
	}
	return ranks
}

// ranking gives ranks to queues.
type ranking struct {
	p     *planner
	o     *activeClaim
	ranks []int
	next  int
}

// below ranks the queues below one, without those on the claim's path.
func (r *ranking) below(q int) {
	type rival struct {
		queue           int
		ideal, entitled Share
	}
	var few [8]rival
	rivals := few[:0]
	for _, c := range r.p.queues[q].children {
		if at := r.o.lowestCommonAncestor[c]; at != never && c != r.o.path[at] {
			due := r.p.queues[c].seen(at)
			rivals = append(rivals, rival{c, r.p.surplusAbove(c, due.aboveIdeal), r.p.surplusAbove(c, due.above)})
		}
	}
	slices.SortStableFunc(rivals, func(a, b rival) int { return cmp.Or(b.ideal.Compare(a.ideal), b.entitled.Compare(a.entitled)) })
	for _, c := range rivals {
		r.ranks[c.queue] = r.next
		r.next++
		if a := &r.p.queues[c.queue]; len(a.children) > 0 {
			r.below(c.queue)
		} else if a.stale && !a.within(a.seen(r.o.lowestCommonAncestor[c.queue]).above) {
			r.p.rankApplications(c.queue)
		}
	}
}
