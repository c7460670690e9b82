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
	// never (the constant) for queues from which nothing may be taken: those inside the claim's queue, and those in which no pod is preemptible.
	lowestCommonAncestor []int
	// target is the usage that the claim must not pass, round the usage that it must not pass in this round. covered are the targets for victims from further
	// outside, by the index on path at which they meet the claim: see fairshare.Covered.
	target, round []int64
	covered       [][]int64
	placed        []placedUnit
}

// never is the lowestCommonAncestor of queues from which nothing may be taken.
const never = -1

// placedUnit is a unit that has a node for each of its pods.
type placedUnit struct {
	unit        *unit
	reach       reach // in which its nodes were found
	assignments []assignment
}

// assignment is a node for a claimant, and the victims that make room for it there.
type assignment struct {
	node    int32
	victims []int32 // eviction units, the preferred first
}

// unit is a Unit whose amounts are as in the picture.
type unit struct {
	*Unit
	pods    []claimant
	request []int64 // of all its pods
}

// claimant is a Claimant whose amounts are as in the picture.
type claimant struct {
	*Claimant
	request []int64
	shape   int // an index: see shape
}

// activate makes a claim ready to be paid.
func (p *planner) activate(c *Claim) *activeClaim {
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
		if !p.queues[q].mayPay {
			o.lowestCommonAncestor[q] = never
		}
	}
	o.target = p.targetOf(c, c.Target)
	for _, entitlement := range p.queues[c.Queue].entitlements {
		o.covered = append(o.covered, p.targetOf(c, c.Target.Min(entitlement)))
	}
	o.round = p.roundTarget(o)
	return o
}

func (p *planner) targetOf(c *Claim, of resource.List) []int64 {
	if c.Kind == BelowGuaranteed {
		return p.dense(of, 0)
	}
	_, most := p.bounds(&p.w.Queues[c.Queue], p.w.Total, of)
	return most
}

// owed is by how much the target of a claim is above the usage in the picture, for each resource.
func (p *planner) owed(o *activeClaim) resource.List {
	var out []resource.Entry
	for i, n := range p.names {
		if v := resource.SatSub(o.Target.Get(n), p.queues[o.Queue].usage[i]); v > 0 {
			out = append(out, resource.Entry{Name: n, Value: v})
		}
	}
	return resource.OfSorted(out)
}

// lacking is by how much a target is above a usage, for each resource.
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

// isOwed reports whether a unit, charged already, is owed as a whole. A unit that is larger than what is owed waits: rounding up for every
// queue would take more from others than queues lack.
func (p *planner) isOwed(o *activeClaim, u *unit) bool { return p.withinTarget(o, u, o.target) }

// inRound reports whether a unit, charged already, is owed in this round.
func (p *planner) inRound(o *activeClaim, u *unit) bool { return p.withinTarget(o, u, o.round) }

func (p *planner) withinTarget(o *activeClaim, u *unit, target []int64) bool {
	if o.Kind == BelowGuaranteed {
		return p.pays(o.Queue, u, target) != paysNothing
	}
	return p.queues[o.Queue].within(target)
}

// search begins the search of room for a unit, charged already.
func (p *planner) search(o *activeClaim, u *unit, within reach, drivers bool) *roomSearch {
	rs := &roomSearch{activeClaim: o, reach: within, pays: paysNothing, drivers: drivers}
	if o.Kind == BelowGuaranteed {
		rs.pays = p.pays(o.Queue, u, o.target)
		for _, target := range o.covered {
			rs.paysOutside = append(rs.paysOutside, p.pays(o.Queue, u, target))
		}
	}
	return rs
}

// overLimit reports whether a max forbids the unit, charged already, whatever pods are evicted. That is a max inside the claim's queue,
// where nothing is taken, or a max above it that was exceeded before: no pod is evicted because a max was lowered.
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
