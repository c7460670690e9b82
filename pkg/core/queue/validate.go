package queue

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// rulePolicies is rule 5: FIFO is for queues without children. The last good policy
// stays in force, or the default where that is FIFO as well.
func (b *builder) rulePolicies() {
	for i := range b.tree.Nodes {
		n := &b.tree.Nodes[i]
		if len(n.Children) == 0 || n.Spec.Policy != FIFO {
			continue
		}
		n.Spec.Policy = b.declared[n.Path].PolicyInForce
		if n.Spec.Policy == FIFO {
			n.Spec.Policy = DominantResourceFairness
		}
		b.report(n.Path, reason.Reason{
			Code: reason.PolicyNotAllowed, Other: FIFO.String(), Detail: n.Spec.Policy.String(),
		})
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
					Code: reason.Overcommitted, Resource: own.Name, Limit: own.Value, Asked: sum,
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
					Code: reason.SpecInvalid, Resource: limit.Name, Limit: limit.Value, Asked: floor,
				})
			}
			raised = true
		}
	}
}
