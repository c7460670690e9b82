package reservation

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Policy is how much of a queue may be reserved. Shares are in thousandths of a percent of the queue's capacity.
type Policy struct {
	InstantaneousShare int64 // of all reservations together, at every instant
	AverageShare       int64 // of one user, on average over any Window
	Window             int64
	EnforcementWindow  int64 // how far ahead reservations go when the capacity has become too small
	Period             int64 // what every recurrence divides
	Horizon            int64 // how far ahead a deadline may be
}

const (
	hour = 3600
	day  = 24 * hour
)

// DefaultPolicy limits nothing but the sum of all reservations, to the whole queue.
func DefaultPolicy() Policy {
	return Policy{
		InstantaneousShare: queue.Whole, AverageShare: queue.Whole, Window: day, EnforcementWindow: hour, Period: 7 * day, Horizon: 90 * day,
	}
}

// Plan is what is reserved in one queue. It is a value that nothing changes.
type Plan struct {
	Capacity resource.List // what the queue is entitled to; an absent resource is 0
	Policy   Policy
	Accepted []Reservation // the first accepted first
	Past     []Past        // what counts only in averages: it was reserved, and has ended or was given back
}

// Reservation is a definition with its place in the plan.
type Reservation struct {
	Name, User string
	Definition Definition
	Steps      []Step // in order; of the first period, if it recurs
}

// Step is an amount that is reserved from one instant to another.
type Step struct {
	From, To int64
	Amounts  resource.List
}

// Past is what a user had reserved before now.
type Past struct {
	User string
	Step
}

// Block is where pods of a request are placed, in whole gangs: all of them run from one instant to the other.
type Block struct {
	Request  int // its index
	Pods     int64
	From, To int64
}

// Outcome is what became of a definition.
type Outcome uint8

// The outcomes.
const (
	Rejected  Outcome = iota // it is not in the plan
	Kept                     // it does not fit; what was accepted for this object before stays in force
	Accepted                 // it is in the plan
	Updated                  // it is in the plan, in place of what was accepted for this object before
	Unchanged                // it was in the plan already
)

// Verdict is the answer to a definition.
type Verdict struct {
	Outcome     Outcome
	Reservation Reservation // what is in force for the object now; the zero one, if nothing is
	Blocks      []Block     // where it was placed, if it was placed now
	Refusal     Refusal     // why it was not, if it was not
}

// Submit asks for a reservation. Something else under the name of an accepted one is an update of it.
func (p Plan) Submit(now int64, name, user string, d Definition) (Plan, Verdict) {
	before, known := p.find(name)
	if known && p.Accepted[before].Definition.Equal(d) {
		return p, Verdict{Outcome: Unchanged, Reservation: p.Accepted[before]}
	}
	without := p.Cancel(now, name)
	r := Reservation{Name: name, User: user, Definition: d}
	blocks, refusal := without.put(now, &r)
	switch {
	case refusal.Code == "":
		without.Accepted = append(slices.Clip(without.Accepted), r)
		v := Verdict{Outcome: Accepted, Reservation: r, Blocks: blocks}
		if known {
			v.Outcome = Updated
		}
		return without, v
	case known:
		return p, Verdict{Outcome: Kept, Reservation: p.Accepted[before], Refusal: refusal}
	}
	return p, Verdict{Outcome: Rejected, Refusal: refusal}
}

// Cancel gives back what is reserved under the name from now on. What was before now still counts in the averages of its user.
func (p Plan) Cancel(now int64, name string) Plan {
	i, ok := p.find(name)
	if !ok {
		return p
	}
	p.Past = append(slices.Clip(p.Past), p.Accepted[i].before(now, p.Policy.Window)...)
	p.Accepted = slices.Delete(slices.Clone(p.Accepted), i, i+1)
	return p
}

// Advance takes out what has ended, and forgets what no average counts any more.
func (p Plan) Advance(now int64) Plan {
	var on []Reservation
	past := slices.Clone(p.Past)
	for _, r := range p.Accepted {
		if r.Phase(now) == PhaseEnded {
			past = append(past, r.before(now, p.Policy.Window)...)
		} else {
			on = append(on, r)
		}
	}
	p.Accepted = on
	p.Past = slices.DeleteFunc(past, func(s Past) bool { return s.To <= now-p.Policy.Window })
	return p
}

// before is what the reservation had, as far as averages count it.
func (r Reservation) before(now, window int64) (past []Past) {
	r.each(now-window, now, func(s Step) { past = append(past, Past{User: r.User, Step: s}) })
	return past
}

func (p Plan) find(name string) (int, bool) {
	i := slices.IndexFunc(p.Accepted, func(r Reservation) bool { return r.Name == name })
	return i, i >= 0
}

// limit is what all reservations together may have at an instant.
func (p Plan) limit() resource.List {
	entries := make([]resource.Entry, p.Capacity.Len())
	for i := range entries {
		e := p.Capacity.At(i)
		entries[i] = resource.Entry{Name: e.Name, Value: resource.Part(e.Value, p.Policy.InstantaneousShare, queue.Whole)}
	}
	return resource.OfSorted(entries)
}

// lastChange is the instant from which on the plan repeats itself.
func (p Plan) lastChange() (at int64) {
	for _, r := range p.Accepted {
		at = max(at, r.lastStep())
	}
	return at
}
