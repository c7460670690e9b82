// Package capacity says whether pods fit on a node by numbers alone: what the node lists, minus what is used,
// against what a pod requests.
//
// Input is amounts, output is verdicts and counts. The package does not know nodes or pods, and leaves other
// reasons (taints, ports, volumes) to others.
package capacity

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Unlisted are the resources that a node need not list, because something else counts them (dynamic resource
// allocation, an extender). An entry is a resource name, or the part of names before the slash, which stands
// for all of them.
type Unlisted map[resource.Name]bool

// Has reports whether a node need not list the resource.
func (u Unlisted) Has(n resource.Name) bool {
	if len(u) == 0 {
		return false
	}
	group, _, _ := strings.Cut(string(n), "/")
	return u[n] || u[resource.Name(group)]
}

// Node is what a node offers.
type Node struct {
	Listed   resource.List
	Unlisted Unlisted
}

// Limits reports whether the node limits the resource by its own numbers. It does if it lists the resource,
// even if it need not. It also does if it must list the resource and does not: then it has none.
func (n Node) Limits(name resource.Name) bool {
	_, listed := n.Listed.Lookup(name)
	return listed || !n.Unlisted.Has(name)
}

// Free returns how much of a resource is free when so much is used; Unlimited if the node does not limit it.
// It is negative if more is used than the node has.
func (n Node) Free(name resource.Name, used int64) int64 {
	has, listed := n.Listed.Lookup(name)
	if !listed && n.Unlisted.Has(name) {
		return resource.Unlimited
	}
	return resource.SatSub(has, used)
}

// Lacks reports whether less is free than requested. A request for 0 lacks nothing, even on an overfull node.
func (n Node) Lacks(used int64, want resource.Entry) bool {
	return want.Value > 0 && want.Value > n.Free(want.Name, used)
}

// Fits reports whether one more request fits beside what is used.
func (n Node) Fits(used *resource.Sum, want resource.List) bool {
	for i := range want.Len() {
		if e := want.At(i); n.Lacks(used.Get(e.Name), e) {
			return false
		}
	}
	return true
}

// Count returns how many equal requests fit beside what is used, at most the given number.
func (n Node) Count(want resource.List, most int, used func(resource.Name) int64) int {
	count := int64(max(most, 0))
	for i := range want.Len() {
		if e := want.At(i); count > 0 && e.Value > 0 {
			count = min(count, max(n.Free(e.Name, used(e.Name)), 0)/e.Value)
		}
	}
	return int(count)
}

// Overfull reports whether the node has less than 0 free of any resource that the request names. The request
// is already counted as used.
func (n Node) Overfull(free, request resource.List) bool {
	for i := range request.Len() {
		if e := request.At(i); e.Value > 0 && free.Get(e.Name) < 0 && n.Limits(e.Name) {
			return true
		}
	}
	return false
}

// AnyNumber is more pods than any node holds.
const AnyNumber = 1 << 30

// Slots returns how many more pods a node takes, if it now holds the given number of at most so many; 0 means
// there is no limit. The result is negative if the node holds too many.
func Slots(most, pods int) int {
	if most <= 0 {
		return AnyNumber
	}
	return most - pods
}
