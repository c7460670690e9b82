package reservation

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Phase is where an accepted reservation stands.
type Phase uint8

// The phases.
const (
	PhaseAccepted Phase = iota // nothing is reserved yet, or the next period has not begun
	PhaseActive                // between the first step and the last, also in a gap
	PhaseEnded                 // nothing will be reserved any more
)

// Phase returns where the reservation stands.
func (r Reservation) Phase(now int64) Phase {
	first, last := r.firstStep(), r.lastStep()
	if p := r.Definition.Recurrence; p > 0 && now >= last {
		now -= (now - first) / p * p
	}
	switch {
	case now < first, r.Definition.Recurrence > 0 && now >= last:
		return PhaseAccepted
	case now < last:
		return PhaseActive
	}
	return PhaseEnded
}

// At returns what is reserved at an instant.
func (r Reservation) At(now int64) (out resource.List) {
	r.each(now, now+1, func(s Step) { out = s.Amounts })
	return out
}

// Booked returns what all reservations have together, from one instant to another, without the steps that are empty.
func (p Plan) Booked(from, to int64) []Step {
	var all []change
	seen := map[resource.Name]bool{}
	var names []resource.Name
	for _, r := range p.Accepted {
		r.each(from, to, func(s Step) {
			all = s.changes(all)
			for i := range s.Amounts.Len() {
				if n := s.Amounts.At(i).Name; !seen[n] {
					seen[n] = true
					names = append(names, n)
				}
			}
		})
	}
	slices.Sort(names)
	s := sweep(names, all, from)
	var out []Step
	for i, start := range s.starts {
		var entries []resource.Entry
		for j, v := range s.row(i) {
			if v != 0 {
				entries = append(entries, resource.Entry{Name: names[j], Value: v})
			}
		}
		end := to
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		out = appendStep(out, Step{From: start, To: end, Amounts: resource.OfSorted(entries)})
	}
	return out
}

// stepsOf returns what the blocks need together.
func stepsOf(blocks []Block, requests []Request) []Step {
	var all []change
	var cuts []int64
	for _, b := range blocks {
		all = Step{From: b.From, To: b.To, Amounts: times(requests[b.Request].Resources, b.Pods)}.changes(all)
		cuts = append(cuts, b.From, b.To)
	}
	slices.SortFunc(all, byTime)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []Step
	var sum resource.Sum
	for i, at := range cuts[:len(cuts)-1] {
		for ; len(all) > 0 && all[0].at == at; all = all[1:] {
			if all[0].ends {
				sum.Sub(all[0].amounts)
			} else {
				sum.Add(all[0].amounts)
			}
		}
		out = appendStep(out, Step{From: at, To: cuts[i+1], Amounts: sum.List()})
	}
	return out
}

// appendStep adds a step behind the others. Steps that are empty are left out, and equal neighbours are one step.
func appendStep(to []Step, s Step) []Step {
	if s.Amounts.IsZero() || s.From >= s.To {
		return to
	}
	if n := len(to); n > 0 && to[n-1].To == s.From && to[n-1].Amounts.Equal(s.Amounts) {
		to[n-1].To = s.To
		return to
	}
	return append(to, s)
}

func (r Reservation) firstStep() int64 { return r.Steps[0].From }

func (r Reservation) lastStep() int64 { return r.Steps[len(r.Steps)-1].To }

// each visits the steps of all periods between two instants, cut off there.
func (r Reservation) each(from, to int64, visit func(Step)) {
	for _, s := range r.Steps {
		period := r.Definition.Recurrence
		if period > 0 && s.To <= from {
			later := (from - s.To) / period * period // s.To+later <= from
			s.From, s.To = s.From+later, s.To+later
		}
		for s.From < to {
			if s.To > from {
				visit(Step{From: max(s.From, from), To: min(s.To, to), Amounts: s.Amounts})
			}
			if period == 0 {
				break
			}
			s.From, s.To = s.From+period, s.To+period
		}
	}
}

// change is one end of a step.
type change struct {
	at      int64
	ends    bool
	amounts resource.List
}

func (s Step) changes(to []change) []change {
	return append(to, change{s.From, false, s.Amounts}, change{s.To, true, s.Amounts})
}

func byTime(a, b change) int { return cmp.Compare(a.at, b.at) }

// table has the amounts of some resources over time: a row from each start to the next.
type table struct {
	names  []resource.Name
	starts []int64 // in order
	values []int64 // row by row
}

func (t *table) row(i int) []int64 { return t.values[i*len(t.names) : (i+1)*len(t.names)] }

// at returns the row of an instant, the first one for what comes before.
func (t *table) at(instant int64) int {
	i, exact := slices.BinarySearch(t.starts, instant)
	if exact || i == 0 {
		return i
	}
	return i - 1
}

// split makes a row begin at this instant, and returns it.
func (t *table) split(instant int64) int {
	i, exact := slices.BinarySearch(t.starts, instant)
	if !exact {
		n := len(t.names)
		t.starts = slices.Insert(t.starts, i, instant)
		t.values = slices.Insert(t.values, i*n, t.values[(i-1)*n:i*n]...)
	}
	return i
}

// sweep sums the changes up, from an instant on that none of them precedes. It sorts them.
func sweep(names []resource.Name, changes []change, from int64) table {
	slices.SortFunc(changes, byTime)
	t := table{names: names, starts: append(make([]int64, 0, len(changes)+1), from)}
	t.values = append(make([]int64, 0, (len(changes)+1)*len(names)), make([]int64, len(names))...)
	sums := make([]int64, len(names))
	for len(changes) > 0 {
		at := changes[0].at
		for ; len(changes) > 0 && changes[0].at == at; changes = changes[1:] {
			c := &changes[0]
			for i, n := range names {
				if v := c.amounts.Get(n); c.ends {
					sums[i] -= v
				} else {
					sums[i] += v
				}
			}
		}
		if at == from {
			copy(t.values, sums)
			continue
		}
		t.starts = append(t.starts, at)
		t.values = append(t.values, sums...)
	}
	return t
}
