package fairshare

import (
	"math/big"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// capacities are what the queues that share by capacity are entitled to: the product of the capacities down to a queue, of
// the steady share of the nearest queue above that shares by weight (or of the root). It is exact down to there, and rounded
// down once. A queue whose max is lower has no more than its max, and its children have their parts of that.
//
// Capacities may sum to a little more than 100 percent. Then each counts in proportion to their sum, so that siblings never
// have more than their parent.
type capacities struct {
	tree   queue.Tree
	steady []resource.List // by node; those of queues with a capacity
	of     []resource.List // by node: what the part is of
	part   []*big.Rat      // by node; nil: all of its steady share
}

// newCapacities returns nil if no queue has a capacity.
func newCapacities(t queue.Tree) *capacities {
	for i := range t.Nodes {
		if t.Nodes[i].Spec.Capacity.Stated {
			n := len(t.Nodes)
			return &capacities{tree: t, steady: make([]resource.List, n), of: make([]resource.List, n), part: make([]*big.Rat, n)}
		}
	}
	return nil
}

// divide gives the children of a node their shares. Steady ones are computed; later, active children have the same and
// the others nothing.
func (c *capacities) divide(parent int, out []resource.List, known bool, active []bool) {
	n := &c.tree.Nodes[parent]
	if !known {
		c.compute(n, parent, out[parent])
	}
	for _, i := range n.Children {
		out[i] = Capacity(c.steady[i], active[i])
	}
}

// Capacity returns the share of a queue that shares by capacity: its steady share if it is active, else nothing.
func Capacity(steady resource.List, active bool) resource.List {
	if active {
		return steady
	}
	entries := make([]resource.Entry, steady.Len())
	for i := range entries {
		entries[i].Name = steady.At(i).Name
	}
	return resource.OfSorted(entries)
}

// compute computes the steady shares of the children of a node that has this one.
func (c *capacities) compute(n *queue.Node, parent int, share resource.List) {
	sum := int64(0)
	for _, i := range n.Children {
		sum = resource.SatAdd(sum, c.tree.Nodes[i].Spec.Capacity.Most)
	}
	of, part := c.of[parent], c.part[parent]
	if part == nil {
		of, part = share, big.NewRat(1, 1)
	}
	rule := n.Spec.Rule()
	for _, i := range n.Children {
		spec := &c.tree.Nodes[i].Spec
		own := big.NewRat(spec.Capacity.Most, max(sum, queue.Whole))
		own.Mul(own, part)
		exact := partOf(of, own, rule)
		c.steady[i] = exact.CapBy(spec.Max)
		if c.steady[i].Equal(exact) {
			c.of[i], c.part[i] = of, own
		}
	}
}

// partOf returns a part of each amount that a rule counts, rounded down, and 0 of the others.
func partOf(of resource.List, part *big.Rat, rule queue.Rule) resource.List {
	entries := make([]resource.Entry, of.Len())
	for i := range entries {
		e := of.At(i)
		entries[i].Name = e.Name
		if rule.Counts(e.Name) {
			entries[i].Value = queue.PartOf(e.Value, part)
		}
	}
	return resource.OfSorted(entries)
}

// Absolute is what a queue is entitled to, and what it may use at most, in millionths of a percent of the cluster.
type Absolute struct{ Capacity, Max int64 }

// AbsoluteOf returns them for every queue, by node: the products of capacities and maxima down the tree. The part of the
// cluster that a queue without a capacity has is that of its steady share, by the resource of which it is the largest.
func AbsoluteOf(t queue.Tree, total resource.List, steady []resource.List) []Absolute {
	out := make([]Absolute, len(t.Nodes))
	capacity, most := make([]*big.Rat, len(t.Nodes)), make([]*big.Rat, len(t.Nodes)) // of those that need it
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case n.Parent < 0:
			capacity[i], most[i], out[i] = big.NewRat(1, 1), big.NewRat(1, 1), Absolute{hundredPercent, hundredPercent}
		case n.Spec.Capacity.Stated:
			capacity[i], most[i] = n.Spec.Capacity.Absolute(capacity[n.Parent]), n.Spec.MaxCapacity.Absolute(most[n.Parent])
			out[i] = Absolute{queue.Millionths(capacity[i]), queue.Millionths(most[i])}
		default:
			part, whole := dominant(steady[i], total)
			out[i] = Absolute{resource.Part(hundredPercent, part, whole), out[n.Parent].Max}
			if most[i] = most[n.Parent]; t.ByCapacity(i) {
				capacity[i] = big.NewRat(part, whole)
			}
		}
	}
	return out
}

const hundredPercent = 100_000_000

// dominant returns the largest part that an amount is of the total of its resource.
func dominant(amount, total resource.List) (part, whole int64) {
	whole = 1
	for i := range amount.Len() {
		e := amount.At(i)
		if t := total.Get(e.Name); t > 0 && resource.CompareFractions(e.Value, t, part, whole) > 0 {
			part, whole = min(e.Value, t), t
		}
	}
	return part, whole
}
