package preemption

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A guarantee is judged resource by resource, in its claims as in the order of the queues. A queue claims what it lacks of some resources, for pods
// that ask for these. What it has of others does not matter: it may be above its fair share.
//
// So two queues could take from each other for ever, each for what the other lost. Therefore a claim keeps what other queues are guaranteed of the
// resource that it pays, and of those before that in a fixed order; see Precedence. With every payment the queues then lack less in all of the first
// of these resources that changes, and that ends.

// Below reports whether a queue is below a bound: ThresholdBound of its fair share, or its GuaranteedTarget.
func (k Kind) Below(rule queue.Rule, total, usage, bound resource.List) bool {
	if k == BelowGuaranteed {
		return guarantee.Smallest(rule, bound, bound, usage).Below()
	}
	return Starved(rule, total, usage, bound)
}

// GuaranteedTarget is the usage up to which a claim of a guarantee goes, of each resource that the rule counts: what is guaranteed, but never more
// than the queue asks for.
func GuaranteedTarget(rule queue.Rule, guaranteed, demand resource.List) resource.List {
	var entries []resource.Entry
	for i := range guaranteed.Len() {
		if e := guaranteed.At(i); rule.Counts(e.Name) {
			entries = append(entries, resource.Entry{Name: e.Name, Value: min(e.Value, demand.Get(e.Name))})
		}
	}
	return resource.OfSorted(entries)
}

// Pays returns the resource that a unit pays of a claim of a guarantee: one that it asks for and of which the queue, with the unit, is not above the
// target; of several the first by precedence. "": the unit is not owed.
func Pays(rule queue.Rule, asks, usage, target resource.List) resource.Name {
	var first resource.Name
	for i := range target.Len() {
		e := target.At(i)
		if asks.Get(e.Name) > 0 && usage.Get(e.Name) <= e.Value && rule.Counts(e.Name) && (first == "" || Precedence(e.Name, first) < 0) {
			first = e.Name
		}
	}
	return first
}

// Precedence orders resources: those with a domain (devices such as GPUs) before those that every node has, then by name. A queue that is guaranteed
// devices may take them from a queue that has more of these than it is guaranteed, though that one lacks cpu; not the other way about.
func Precedence(a, b resource.Name) int {
	rank := func(n resource.Name) int {
		if strings.Contains(string(n), "/") {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// orderResources notes the precedence of the resources.
func (p *picture) orderResources() {
	p.precedence = p.precedence[:0]
	for i := range p.names {
		p.precedence = append(p.precedence, i)
	}
	slices.SortFunc(p.precedence, func(i, j int) int { return Precedence(p.names[i], p.names[j]) })
}

// paysNothing is the place in precedence of what a claim of a fair share pays.
const paysNothing = -1

// pays is Pays for a unit that is charged already, as a place in precedence.
func (p *planner) pays(q int, u *unit, target []int64) int {
	a := &p.queues[q]
	for at, i := range p.precedence {
		if a.counts[i] && u.request[i] > 0 && a.usage[i] <= target[i] {
			return at
		}
	}
	return paysNothing
}

// paidBy is what a unit that is charged already pays of a guarantee; "" for a claim of a fair share.
func (p *planner) paidBy(o *activeClaim, u *unit) resource.Name {
	if o.Kind == BelowGuaranteed {
		if at := p.pays(o.Queue, u, o.target); at != paysNothing {
			return p.names[p.precedence[at]]
		}
	}
	return ""
}

// keepsGuarantees reports whether the queues that lose a pod, which is taken already, still have what they are guaranteed of all resources for which
// the pod asks, up to the one that is paid.
func (p *planner) keepsGuarantees(rs *roomSearch, v *pod) bool {
	lca, pays := rs.lowestCommonAncestor[v.Queue], rs.pays
	if lca < len(rs.paysOutside) {
		pays = rs.paysOutside[lca]
	}
	for at := range pays + 1 {
		i := p.precedence[at]
		if v.request[i] <= 0 {
			continue
		}
		for q := v.Queue; p.queues[q].depth > lca; q = p.queues[q].parent {
			if a := &p.queues[q]; a.counts[i] && a.usage[i] < a.seen(lca).guaranteed[i] {
				return false
			}
		}
	}
	return true
}
