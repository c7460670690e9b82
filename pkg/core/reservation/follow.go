package reservation

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Grant is what a reservation is to be guaranteed at a moment.
type Grant struct {
	Name    string
	Amounts resource.List // none in a gap, before room can be made for the next step
}

// Grants returns what each reservation is to be guaranteed now, in the order in which they were accepted. Besides what it has now, that is what it is about to
// have within the lead time, so that room is made for it before, as far as the capacity has it besides what all have now. Those that have nothing now and
// are not about to are left out, unless they are in a gap.
func (p Plan) Grants(now, lead int64) []Grant {
	var out []Grant
	var ahead []resource.List
	free := p.Capacity
	for _, r := range p.Accepted {
		has, soon := r.At(now), r.most(now, resource.SatAdd(now, lead+1))
		if soon.IsZero() && r.Phase(now) != PhaseActive {
			continue
		}
		out, ahead = append(out, Grant{r.Name, has}), append(ahead, soon)
		free = free.Sub(has)
	}
	for i := range out {
		g := &out[i]
		var more []resource.Entry
		for j := range ahead[i].Len() {
			e := ahead[i].At(j)
			e.Value = min(resource.SatSub(e.Value, g.Amounts.Get(e.Name)), max(free.Get(e.Name), 0))
			if e.Value > 0 {
				more = append(more, e)
			}
		}
		extra := resource.OfSorted(more)
		g.Amounts, free = g.Amounts.Add(extra), free.Sub(extra)
	}
	return out
}

// most is the most that the reservation has at any instant of a time, of each resource for itself.
func (r Reservation) most(from, to int64) (out resource.List) {
	r.each(from, to, func(s Step) { out = out.Max(s.Amounts) })
	return out
}

// NextChange returns the next instant after now at which Grants or a phase may be another; math.MaxInt64: never.
func (p Plan) NextChange(now, lead int64) int64 {
	next := int64(math.MaxInt64)
	soonest := func(at int64) {
		if at > now {
			next = min(next, at)
		}
	}
	for _, r := range p.Accepted {
		to := max(r.lastStep(), resource.SatAdd(now, lead)) + r.Definition.Recurrence + 1
		r.each(now, to, func(s Step) {
			soonest(s.From - lead)
			soonest(s.From)
			soonest(s.To)
			soonest(s.To - lead)
		})
	}
	return next
}

// Start returns when the allocation begins: that of the present period or, if that is over or there is none, the next one; of what has ended, the last one.
func (r Reservation) Start(now int64) int64 {
	first, last, period := r.firstStep(), r.lastStep(), r.Definition.Recurrence
	if period == 0 || now < last {
		return first
	}
	return first + (now-last+period)/period*period
}

// End returns when the allocation that Start tells of ends.
func (r Reservation) End(now int64) int64 { return r.Start(now) + r.lastStep() - r.firstStep() }

// Until is how far a look at the plan reaches: to the last change, and at least over a whole period.
func (p Plan) Until(now int64) int64 { return max(p.lastChange(), now+p.Policy.Period) }

// Restored returns a plan with what its objects say: the accepted reservations in the order in which they were accepted, and what counts only in averages.
// What has no steps is left out.
func (p Plan) Restored(accepted []Reservation, past []Past) Plan {
	p.Accepted, p.Past = nil, past
	for _, r := range accepted {
		if len(r.Steps) > 0 {
			p.Accepted = append(p.Accepted, r)
		}
	}
	return p
}

// Had is what a reservation had before now, as far as averages over the window of the policy count it.
func (p Plan) Had(r Reservation, now int64) []Past { return r.before(now, p.Policy.Window) }
