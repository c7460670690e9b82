// Package capacity says whether pods fit on a node by numbers alone: what the node lists, less what is used there, against what a pod asks for.
//
// Input are amounts, output are verdicts and counts. Whether a node takes a pod for other reasons (taints, ports, volumes) is not its business, and
// it knows neither nodes nor pods.
package capacity

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Unlisted are the resources that a node need not list, since something else counts them (dynamic resource allocation, an extender): their names,
// and groups of them, which are what stands before the slash of a name.
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

// Limits reports whether the node's own numbers limit the resource. They do where the node lists it, even if it need not. They also do where it
// must list the resource and does not: then it has none.
func (n Node) Limits(name resource.Name) bool {
	_, listed := n.Listed.Lookup(name)
	return listed || !n.Unlisted.Has(name)
}

// Free returns how much of a resource is free where so much is used, Unlimited where the node does not limit it. It is below 0 where more is used
// than the node has.
func (n Node) Free(name resource.Name, used int64) int64 {
	has, listed := n.Listed.Lookup(name)
	if !listed && n.Unlisted.Has(name) {
		return resource.Unlimited
	}
	return resource.SatSub(has, used)
}

// Lacks reports whether less of a resource is free than is asked for. A request for none lacks none, also on an overfull node.
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

// Count returns how many equal requests fit beside what is used, at most so many.
func (n Node) Count(want resource.List, most int, used func(resource.Name) int64) int {
	count := int64(max(most, 0))
	for i := range want.Len() {
		if e := want.At(i); count > 0 && e.Value > 0 {
			count = min(count, max(n.Free(e.Name, used(e.Name)), 0)/e.Value)
		}
	}
	return int(count)
}

// Overfull reports whether a node on which so much is free has too little of anything that a request names. The request is counted already.
func (n Node) Overfull(free, request resource.List) bool {
	for i := range request.Len() {
		if e := request.At(i); e.Value > 0 && free.Get(e.Name) < 0 && n.Limits(e.Name) {
			return true
		}
	}
	return false
}

// AnyNumber of pods is more than any node holds.
const AnyNumber = 1 << 30

// Slots returns how many more pods a node takes that holds so many of at most so many; 0 stands for any number. It is below 0 where the node holds
// too many.
func Slots(most, pods int) int {
	if most <= 0 {
		return AnyNumber
	}
	return most - pods
}
