package queue

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// rulePolicies is rule 5: which policy may stand where (YARN: isChildPolicyAllowed).
// FIFO and StateAware are for queues without children, and below Fair, which divides one resource,
// nothing divides all of them. The last good policy stays in force, or what the place
// asks for where that is not allowed either.
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
			b.report(n.Path, reason.Reason{Code: why, Other: stated.String(), Detail: n.Spec.Policy.String()})
		}
		b.ruleFairResource(n, above)
	}
}

// above is the rule of the parent; of the root, which has none, the default.
func (b *builder) above(n *Node) Rule {
	if n.Parent < 0 {
		return Spec{}.Rule()
	}
	return b.tree.Nodes[n.Parent].Spec.Rule()
}

// notAllowed says why a policy may not stand at a node, "" if it may.
func notAllowed(p Policy, n *Node, above Rule) reason.Code {
	switch {
	case p.ByAge() && len(n.Children) > 0:
		return reason.PolicyNotAllowed
	case p == DominantResourceFairness && above.Policy == Fair:
		return reason.PolicyBelowFair
	}
	return ""
}

// ruleFairResource: what Fair divides, it divides on all levels below. A child that
// would look at another resource has no share of it.
func (b *builder) ruleFairResource(n *Node, above Rule) {
	if n.Spec.Policy != Fair || above.Policy != Fair {
		return
	}
	stated := n.Spec.FairResource
	n.Spec.FairResource = above.Resource
	if stated != "" && stated != above.Resource {
		b.report(n.Path, reason.Reason{Code: reason.FairResourceNotAllowed, Other: string(stated), Resource: above.Resource})
	}
}

// ruleOvercommitted is rule 6: where a queue states a guarantee for a resource, those
// of its children should fit into it. It changes nothing, because each of them keeps
// its guarantee as its floor. The first resource is reported.
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
					Code: reason.Overcommitted, Resource: own.Name, Numbers: reason.Guarantees{Guaranteed: own.Value, Children: sum},
				})
				break
			}
		}
	}
}

// ruleMaxBelowGuaranteed is rule 7: of a max and a larger guarantee in one queue the
// guarantee counts for both, as in YARN. The first resource is reported.
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
					Code: reason.SpecInvalid, Resource: limit.Name, Limit: limit.Value, Numbers: reason.Guarantees{Guaranteed: floor},
				})
			}
			raised = true
		}
	}
}
