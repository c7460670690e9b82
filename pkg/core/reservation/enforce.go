package reservation

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Dropped is a reservation that went because the capacity has become too small.
type Dropped struct {
	Reservation   Reservation
	At            int64 // the first instant at which it is in the way
	Resource      resource.Name
	Limit, Booked int64 // what may be reserved then, and what is
}

// Enforce drops reservations until, within the enforcement window, there are no more than the capacity allows: at each instant with too many, the last
// accepted of those that have some of what is lacking.
func (p Plan) Enforce(now int64) (Plan, []Dropped) {
	e := enforcement{plan: p, gone: make([]bool, len(p.Accepted)), limit: p.limit()}
	e.read(now)
	var dropped []Dropped
	for i := 0; i < len(e.ends); {
		at := e.ends[i].at
		for ; i < len(e.ends) && e.ends[i].at == at; i++ {
			e.move(e.ends[i])
		}
		for {
			d, found := e.lastInTheWay()
			if !found {
				break
			}
			d.At = at
			dropped = append(dropped, d)
		}
	}
	if len(dropped) == 0 {
		return p, nil
	}
	p.Past = slices.Clip(p.Past)
	var kept []Reservation
	for i, r := range p.Accepted {
		if e.gone[i] {
			p.Past = append(p.Past, r.before(now, p.Policy.Window)...)
		} else {
			kept = append(kept, r)
		}
	}
	p.Accepted = kept
	return p, dropped
}

// enforcement walks through a plan in time.
type enforcement struct {
	plan  Plan
	limit resource.List
	ends  []end
	sum   resource.Sum
	has   []resource.Sum // of each reservation, at the instant
	gone  []bool
}

// end is one end of a step of a reservation.
type end struct {
	change
	reservation int
}

func (e *enforcement) read(now int64) {
	e.has = make([]resource.Sum, len(e.plan.Accepted))
	for i, r := range e.plan.Accepted {
		r.each(now, now+e.plan.Policy.EnforcementWindow, func(s Step) {
			e.ends = append(e.ends, end{change{s.From, false, s.Amounts}, i}, end{change{s.To, true, s.Amounts}, i})
		})
	}
	slices.SortFunc(e.ends, func(a, b end) int { return byTime(a.change, b.change) })
}

func (e *enforcement) move(at end) {
	switch {
	case e.gone[at.reservation]:
	case at.ends:
		e.sum.Sub(at.amounts)
		e.has[at.reservation].Sub(at.amounts)
	default:
		e.sum.Add(at.amounts)
		e.has[at.reservation].Add(at.amounts)
	}
}

// lastInTheWay takes out the reservation that goes first, if more is reserved than may be.
func (e *enforcement) lastInTheWay() (Dropped, bool) {
	for i := range e.sum.Len() {
		over := e.sum.At(i)
		if over.Value <= max(e.limit.Get(over.Name), 0) {
			continue
		}
		for r := len(e.has) - 1; r >= 0; r-- {
			if e.has[r].Get(over.Name) > 0 {
				e.gone[r] = true
				e.sum.SubSum(&e.has[r])
				e.has[r].Reset()
				return Dropped{
					Reservation: e.plan.Accepted[r], Resource: over.Name, Limit: e.limit.Get(over.Name), Booked: over.Value,
				}, true
			}
		}
	}
	return Dropped{}, false
}
