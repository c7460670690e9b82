package reservation

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Guarantee is what a reservation is to be guaranteed at a moment.
type Guarantee struct {
	Name    string
	Amounts resource.List // none in a gap, until it is time to make room for the next step
}

// Guarantees returns what each reservation is to be guaranteed now, in the order in which they were accepted: what it has now and, where that is more, what it
// is about to have within the lead time, so that room is made for it before. It gets that early only as far as no other has it until then, or gets it early
// since it begins sooner: the room of one is never made at the cost of another. What has nothing now and is not about to is left out, unless it is in a gap.
func (p Plan) Guarantees(now, lead int64) []Guarantee {
	var near []upcoming
	for i := range p.Accepted {
		r := &p.Accepted[i]
		u := upcoming{Reservation: r, guaranteed: r.At(now), soon: r.most(now, resource.SatAdd(now, lead+1)), from: now}
		if u.soon.IsZero() && r.Phase(now) != PhaseActive {
			continue
		}
		if !u.soon.Fits(u.guaranteed) {
			u.from = r.firstAbove(u.guaranteed, now)
		}
		near = append(near, u)
	}
	bySoonest := make([]int, len(near))
	for i := range near {
		bySoonest[i] = i
	}
	slices.SortStableFunc(bySoonest, func(a, b int) int { return cmp.Compare(near[a].from, near[b].from) })
	for _, i := range bySoonest {
		if u := &near[i]; u.from > now {
			free := p.Capacity.Sub(peakBeside(near, i, now))
			u.guaranteed = u.guaranteed.Max(largestPart(u.soon, free))
		}
	}
	out := make([]Guarantee, len(near))
	for i := range near {
		out[i] = Guarantee{near[i].Name, near[i].guaranteed}
	}
	return out
}

// upcoming is a reservation that has something within the lead time.
type upcoming struct {
	*Reservation
	guaranteed, soon resource.List
	from             int64 // when it has more than now; now: not before the lead time is over
}

// peakBeside is the most that the others have or are guaranteed, from now until one of them begins to have more.
func peakBeside(near []upcoming, one int, now int64) (peak resource.List) {
	instants := []int64{now}
	for i := range near {
		near[i].each(now, near[one].from, func(s Step) { instants = append(instants, s.From) })
	}
	slices.Sort(instants)
	for _, at := range slices.Compact(instants) {
		var all resource.List
		for i := range near {
			switch u := &near[i]; {
			case i == one:
			case u.from > now && at < u.from: // it may have room already
				all = all.Add(u.guaranteed)
			default:
				all = all.Add(u.At(at))
			}
		}
		peak = peak.Max(all)
	}
	return peak
}

// firstAbove is the first instant after now at which the reservation has more of something than so much.
func (r Reservation) firstAbove(amounts resource.List, now int64) int64 {
	first := int64(math.MaxInt64)
	r.each(now, max(r.lastStep(), now)+r.Definition.Recurrence+1, func(s Step) {
		if !s.Amounts.Fits(amounts) {
			first = min(first, s.From)
		}
	})
	return first
}

// most is the most that the reservation has at any instant of a time, of each resource for itself.
func (r Reservation) most(from, to int64) (out resource.List) {
	r.each(from, to, func(s Step) { out = out.Max(s.Amounts) })
	return out
}

// NextChange returns the next instant after now at which Guarantees or a phase may be another; math.MaxInt64: never.
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
