package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// activeClaim is a claim while it is being paid.
type activeClaim struct {
	*Claim
	path []int // from the root to the claim's queue
	// lowestCommonAncestor is, for each queue, the index on path of the last queue that its own path has in common with the claim's. It is
	// never where nothing may be taken: inside the claim's queue, and where preemption is switched off.
	lowestCommonAncestor []int
	// target and round are the claim's target, and what this round pays of it, as usages that are not to be passed.
	target, round []int64
	placed        []placed
}

// never is the lowestCommonAncestor of queues from which nothing may be taken.
const never = -1

// placed is a unit that has its places.
type placed struct {
	unit  *unit
	seats []seat
}

// seat is a place with who goes for it.
type seat struct {
	node    int32
	victims []int32 // eviction units, the preferred first
}

// unit is a Unit with dense amounts.
type unit struct {
	*Unit
	pods []asker
}

// asker is a claimant in the picture.
type asker struct {
	*Claimant
	request []int64
	shape   int // those of one shape are alike in all that counts for a place
}

// begin makes a claim ready to be paid.
func (p *planner) begin(c *Claim) *activeClaim {
	o := &activeClaim{Claim: c}
	for q := c.Queue; q >= 0; q = p.queues[q].parent {
		o.path = append(o.path, q)
	}
	slices.Reverse(o.path)
	o.lowestCommonAncestor = make([]int, len(p.queues))
	for q := range p.queues { // parents come before children
		switch at := slices.Index(o.path, q); {
		case q == c.Queue:
			o.lowestCommonAncestor[q] = never
		case at >= 0:
			o.lowestCommonAncestor[q] = at
		default:
			o.lowestCommonAncestor[q] = o.lowestCommonAncestor[p.queues[q].parent]
		}
	}
	for q := range p.queues {
		if !p.queues[q].preemptible {
			o.lowestCommonAncestor[q] = never
		}
	}
	w := &p.w.Queues[c.Queue]
	_, o.target = p.bounds(w, p.w.Total, c.Target)
	o.round = p.roundTarget(o)
	return o
}

// owed is what the target is above the usage, of each resource.
func (p *planner) owed(o *activeClaim) resource.List {
	var out []resource.Entry
	for i, n := range p.names {
		if v := resource.SatSub(o.Target.Get(n), p.queues[o.Queue].usage[i]); v > 0 {
			out = append(out, resource.Entry{Name: n, Value: v})
		}
	}
	return resource.OfSorted(out)
}

// lacking is what a usage is below a target, of each resource.
func lacking(target, usage resource.List) resource.List {
	var out []resource.Entry
	for i := range target.Len() {
		e := target.At(i)
		if v := resource.SatSub(e.Value, usage.Get(e.Name)); v > 0 {
			out = append(out, resource.Entry{Name: e.Name, Value: v})
		}
	}
	return resource.OfSorted(out)
}

// chargeUnit adds a unit to its queues, or takes it off.
func (p *planner) chargeUnit(u *unit, add bool) {
	for i := range u.pods {
		p.charge(u.pods[i].Queue, u.pods[i].request, add)
	}
}

// isOwed reports whether a unit, charged already, is owed as a whole. What is larger than what is owed waits: rounding up for everybody would
// take from queues what nobody is short of.
func (p *planner) isOwed(o *activeClaim) bool { return p.queues[o.Queue].within(o.target) }

// lcaBound is the smallest index on the claim's path that a victim may have as its lowestCommonAncestor. Beyond a queue that this unit, charged already, brings above
// its own entitlement nothing may be taken: the queue as a whole is not short, its children settle it among themselves.
func (p *planner) lcaBound(o *activeClaim) int {
	m := len(o.path) - 2
	for m > 0 && p.queues[o.path[m]].within(p.queues[o.path[m]].above) {
		m--
	}
	return m
}

// overLimit reports whether a max forbids the unit, charged already, whoever goes: one inside the claim's queue, where nothing is taken, or one
// above it that was exceeded before: a lowered max stops nothing that runs, so nobody goes for its sake either.
func (p *planner) overLimit(o *activeClaim, u *unit) bool {
	p.chargeUnit(u, false)
	before := slices.ContainsFunc(o.path[:len(o.path)-1], p.exceeds)
	p.chargeUnit(u, true)
	if before {
		return true
	}
	for i := range u.pods {
		for q := u.pods[i].Queue; q >= 0; q = p.queues[q].parent {
			if p.exceeds(q) {
				return true
			}
			if q == o.Queue {
				break
			}
		}
	}
	return false
}

func (p *planner) exceeds(q int) bool {
	for i, used := range p.queues[q].usage {
		if used > p.queues[q].limits[i] {
			return true
		}
	}
	return false
}
