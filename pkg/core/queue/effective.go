package queue

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Effective is what is in force for a queue of the settings that may come from a queue above, and which queue states each;
// "": it is the default.
type Effective struct {
	PolicyFrom, FairResourceFrom Path
	Preemption                   Preemption // as Preemption.Under says
	ThresholdFrom                Path
	FairShareTimeoutFrom         Path
	GuaranteedTimeoutFrom        Path
	PreemptibleFrom              Path
	// MaxPod are the amounts in force, by name of the resource. Queues may share it; nobody changes it.
	MaxPod []EffectiveAmount
}

// EffectiveAmount is an amount in force.
type EffectiveAmount struct {
	resource.Entry
	From Path
}

// Equal reports whether both are the same.
func (e Effective) Equal(o Effective) bool {
	return e.PolicyFrom == o.PolicyFrom && e.FairResourceFrom == o.FairResourceFrom && e.Preemption == o.Preemption &&
		e.ThresholdFrom == o.ThresholdFrom && e.FairShareTimeoutFrom == o.FairShareTimeoutFrom && e.GuaranteedTimeoutFrom == o.GuaranteedTimeoutFrom &&
		e.PreemptibleFrom == o.PreemptibleFrom && slices.Equal(e.MaxPod, o.MaxPod)
}

// Effective returns what is in force for each queue, by node index.
func (t Tree) Effective() []Effective {
	all := make([]Effective, len(t.Nodes))
	for i := range t.Nodes { // parents come before children
		n := &t.Nodes[i]
		var above Effective
		if n.Parent >= 0 {
			above = all[n.Parent]
		}
		all[i] = n.effective(above)
	}
	return all
}

func (n *Node) effective(above Effective) Effective {
	is, p := above, n.Spec.Preemption
	is.PolicyFrom, is.FairResourceFrom = n.PolicyFrom, n.FairResourceFrom
	is.Preemption = p.Under(above.Preemption, n.Spec.Capacity.Stated)
	if p.FairShareThreshold.Stated {
		is.ThresholdFrom = n.Path
	}
	if p.FairShareTimeout.Stated {
		is.FairShareTimeoutFrom = n.Path
	}
	if p.GuaranteedTimeout.Stated {
		is.GuaranteedTimeoutFrom = n.Path
	}
	if p.Preemptible != PreemptibleUnstated && p.Preemptible.Allowed() == is.Preemption.Preemptible.Allowed() {
		is.PreemptibleFrom = n.Path
	}
	is.MaxPod = n.maxPodIn(above.MaxPod)
	return is
}

// maxPodIn puts what the queue states in the place of what is above. It never states more: see ruleMaxPodResources.
func (n *Node) maxPodIn(above []EffectiveAmount) []EffectiveAmount {
	own := n.Spec.MaxPod
	if own.Len() == 0 {
		return above
	}
	all := make([]EffectiveAmount, 0, len(above)+own.Len())
	for _, a := range above {
		if _, stated := own.Lookup(a.Name); !stated {
			all = append(all, a)
		}
	}
	for i := range own.Len() {
		all = append(all, EffectiveAmount{own.At(i), n.Path})
	}
	slices.SortFunc(all, func(a, b EffectiveAmount) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
