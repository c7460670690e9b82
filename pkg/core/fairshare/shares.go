package fairshare

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Child is what dividing needs to know of a queue.
type Child struct {
	Weight     int64
	Guaranteed resource.List // an absent resource is 0
	Max        resource.List // an absent resource is unlimited
	Active     bool
}

// Level divides a parent's share among its children by the parent's rule. Each resource of the share is
// divided separately; under Fair only one is, and the shares of the others are 0. The result is in the order
// of children.
func Level(rule queue.Rule, share resource.List, children []Child) []resource.List {
	claimants := make([]Claimant, len(children))
	entries := make([]resource.Entry, len(children)*share.Len())
	var shares []int64
	for r := range share.Len() {
		e := share.At(r)
		if !rule.Counts(e.Name) {
			e.Value = 0
			shares = slices.Grow(shares[:0], len(children))[:len(children)]
			clear(shares)
		} else {
			for i, c := range children {
				claimants[i] = c.claimant(e.Name)
			}
			shares = Divide(e.Value, claimants, shares)
		}
		for i := range children {
			entries[i*share.Len()+r] = resource.Entry{Name: e.Name, Value: shares[i]}
		}
	}
	out := make([]resource.List, len(children))
	for i := range children {
		out[i] = resource.OfSorted(entries[i*share.Len() : (i+1)*share.Len() : (i+1)*share.Len()])
	}
	return out
}

func (c Child) claimant(n resource.Name) Claimant {
	limit, limited := c.Max.Lookup(n)
	if !limited {
		limit = resource.Unlimited
	}
	return Claimant{Weight: c.Weight, Min: c.Guaranteed.Get(n), Max: limit, Active: c.Active}
}

// Shares returns the share of every queue of the tree, by node index. The root has the total, capped by its
// max, and every parent divides its own integer share among its children.
//
// active says, by node index, which queues have an application that may run; their ancestors count as active
// too. If it is nil, every queue is active, which gives the steady fair shares.
//
// Queues that share by capacity have their part of the parent's steady share while they are active, whatever their
// siblings do: see capacity.go.
func Shares(t queue.Tree, total resource.List, active []bool) []resource.List {
	c := newCapacities(t)
	if c != nil && active != nil { // they are parts of steady shares
		shares(t, total, nil, c)
	}
	return shares(t, total, active, c)
}

// SteadyAndInstantaneous returns the shares that Shares returns without active, and with it.
func SteadyAndInstantaneous(t queue.Tree, total resource.List, active []bool) (steady, instantaneous []resource.List) {
	c := newCapacities(t)
	steady = shares(t, total, nil, c)
	return steady, shares(t, total, active, c)
}

// shares divides from the root down. The first call for capacities must be that for the steady shares.
func shares(t queue.Tree, total resource.List, active []bool, by *capacities) []resource.List {
	out := make([]resource.List, len(t.Nodes))
	if len(t.Nodes) == 0 {
		return out
	}
	busy := withAncestors(t, active)
	out[0] = total.CapBy(t.Nodes[0].Spec.Max)
	var children []Child
	for i := range t.Nodes { // parents come before children
		n := &t.Nodes[i]
		if len(n.Children) == 0 {
			continue
		}
		if t.ByCapacity(i) {
			by.divide(i, out, active != nil, busy)
			continue
		}
		children = children[:0]
		for _, c := range n.Children {
			spec := &t.Nodes[c].Spec
			children = append(children, Child{Weight: spec.Weight, Guaranteed: spec.Guaranteed, Max: spec.Max, Active: busy[c]})
		}
		for j, share := range Level(n.Spec.Rule(), out[i], children) {
			out[n.Children[j]] = share
		}
	}
	return out
}
