// Package guarantee says how far a queue is below what it is guaranteed, resource by resource.
//
// Input is what a queue is guaranteed, what it asks for and what it has. Output is of which resources it lacks some, and
// the smallest part that it has of what it is owed. The order of the queues, starvation and what is shown all ask here,
// so that they agree.
//
// The package must not use floats and must not compare one resource with another through the cluster's total: a part has
// the same resource above and below.
package guarantee

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Amounts are a resource.List or a resource.Sum.
type Amounts interface {
	Get(resource.Name) int64
}

// Part is what a queue has of one resource, and what it is owed of it: what it is guaranteed, as far as it asks for it. Below
// its guarantee, it has less than it is owed. The zero Part is of a queue that is not.
type Part struct {
	Resource   resource.Name
	Used, Owed int64
}

// Below reports whether there is anything that the queue lacks.
func (p Part) Below() bool { return p.Owed > 0 }

// Compare is negative if p is the smaller part, exactly.
func (p Part) Compare(o Part) int { return resource.CompareFractions(p.Used, p.Owed, o.Used, o.Owed) }

// of is the part of one guaranteed amount.
func of(e resource.Entry, demand, used Amounts) (Part, bool) {
	p := Part{e.Name, max(used.Get(e.Name), 0), min(e.Value, demand.Get(e.Name))}
	return p, p.Used < p.Owed
}

// Smallest returns the smallest part that the queue has of what it is owed, among the resources that the rule counts; of equal
// ones that of the first resource by name.
func Smallest(rule queue.Rule, guaranteed resource.List, demand, used Amounts) Part {
	var least Part
	for i := range guaranteed.Len() {
		e := guaranteed.At(i)
		if p, below := of(e, demand, used); below && rule.Counts(e.Name) && (!least.Below() || p.Compare(least) < 0) {
			least = p
		}
	}
	return least
}

// Lacking appends to names the resources of which the queue has less than it is owed, among those that the rule counts.
func Lacking(rule queue.Rule, guaranteed resource.List, demand, used Amounts, names []resource.Name) []resource.Name {
	for i := range guaranteed.Len() {
		e := guaranteed.At(i)
		if _, below := of(e, demand, used); below && rule.Counts(e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// Asks reports whether a request asks for one of the resources.
func Asks(request resource.List, names []resource.Name) bool {
	for _, n := range names {
		if request.Get(n) > 0 {
			return true
		}
	}
	return false
}
