package queue

import (
	"math/big"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Division is how a queue shares with its siblings: by its weight, or by its capacity if that is stated.
type Division struct {
	// Known: the queue has been in force. The zero Division is of one that never was.
	Known                 bool
	Weight                int64
	Capacity, MaxCapacity Limit
}

// sumTolerance is how far the capacities of siblings may be from 100 percent together.
const sumTolerance = Whole / 2000

// ByCapacity reports whether the children of a node share by capacity.
func (t Tree) ByCapacity(i int) bool {
	children := t.Nodes[i].Children
	return len(children) > 0 && t.Nodes[children[0]].Spec.Capacity.Stated
}

// Absolute returns what a capacity or maximum in percent of the parent is of the cluster, if the parent has this part of it.
func (l Limit) Absolute(parent *big.Rat) *big.Rat {
	if !l.Stated {
		return parent
	}
	own := big.NewRat(l.Most, Whole)
	return own.Mul(own, parent)
}

// ruleCapacities is rule 8: the children of a queue share by capacity or by weight, all of them. Their capacities sum to
// 100 percent, or to 0 where the queue has none itself, and no queue has a larger capacity than maximum, both taken down
// the tree. If this does not hold, none of the siblings follows its spec: each has its last good weight or capacity, and
// one that never had any gets only what the others leave. (YARN refuses the whole configuration.)
func (b *builder) ruleCapacities() {
	if !b.statesCapacity() {
		return
	}
	r := capacityRule{builder: b, members: b.members(), capacity: make([]*big.Rat, len(b.tree.Nodes)), most: make([]*big.Rat, len(b.tree.Nodes)), moves: make([]bool, len(b.tree.Nodes))}
	root := &b.tree.Nodes[0].Spec
	root.Capacity, root.MaxCapacity = Limit{}, Limit{} // it has the whole cluster
	r.capacity[0], r.most[0] = big.NewRat(1, 1), big.NewRat(1, 1)
	for i := range b.tree.Nodes { // parents come before children
		if n := &b.tree.Nodes[i]; len(n.Children) > 0 {
			r.divide(i)
		}
	}
}

func (b *builder) statesCapacity() bool {
	return slices.ContainsFunc(b.candidates, func(p Path) bool {
		d, declared := b.declared[p]
		return declared && (d.Spec.Capacity.Stated || d.InForce.Capacity.Stated)
	})
}

// capacityRule knows what parts of the cluster the queues have, by node.
type capacityRule struct {
	*builder
	// capacity is the absolute capacity. Below a queue with a weight, whose share changes with its siblings, it is the most
	// that it may become.
	capacity []*big.Rat
	most     []*big.Rat // the absolute maximum
	moves    []bool     // capacity is only the most that it may become
	// members are the children that must agree, by parent: see builder.members.
	members map[Path][]*Declaration
}

// members are the declared children of each queue that must agree, in path order: also those that are blocked for now. A
// queue that placement created has no capacity unless somebody gives it one, and counts with 0.
func (b *builder) members() map[Path][]*Declaration {
	all := map[Path][]*Declaration{}
	for _, p := range b.candidates {
		d, declared := b.declared[p]
		_, err := ParsePath(string(p))
		if declared && err == nil && p != Root && (!d.Origin.Placement || d.Spec.Capacity.Stated) {
			all[p.Parent()] = append(all[p.Parent()], d)
		}
	}
	return all
}

// divide says how the children of a node share.
func (r *capacityRule) divide(parent int) {
	n := &r.tree.Nodes[parent]
	members := r.members[n.Path]
	why := r.wrong(parent, members)
	byCapacity := why.Code == "" && len(members) > 0 && members[0].Spec.Capacity.Stated
	if why.Code != "" {
		byCapacity = r.knowsCapacity(members)
	}
	for _, c := range n.Children {
		child := &r.tree.Nodes[c]
		d, declared := r.declared[child.Path]
		switch {
		case why.Code != "" && declared:
			child.Spec.setDivision(lastGood(d, byCapacity))
		case byCapacity:
			child.Spec.setDivision(Division{Capacity: AtMost(child.Spec.Capacity.Most), MaxCapacity: child.Spec.MaxCapacity})
		default:
			child.Spec.setDivision(Division{Weight: child.Spec.Weight})
		}
		r.most[c] = child.Spec.MaxCapacity.Absolute(r.most[parent])
		r.capacity[c], r.moves[c] = r.most[c], true
		if byCapacity {
			r.moves[c] = r.moves[parent]
			r.capacity[c] = child.Spec.Capacity.Absolute(r.capacity[parent])
		}
		child.Spec.limitTo(r.most[c], r.total)
	}
	if why.Code == "" {
		return
	}
	d := reason.As[reason.Capacities](why)
	d.InForce = list(members, r.inForce)
	why.Details = d
	r.report(n.Path, why)
	for _, m := range members {
		r.report(m.Path, why)
	}
}

// wrong says what is wrong with what the children of a node state.
func (r *capacityRule) wrong(parent int, members []*Declaration) reason.Reason {
	n := &r.tree.Nodes[parent]
	sum, with := int64(0), 0
	for _, m := range members {
		if m.Spec.Capacity.Stated {
			sum, with = resource.SatAdd(sum, m.Spec.Capacity.Most), with+1
		}
	}
	whole, tolerance := Whole, sumTolerance
	if d := r.declared[n.Path]; d != nil && d.Spec.Capacity == AtMost(0) {
		whole, tolerance = 0, 0
	}
	details := reason.Capacities{Parent: string(n.Path), Sum: sum, Whole: whole}
	switch {
	case with == 0:
		return reason.Reason{}
	case with < len(members):
		details.Stated = list(members, func(m *Declaration) string { return m.Spec.division() })
		return reason.Reason{Code: reason.CapacityMissing, Details: details}
	case sum < whole-tolerance || sum > whole+tolerance:
		details.Stated = list(members, func(m *Declaration) string { return m.Spec.division() })
		return reason.Reason{Code: reason.CapacitySumInvalid, Details: details}
	}
	for _, m := range members {
		capacity, most := m.Spec.Capacity.Absolute(r.capacity[parent]), m.Spec.MaxCapacity.Absolute(r.most[parent])
		if most.Cmp(capacity) < 0 {
			details.Child = string(m.Path)
			details.Capacity, details.Max = Millionths(capacity), Millionths(most)
			details.UpTo = r.moves[parent]
			return reason.Reason{Code: reason.MaxCapacityTooLow, Details: details}
		}
	}
	return reason.Reason{}
}

// knowsCapacity reports whether the siblings shared by capacity when they last agreed; if they never did, that is assumed. A
// queue that was kept out of the tree meanwhile may remember the other way, so most of them decide.
func (r *capacityRule) knowsCapacity(members []*Declaration) bool {
	capacities, weights := 0, 0
	for _, d := range members {
		_, in := r.nodes[d.Path]
		switch {
		case !in || !d.InForce.Known:
		case d.InForce.Capacity.Stated:
			capacities++
		default:
			weights++
		}
	}
	return capacities >= weights
}

// lastGood is how a queue shares while its siblings contradict each other.
func lastGood(d *Declaration, byCapacity bool) Division {
	switch is := d.InForce; {
	case byCapacity && !is.Capacity.Stated:
		return Division{Capacity: AtMost(0)}
	case byCapacity:
		return is
	case !d.Spec.Capacity.Stated:
		return Division{Weight: d.Spec.Weight}
	default:
		return Division{Weight: is.Weight}
	}
}

// Division returns how a queue in force shares with its siblings.
func (s Spec) Division() Division {
	d := Division{Known: true, Weight: s.Weight, Capacity: s.Capacity, MaxCapacity: s.MaxCapacity}
	if d.Capacity.Stated {
		d.Weight = 0 // it has none
	}
	return d
}

// setDivision puts a division in force. A capacity counts as the weight among the siblings too: they are served, and
// divide what others leave, in this proportion. It is the guarantee of its queue, which has no other.
func (s *Spec) setDivision(d Division) {
	s.Weight, s.Capacity, s.MaxCapacity = d.Weight, d.Capacity, d.MaxCapacity
	if d.Capacity.Stated {
		s.Weight, s.Guaranteed = d.Capacity.Most, resource.List{}
	}
}

// limitTo lowers the max of a queue that states maxCapacity to that part of the cluster, rounded down. It limits only what
// the calculator counts, as in YARN.
func (s *Spec) limitTo(most *big.Rat, total resource.List) {
	if !s.MaxCapacity.Stated || s.MaxCapacity.Most >= Whole {
		return
	}
	total = s.Calculator.Of(total)
	entries := make([]resource.Entry, 0, total.Len()+s.Max.Len())
	for i := range total.Len() {
		e := total.At(i)
		e.Value = PartOf(e.Value, most)
		if limit, limited := s.Max.Lookup(e.Name); limited {
			e.Value = min(e.Value, limit)
		}
		entries = append(entries, e)
	}
	for i := range s.Max.Len() {
		if _, known := total.Lookup(s.Max.At(i).Name); !known {
			entries = append(entries, s.Max.At(i))
		}
	}
	s.Max = resource.Of(entries...)
}

// PartOf returns a part of an amount, rounded down. The part is at most 1.
func PartOf(v int64, part *big.Rat) int64 {
	x := new(big.Int).Mul(big.NewInt(v), part.Num())
	return x.Div(x, part.Denom()).Int64()
}

// Millionths returns a part of the cluster in millionths of a percent, rounded down.
func Millionths(part *big.Rat) int64 { return PartOf(100_000_000, part) }

// division spells how a queue shares.
func (s Spec) division() string {
	if s.Capacity.Stated {
		return resource.Decimal(s.Capacity.Most) + "%"
	}
	return "weight " + resource.Decimal(s.Weight)
}

// inForce says how a queue shares now.
func (r *capacityRule) inForce(d *Declaration) string {
	if i, in := r.nodes[d.Path]; in {
		return r.tree.Nodes[i].Spec.division()
	}
	return "not in force"
}

// mostListed is how many siblings a sentence names.
const mostListed = 10

func list(members []*Declaration, text func(*Declaration) string) string {
	var all strings.Builder
	for i, m := range members {
		if i == mostListed {
			all.WriteString(", ...")
			break
		}
		if i > 0 {
			all.WriteString(", ")
		}
		all.WriteString(string(m.Path) + " " + text(m))
	}
	return all.String()
}
