package invariant

import (
	"math/big"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// commonAncestor is the last queue that the paths of two queues have in common.
func (r *replay) commonAncestor(q, other int) int {
	for !r.name(q).Contains(r.name(other)) {
		q = r.w.Queues[q].Parent
	}
	return q
}

// covered returns how much of an amount of a queue counts for queues whose last common ancestor with it is from. Every queue has such
// an amount: of(q). If the children of a queue have more together than counts of their parent, each counts in proportion. cut: some
// queue on the way up has less than its children together.
func (r *replay) covered(q, from int, of func(q int) resource.List) (amount resource.List, cut bool) {
	all, parent := of(q), r.w.Queues[q].Parent
	if parent == from || parent < 0 {
		return all, false
	}
	above, cut := r.covered(parent, from, of)
	var entries []resource.Entry
	for i := range all.Len() {
		e := all.At(i)
		sum := new(big.Int)
		for s := range r.w.Queues {
			if r.w.Queues[s].Parent == parent {
				sum.Add(sum, big.NewInt(of(s).Get(e.Name)))
			}
		}
		cut = cut || sum.Cmp(big.NewInt(max(of(parent).Get(e.Name), 0))) > 0
		if has := big.NewInt(max(above.Get(e.Name), 0)); e.Value > 0 && sum.Cmp(has) > 0 {
			e.Value = has.Mul(has, big.NewInt(e.Value)).Quo(has, sum).Int64()
		}
		entries = append(entries, e)
	}
	return resource.OfSorted(entries), cut
}

func (r *replay) entitlement(q int) resource.List { return r.w.Queues[q].Entitlement }

func (r *replay) ideal(q int) resource.List { return r.p.Ideal[q] }

// entitled is what a queue is entitled to, for queues that meet it at from.
func (r *replay) entitled(q, from int) resource.List {
	due, _ := r.covered(q, from, r.entitlement)
	return due
}

// target is the usage up to which a claim goes, for queues that meet it at from.
func (r *replay) target(c *preemption.Payment, from int) resource.List {
	if due, cut := r.covered(c.Queue, from, r.entitlement); cut {
		return c.Target.Min(due)
	}
	return c.Target
}

// guaranteed is what a queue is guaranteed, as far as it asks for it, for queues that meet it at from.
func (r *replay) guaranteed(q, from int) resource.List {
	all := r.w.Queues[q].Guaranteed.Min(r.w.Queues[q].Demand)
	if due, cut := r.covered(q, from, r.entitlement); cut {
		return all.Min(due)
	}
	return all
}

// outermost is, for each queue that loses pods, the highest queue at which it meets a claim that takes them; -1 for the others.
func (r *replay) outermost() []int {
	out := make([]int, len(r.w.Queues))
	for i := range out {
		out[i] = -1
	}
	for _, v := range r.p.Victims {
		from := r.commonAncestor(v.Queue, v.ForQueue)
		for _, q := range r.below(v) {
			if out[q] < 0 || r.name(from).Depth() < r.name(out[q]).Depth() {
				out[q] = from
			}
		}
	}
	return out
}
