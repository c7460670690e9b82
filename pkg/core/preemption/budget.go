package preemption

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// round is what one round may take.
type round struct {
	most  []int64
	taken []int64
	any   bool
}

// notBusy returns the resource that is used most, of those that count, and how much of it is used. True: the cluster is not above its
// threshold, so free room is enough.
func notBusy(w *World) (resource.Name, int64, bool) {
	var most Share
	total := w.Calculator().Of(w.Total)
	for i := range total.Len() {
		e := total.At(i)
		s := Share{Resource: e.Name, Amount: w.Used.Get(e.Name), Of: e.Value}
		if e.Value > 0 && (most.Of == 0 || s.Compare(most) > 0) {
			most = s
		}
	}
	busy := most.Of > 0 && resource.CompareFractions(most.Amount, most.Of, w.Settings.UtilizationThreshold, whole) > 0
	return most.Resource, most.Amount, !busy
}

func (p *planner) newRound() round {
	r := round{most: make([]int64, len(p.names)), taken: make([]int64, len(p.names))}
	if len(p.w.Queues) > 0 { // until they are gone, victims of earlier rounds count as part of this one
		r.taken, r.any = p.dense(p.w.Queues[0].Announced, 0), !p.w.Queues[0].Announced.IsZero()
	}
	for i, amount := range p.total {
		r.most[i] = resource.Unlimited
		if p.w.Calculator().Counts(p.names[i]) {
			r.most[i] = resource.Part(resource.Part(amount, p.w.Settings.TotalPerRound, whole), p.w.Settings.NaturalTerminationFactor, whole)
		}
	}
	return r
}

// affords reports whether victims that use these amounts may go in the round too. The victims of the first unit always may, if none of an
// earlier round still runs: else a budget smaller than a pod would stop preemption for good.
func (r *round) affords(amounts []int64, alone bool) bool {
	if alone {
		return true
	}
	for i, v := range amounts {
		if v > 0 && resource.SatAdd(r.taken[i], v) > r.most[i] {
			return false
		}
	}
	return true
}

// roundTarget is what one round pays of a claim, as usages: a part of the way from what runs to the target. The first unit is paid even so,
// unless some come already.
func (p *planner) roundTarget(o *activeClaim) []int64 {
	factor := p.w.Settings.NaturalTerminationFactor
	if factor >= whole {
		return o.target
	}
	now := p.usage(o.Queue).Sub(o.Coming)
	from := p.dense(now, 0)
	if o.Kind != BelowGuaranteed {
		_, from = p.bounds(&p.w.Queues[o.Queue], p.w.Total, now)
	}
	out := make([]int64, len(o.target))
	for i, to := range o.target {
		if out[i] = to; to > from[i] {
			out[i] = resource.SatAdd(from[i], resource.PartUp(resource.SatSub(to, from[i]), factor, whole))
		}
	}
	return out
}

// usage is what a queue uses in the picture.
func (p *picture) usage(q int) resource.List {
	entries := make([]resource.Entry, len(p.names))
	for i, n := range p.names {
		entries[i] = resource.Entry{Name: n, Value: p.queues[q].usage[i]}
	}
	return resource.OfSorted(entries)
}

// budgeted reports whether the disruption budgets that cover a pod allow its eviction, besides the evictions that are planned already.
func (p *planner) budgeted(v *pod) bool {
	if !v.asked {
		v.asked, v.budgets = true, p.f.Budgets(v.UID)
		for _, b := range v.budgets {
			for len(p.spent) <= b {
				p.spent = append(p.spent, 0)
			}
		}
	}
	for _, b := range v.budgets {
		if p.spent[b] >= p.f.Allowed(b) {
			return false
		}
	}
	return true
}
