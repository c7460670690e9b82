package reservation

import (
	"math/bits"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// average refuses a reservation with which its user would have more, on average over some window, than the policy allows. Only windows that the
// reservation is in count, and only the resources that it has there. The refusal names the window with the most.
func (p Plan) average(r Reservation) Refusal {
	window := p.Policy.Window
	from, to := r.firstStep(), r.lastStep()
	if r.Definition.Recurrence > 0 { // from the last change on, everything repeats itself
		to = max(to, p.lastChange()) + p.Policy.Period
	}
	var own, all []change
	r.each(from, to+window, func(s Step) { own = s.changes(own) })
	for _, o := range p.Accepted {
		if o.User == r.User {
			o.each(from-window, to+window, func(s Step) { all = s.changes(all) })
		}
	}
	for _, s := range p.Past {
		if s.User == r.User && s.To > from-window {
			all = Step{From: max(s.From, from-window), To: s.To, Amounts: s.Amounts}.changes(all)
		}
	}
	var names []resource.Name
	for i := range p.Capacity.Len() {
		names = append(names, p.Capacity.At(i).Name)
	}
	all = append(all, own...)
	ownSum, allSum := integrate(sweep(names, own, from-window)), integrate(sweep(names, all, from-window))
	var worst wide
	var refusal Refusal
	for _, at := range windows(own, all, window, from, to) {
		for i, n := range names {
			if ownSum.between(i, at, at+window) == (wide{}) {
				continue
			}
			sum, most := allSum.between(i, at, at+window), p.Capacity.At(i).Value
			if sum.times(uint64(queue.Whole)).compare(product(max(most, 0), p.Policy.AverageShare).times(uint64(window))) <= 0 {
				continue
			}
			if refusal.Code == "" || refusal.Resource == n && sum.compare(worst) > 0 {
				worst = sum
				refusal = Refusal{
					Code: AverageExceeded, Field: "requests", User: r.User, Resource: n, From: at, To: at + window,
					Asked: sum.dividedUp(uint64(window)), Limit: resource.Part(most, p.Policy.AverageShare, queue.Whole),
				}
			}
		}
	}
	return refusal
}

// windows returns, in order, where windows begin in which the average may be the largest. Between two of these instants it changes linearly: they are where
// a window begins or ends as a step does, and the first and the last of those that a step of its own is in.
func windows(own, all []change, window, from, to int64) []int64 {
	starts := make([]int64, 0, 2*len(all)+len(own))
	for _, c := range all {
		starts = append(starts, c.at, c.at-window)
	}
	for _, c := range own {
		if c.ends {
			starts = append(starts, c.at-1)
		} else {
			starts = append(starts, c.at-window+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	return slices.DeleteFunc(starts, func(at int64) bool { return at <= from-window || at >= to })
}

// integral is a table with the sums of each column over time, up to each row.
type integral struct {
	table
	upTo []wide
	near [2]int // rows: what is asked for next is mostly a little later
}

func integrate(t table) *integral {
	n := len(t.names)
	s := &integral{table: t, upTo: make([]wide, len(t.values))}
	for i := 1; i < len(t.starts); i++ {
		for j, v := range t.row(i - 1) {
			s.upTo[i*n+j] = s.upTo[(i-1)*n+j].add(product(v, t.starts[i]-t.starts[i-1]))
		}
	}
	return s
}

// between returns the sum of a column from one instant to another. Instants grow from call to call.
func (s *integral) between(column int, from, to int64) wide {
	return s.until(column, to, 1).sub(s.until(column, from, 0))
}

func (s *integral) until(column int, at int64, hint int) wide {
	i := s.near[hint]
	for i+1 < len(s.starts) && s.starts[i+1] <= at {
		i++
	}
	s.near[hint] = i
	n := i*len(s.names) + column
	return s.upTo[n].add(product(s.values[n], max(at-s.starts[i], 0)))
}

// wide is an unsigned number of 128 bits: an amount times a duration times a share.
type wide struct{ hi, lo uint64 }

func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

func (w wide) add(o wide) wide {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	return wide{w.hi + o.hi + carry, lo}
}

func (w wide) sub(o wide) wide {
	lo, borrow := bits.Sub64(w.lo, o.lo, 0)
	return wide{w.hi - o.hi - borrow, lo}
}

// times multiplies by a number so small that the product has 128 bits.
func (w wide) times(n uint64) wide {
	hi, lo := bits.Mul64(w.lo, n)
	return wide{w.hi*n + hi, lo}
}

func (w wide) compare(o wide) int {
	switch {
	case w == o:
		return 0
	case w.hi < o.hi, w.hi == o.hi && w.lo < o.lo:
		return -1
	}
	return 1
}

// dividedUp is the quotient rounded up, which fits an amount.
func (w wide) dividedUp(n uint64) int64 {
	q, rest := bits.Div64(w.hi%n, w.lo, n)
	if rest > 0 {
		q++
	}
	return int64(q)
}
