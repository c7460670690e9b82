package queue

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// rulePolicies is rule 5: which policy may be used where (YARN: isChildPolicyAllowed). FIFO and StateAware are
// only for queues without children. Fair divides one resource, so no queue below it may divide all of them.
// Instead of a policy that is not allowed, the last valid policy stays in force or, if that is not allowed
// either, the one that this place needs.
func (b *builder) rulePolicies() {
	for i := range b.tree.Nodes { // parents come before children
		n := &b.tree.Nodes[i]
		stated := n.Spec.Policy
		above := b.above(n)
		byDefault, from := DominantResourceFairness, Path("")
		if above.Policy == Fair {
			byDefault, from = Fair, b.tree.Nodes[n.Parent].PolicyFrom
		}
		n.PolicyFrom = n.Path
		if stated == Unstated {
			stated, n.Spec.Policy, n.PolicyFrom = byDefault, byDefault, from
		}
		if why := notAllowed(stated, n, above); why != "" {
			n.Spec.Policy = b.declared[n.Path].PolicyInForce // it is declared, since a default is never refused
			if n.Spec.Policy == Unstated || notAllowed(n.Spec.Policy, n, above) != "" {
				n.Spec.Policy, n.PolicyFrom = byDefault, from
			}
			b.report(n.Path, reason.Reason{Code: why, Details: reason.Policies{Stated: stated.String(), InForce: n.Spec.Policy.String()}})
		}
		b.ruleFairResource(n, above)
	}
}

// above returns the rule of the parent; for the root, which has none, the default policy with the calculator.
func (b *builder) above(n *Node) Rule {
	if n.Parent < 0 {
		return Spec{Calculator: n.Spec.Calculator}.Rule()
	}
	return b.tree.Nodes[n.Parent].Spec.Rule()
}

// notAllowed says why a node may not use a policy; "" if it may.
func notAllowed(p Policy, n *Node, above Rule) reason.Code {
	switch {
	case p.ByAge() && !n.Leaf():
		return reason.PolicyNotAllowed
	case p == DominantResourceFairness && above.Policy == Fair:
		return reason.PolicyBelowFair
	}
	return ""
}

// ruleFairResource: all levels below a Fair queue divide the same resource, and with calculator Memory all queues divide
// memory. A queue that used another resource would have no share of it.
func (b *builder) ruleFairResource(n *Node, above Rule) {
	only, one := above.only()
	if n.Spec.Policy != Fair {
		return
	}
	stated := n.Spec.FairResource
	if stated != "" {
		n.FairResourceFrom = n.Path
	}
	if !one {
		return
	}
	n.FairResourceFrom = Root
	if above.Calculator != MemoryCalculator {
		n.FairResourceFrom = b.tree.Nodes[n.Parent].FairResourceFrom
	}
	n.Spec.FairResource = only
	if stated != "" && stated != only {
		b.report(n.Path, reason.Reason{Code: reason.FairResourceNotAllowed, Resource: only, Details: reason.FairResource{
			Stated: stated, ByCalculator: above.Calculator == MemoryCalculator,
		}})
	}
}

// ruleMaxBelowGuaranteed is rule 6: if the guarantee of a queue is larger than its max, the guarantee counts
// as both, as in YARN. It reports the first resource.
func (b *builder) ruleMaxBelowGuaranteed() {
	for i := range b.tree.Nodes {
		n := &b.tree.Nodes[i]
		raised := false
		for j := range n.Spec.Max.Len() {
			limit := n.Spec.Max.At(j)
			floor := n.Spec.Guaranteed.Get(limit.Name)
			if limit.Value >= floor {
				continue
			}
			missing := resource.Of(resource.Entry{Name: limit.Name, Value: resource.SatSub(floor, limit.Value)})
			n.Spec.Max = n.Spec.Max.Add(missing)
			if !raised {
				b.report(n.Path, reason.Reason{
					Code: reason.SpecInvalid, Resource: limit.Name, Limit: limit.Value, Details: reason.Guarantees{Guaranteed: floor},
				})
			}
			raised = true
		}
	}
}

// ruleMaxPodResources is rule 7: a queue may lower what a single pod may ask for, and never raise it above what a
// queue above it allows. A larger amount is passed over, so that of the queue above stays in force. It reports the
// first resource. (YARN lets maxContainerAllocation of a child be larger.)
func (b *builder) ruleMaxPodResources() {
	for i := range b.tree.Nodes { // parents come before children
		n := &b.tree.Nodes[i]
		var kept []resource.Entry
		raised := false
		for j := range n.Spec.MaxPod.Len() {
			own := n.Spec.MaxPod.At(j)
			from, most, limited := b.maxPodAbove(n, own.Name)
			if !limited || own.Value <= most {
				kept = append(kept, own)
				continue
			}
			if !raised {
				b.report(n.Path, reason.Reason{
					Code: reason.MaxPodResourcesRaised, Resource: own.Name, Limit: most, Asked: own.Value, Details: reason.Parent{Path: string(from)},
				})
			}
			raised = true
		}
		if raised {
			n.Spec.MaxPod = resource.Of(kept...)
		}
	}
}

// maxPodAbove returns the nearest queue above that limits a resource of a single pod, and its limit.
func (b *builder) maxPodAbove(n *Node, name resource.Name) (from Path, most int64, limited bool) {
	for i := n.Parent; i >= 0; i = b.tree.Nodes[i].Parent {
		above := &b.tree.Nodes[i]
		if most, limited = above.Spec.MaxPod.Lookup(name); limited {
			return above.Path, most, true
		}
	}
	return "", 0, false
}
