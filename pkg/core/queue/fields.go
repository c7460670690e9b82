package queue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// ruleFields is rule 11: a queue that states a field which has no effect where it stands says so. The queue is in force all
// the same. The schema refuses what one Queue shows by itself; this looks at the tree, and at Queues that are older than the
// schema. What another rule has reported of a field is not reported again.
func (b *builder) ruleFields() {
	nodes := len(b.tree.Nodes)
	f := fieldRule{builder: b, guarantees: make([]bool, nodes), protector: make([]Path, nodes), claims: make([]bool, nodes)}
	for i := len(b.tree.Nodes) - 1; i >= 0; i-- { // children come before parents
		n := &b.tree.Nodes[i]
		d, declared := b.declared[n.Path]
		// Those of reservations come and go.
		f.guarantees[i] = f.guarantees[i] || n.Spec.Guaranteed.Len() > 0 && n.Parent >= 0 || declared && d.Reservable
		if n.Parent >= 0 {
			f.guarantees[n.Parent] = f.guarantees[n.Parent] || f.guarantees[i]
		}
		p := &n.Spec.Preemption
		f.preempts = f.preempts || p.FairShareTimeout.InForce() || p.GuaranteedTimeout.InForce() && f.guarantees[i]
	}
	for i := range b.tree.Nodes { // parents come before children
		f.inherit(i)
		if d, declared := b.declared[b.tree.Nodes[i].Path]; declared {
			f.look(i, d)
		}
	}
}

// fieldRule knows what the fields of a queue need of other queues, by node.
type fieldRule struct {
	*builder
	guarantees []bool // the queue, or one below it, has a guarantee that can be missed
	protector  []Path // the queue that says that no pod of this one is preempted
	claims     []bool // a fairShareTimeout is in force
	preempts   bool   // a timeout is in force somewhere
	found      []reason.Ignored
}

// inherit notes what comes from above about preemption: see Preemption.Under.
func (f *fieldRule) inherit(i int) {
	n := &f.tree.Nodes[i]
	if n.Parent >= 0 {
		f.protector[i], f.claims[i] = f.protector[n.Parent], f.claims[n.Parent]
	}
	if t := n.Spec.Preemption.FairShareTimeout; t.Stated {
		f.claims[i] = t.InForce()
	}
	switch states := n.Spec.Preemption.Preemptible; {
	case states == PreemptibleNo && f.protector[i] == "":
		f.protector[i] = n.Path
	case states == PreemptibleYes && n.Spec.Capacity.Stated:
		f.protector[i] = ""
	}
}

func (f *fieldRule) note(ignored bool, field string, cause reason.IgnoredCause, by string) {
	if ignored {
		f.found = append(f.found, reason.Ignored{Field: field, Cause: cause, By: by})
	}
}

// look reports the fields of a node that have no effect, by name.
func (f *fieldRule) look(i int, d *Declaration) {
	n := &f.tree.Nodes[i]
	f.found = f.found[:0]
	f.forLeaves(n, d)
	f.forPolicies(n, d)
	f.forSharing(n, d)
	f.forPreemption(i, n)
	slices.SortFunc(f.found, func(x, y reason.Ignored) int { return cmp.Compare(x.Field, y.Field) })
	for _, ignored := range f.found {
		f.report(n.Path, reason.Reason{Code: reason.FieldIgnored, Details: ignored})
	}
}

// forLeaves looks at what is for queues that take pods, or at what limits it there.
func (f *fieldRule) forLeaves(n *Node, d *Declaration) {
	users, most := &d.Spec.Users, f.tree.Nodes[0].Spec.MaxPriority
	if n.Leaf() && n.Parent >= 0 {
		f.note(len(users.Weights) > 0 && !n.Spec.LimitsUsers(), "users.weights", reason.NoUserLimit, "")
		above := d.Spec.DefaultPriority != 0 && !most.Admits(int64(d.Spec.DefaultPriority))
		f.note(above, "defaultPriority", reason.AboveMaxPriority, strconv.FormatInt(most.Most, 10))
		return
	}
	f.note(d.Spec.MaxDriverShare.Stated, "maxDriverShare", reason.ForLeaves, "")
	f.note(d.Spec.DefaultPriority != 0, "defaultPriority", reason.ForLeaves, "")
	f.note(users.MinShare.Stated, "users.minSharePercent", reason.ForLeaves, "")
	f.note(users.ShareFactor.Stated, "users.shareFactor", reason.ForLeaves, "")
	f.note(len(users.Weights) > 0, "users.weights", reason.ForLeaves, "")
}

// forPolicies looks at what one policy uses. That a policy is not allowed is told already, and what it uses waits for that.
func (f *fieldRule) forPolicies(n *Node, d *Declaration) {
	is := n.Spec.Policy.String()
	if n.Spec.Policy != StateAware && d.Spec.Policy != StateAware {
		f.note(d.Spec.MaxStarting.Stated, "maxStarting", reason.ForStateAware, is)
		f.note(d.Spec.StartingTimeout != StartingTimeout{}, "startingTimeout", reason.ForStateAware, is)
	}
	if n.Spec.Policy != FIFO && d.Spec.Policy != FIFO {
		f.note(d.Spec.Strict, "strict", reason.ForFIFO, is)
	}
	if n.Spec.Policy != Fair && d.Spec.Policy != Fair {
		f.note(d.Spec.FairResource != "", "fairResource", reason.ForFair, is)
	}
}

// forSharing looks at what divides a queue's parent.
func (f *fieldRule) forSharing(n *Node, d *Declaration) {
	guaranteed := d.Spec.Guaranteed.Len()+d.Percent.Guaranteed.Len() > 0
	weighs := d.Spec.Weight != DefaultWeight
	switch {
	case n.Parent < 0:
		f.note(weighs, "weight", reason.NoSiblings, "")
		f.note(guaranteed, "guaranteed", reason.WholeCluster, "")
		return
	case n.Spec.Capacity.Stated && d.Origin.Placement && !d.Spec.Capacity.Stated:
		// Among others that state none, capacity.go has reported it.
		f.note(weighs, "weight", reason.AmongCapacities, "")
		f.note(guaranteed, "guaranteed", reason.AmongCapacities, "")
		return
	}
	above := f.tree.Nodes[n.Parent].Spec.Rule()
	cause := reason.ParentDividesOne
	if above.Calculator == MemoryCalculator {
		cause = reason.CalculatorCountsOne
	}
	others := uncounted(n.Spec.Guaranteed, above)
	f.note(others != "", "guaranteed", cause, others)
}

// uncounted names the resources of which the rule counts none.
func uncounted(l resource.List, rule Rule) string {
	var names []string
	for i := range l.Len() {
		if e := l.At(i); e.Value > 0 && !rule.Counts(e.Name) {
			names = append(names, string(e.Name))
		}
	}
	return strings.Join(names, ", ")
}

// forPreemption looks at what is about preemption.
func (f *fieldRule) forPreemption(i int, n *Node) {
	p := &n.Spec.Preemption
	// Of a queue with children it is the default for all below it; beside a fairShareTimeout it waits for the first guarantee.
	vain := p.GuaranteedTimeout.InForce() && !f.guarantees[i] && (n.Leaf() || !f.claims[i])
	f.note(vain, "preemption.guaranteedTimeout", reason.NoGuarantee, "")
	f.note(p.Preemptible == PreemptibleYes && f.protector[i] != "", "preemption.preemptible", reason.ProtectedAbove, string(f.protector[i]))
	if f.preempts {
		return
	}
	for _, of := range []struct {
		field  string
		stated bool
	}{
		{"observeOnly", p.ObserveOnly},
		{"utilizationThreshold", p.UtilizationThreshold.Stated},
		{"interval", p.Interval.Stated},
		{"maxWaitBeforeKill", p.MaxWaitBeforeKill.Stated},
		{"totalPerRound", p.TotalPerRound.Stated},
		{"maxIgnoredOverCapacity", p.MaxIgnoredOverCapacity.Stated},
		{"naturalTerminationFactor", p.NaturalTerminationFactor.Stated},
	} {
		f.note(of.stated, "preemption."+of.field, reason.NoTimeout, "")
	}
}
