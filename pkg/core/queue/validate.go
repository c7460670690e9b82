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
		byDefault := DominantResourceFairness
		if above.Policy == Fair {
			byDefault = Fair
		}
		if stated == Unstated {
			stated, n.Spec.Policy = byDefault, byDefault
		}
		if why := notAllowed(stated, n, above); why != "" {
			n.Spec.Policy = b.declared[n.Path].PolicyInForce
			if n.Spec.Policy == Unstated || notAllowed(n.Spec.Policy, n, above) != "" {
				n.Spec.Policy = byDefault
			}
			b.report(n.Path, reason.Reason{Code: why, Details: reason.Policies{Stated: stated.String(), InForce: n.Spec.Policy.String()}})
		}
		b.ruleFairResource(n, above)
	}
}

// above returns the rule of the parent; for the root, which has none, the default.
func (b *builder) above(n *Node) Rule {
	if n.Parent < 0 {
		return Spec{}.Rule()
	}
	return b.tree.Nodes[n.Parent].Spec.Rule()
}

// notAllowed says why a node may not use a policy; "" if it may.
func notAllowed(p Policy, n *Node, above Rule) reason.Code {
	switch {
	case p.ByAge() && len(n.Children) > 0:
		return reason.PolicyNotAllowed
	case p == DominantResourceFairness && above.Policy == Fair:
		return reason.PolicyBelowFair
	}
	return ""
}

// ruleFairResource: all levels below a Fair queue divide the same resource. A child that used another resource
// would have no share of it.
func (b *builder) ruleFairResource(n *Node, above Rule) {
	if n.Spec.Policy != Fair || above.Policy != Fair {
		return
	}
	stated := n.Spec.FairResource
	n.Spec.FairResource = above.Resource
	if stated != "" && stated != above.Resource {
		b.report(n.Path, reason.Reason{Code: reason.FairResourceNotAllowed, Resource: above.Resource, Details: reason.FairResource{Stated: stated}})
	}
}

// ruleOvercommitted is rule 6: if a queue states a guarantee for a resource, the guarantees of its children
// should fit into it. It only reports, because each child keeps its guarantee as its floor. It reports the
// first resource.
func (b *builder) ruleOvercommitted() {
	for _, n := range b.tree.Nodes {
		var children resource.Sum
		for _, c := range n.Children {
			children.Add(b.tree.Nodes[c].Spec.Guaranteed)
		}
		for i := range n.Spec.Guaranteed.Len() {
			own := n.Spec.Guaranteed.At(i)
			if sum := children.Get(own.Name); sum > own.Value {
				b.report(n.Path, reason.Reason{
					Code: reason.Overcommitted, Resource: own.Name, Details: reason.Guarantees{Guaranteed: own.Value, Children: sum},
				})
				break
			}
		}
	}
}

// ruleMaxBelowGuaranteed is rule 7: if the guarantee of a queue is larger than its max, the guarantee counts
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
