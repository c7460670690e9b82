package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// ideal is what each queue would have if every queue had its share but no more than it asks for. What a queue does not ask
// for goes to its siblings by their weights, and what those do not ask for goes to the queues of weight 0, in equal parts. So the children of a
// queue have all that it has, but for rounding, unless they ask for less.
func ideal(w *World) []resource.List {
	out := make([]resource.List, len(w.Queues))
	children := make([][]int, len(w.Queues))
	for i := range w.Queues {
		if parent := w.Queues[i].Parent; parent >= 0 {
			children[parent] = append(children[parent], i)
		} else {
			out[i] = w.Total.Min(w.Queues[i].Demand).CapBy(w.Queues[i].Max)
		}
	}
	for i, below := range children { // parents come before children
		if len(below) == 0 {
			continue
		}
		level := make([]fairshare.Child, len(below))
		for j, c := range below {
			q := &w.Queues[c]
			level[j] = fairshare.Child{
				Weight: q.Weight, Active: q.Active,
				Guaranteed: q.leastIdeal(), Max: q.asksFor(out[i]),
			}
		}
		for j, share := range idealLevel(w.Queues[below[0]].Rule, out[i], level) {
			out[below[j]] = share
		}
	}
	return out
}

// leastIdeal is a floor of the ideal. A queue that shares by capacity is entitled to an exact part of the cluster. The same part of its parent's ideal,
// which is a whole number already, may be less by a unit.
func (q *Queue) leastIdeal() resource.List {
	if q.ByCapacity {
		return q.Entitlement.Min(q.Demand)
	}
	return q.Guaranteed.Min(q.Demand)
}

// idealLevel divides the ideal of a parent among its children. Their maxima are what they ask for.
func idealLevel(rule queue.Rule, of resource.List, children []fairshare.Child) []resource.List {
	shares := fairshare.Level(rule, of, children)
	unweighted := slices.ContainsFunc(children, func(c fairshare.Child) bool { return c.Weight <= 0 && c.Active })
	if !unweighted {
		return shares
	}
	// Those with a weight have as much as they ever get. What they leave is divided again, among the others alone.
	left := of
	for j := range children {
		c := &children[j]
		if c.Weight > 0 {
			left, c.Active = left.Sub(shares[j]), false
		}
		c.Weight = 1
	}
	for j, share := range fairshare.Level(rule, left, children) {
		if children[j].Active {
			shares[j] = share
		}
	}
	return shares
}

// asksFor is the demand as a cap of a share. A resource that the queue does not ask for is capped at 0.
func (q *Queue) asksFor(of resource.List) resource.List {
	entries := make([]resource.Entry, of.Len())
	for i := range entries {
		n := of.At(i).Name
		entries[i] = resource.Entry{Name: n, Value: q.Demand.Get(n)}
	}
	return resource.OfSorted(entries).CapBy(q.Max)
}
