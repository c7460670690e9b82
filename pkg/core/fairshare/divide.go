// Package fairshare computes what each queue is entitled to.
//
// Input is an amount, or a tree of queues with their weights, guarantees and maxima and which of them are
// active; output is a share for each. Steady shares count every queue, instantaneous shares (the "fair share"
// for short) only active ones; that is the only difference. Demand and usage play no part: other queues may
// use a share while its queue does not ask for it.
//
// The package must not round up (the shares of a level never sum to more than was divided, unless the
// guarantees alone do), must not use floats, and keeps no state.
package fairshare

import (
	"math/bits"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Claimant is one party among whom an amount is divided.
type Claimant struct {
	Weight int64 // milli; only the proportion matters
	Min    int64 // floor; it holds even if the floors together exceed the total
	Max    int64 // cap; Unlimited for none. If Min is larger, Min counts
	Active bool
}

// Divide writes the share of each claimant into out (grown if needed) and returns it.
//
// There is a level R so that each claimant's share is weight x R, but at least its min and at most its max,
// and the shares sum to the total (YARN's ComputeFairShares). YARN doubles and bisects R in floats and rounds
// up. Here R is an exact fraction, found by walking the levels at which a claimant leaves its min or meets its
// max, and shares are rounded down.
//
// Claimants whose share does not depend on R are taken out first: those with max 0 or inactive (share 0, even
// with a min), then those with weight 0 (share is the min, subtracted from the total).
func Divide(total int64, cs []Claimant, out []int64) []int64 {
	out = slices.Grow(out[:0], len(cs))[:len(cs)]
	left := max(total, 0)
	var floors int64
	for i, c := range cs {
		out[i] = 0
		switch {
		case !takesPart(c):
		case c.Weight <= 0:
			out[i] = c.floor()
			left = max(resource.SatSub(left, out[i]), 0)
		default:
			out[i] = c.floor()
			floors = resource.SatAdd(floors, out[i])
		}
	}
	if floors >= left {
		return out // the floors alone are too much: R is 0
	}
	r, found := byWeight(left, cs)
	if !found {
		r, found = findLevel(left, floors, cs)
	}
	for i, c := range cs {
		switch {
		case !takesPart(c) || c.Weight <= 0:
		case !found:
			out[i] = c.ceiling() // each gets its max; the rest is left over
		default:
			out[i] = min(max(r.times(cappedWeight(c.Weight, len(cs))), c.floor()), c.ceiling())
		}
	}
	return out
}

func takesPart(c Claimant) bool { return c.Active && c.ceiling() > 0 }

func (c Claimant) floor() int64 { return max(c.Min, 0) }

func (c Claimant) ceiling() int64 { return max(c.Max, c.floor()) }

// cappedWeight keeps the sum of n weights within int64, so that every product below fits into 128 bits. It
// changes no weight below 9 x 10^15 / n.
func cappedWeight(w int64, n int) int64 { return min(w, resource.Unlimited/int64(n)) }

// breakpoint is a level at which a claimant's share stops or starts to grow: the
// level is at/weight.
type breakpoint struct {
	at, weight uint64
	meetsMax   bool // otherwise it leaves its min
}

func breakpoints(cs []Claimant) []breakpoint {
	out := make([]breakpoint, 0, 2*len(cs))
	for _, c := range cs {
		if !takesPart(c) || c.Weight <= 0 {
			continue
		}
		w := uint64(cappedWeight(c.Weight, len(cs)))
		out = append(out,
			breakpoint{at: uint64(c.floor()), weight: w},
			breakpoint{at: uint64(c.ceiling()), weight: w, meetsMax: true})
	}
	// A claimant with min = max leaves one and meets the other at the same level;
	// leaving first keeps the slope from going below zero.
	slices.SortFunc(out, func(a, b breakpoint) int {
		if c := compareProducts(a.at, b.weight, b.at, a.weight); c != 0 {
			return c
		}
		return order(a.meetsMax) - order(b.meetsMax)
	})
	return out
}

func order(meetsMax bool) int {
	if meetsMax {
		return 1
	}
	return 0
}

// level is the exact fraction R.
type level struct{ num, den uint64 }

// times is weight x R rounded down, saturated.
func (l level) times(weight int64) int64 {
	hi, lo := bits.Mul64(uint64(weight), l.num)
	if hi >= l.den {
		return resource.Unlimited
	}
	q, _ := bits.Div64(hi, lo, l.den)
	return int64(min(q, uint64(resource.Unlimited)))
}

// byWeight returns the R at which the weights alone divide the total. It returns false if such a share is
// below some floor or above some cap. This is the usual case, and it needs no sorting.
func byWeight(total int64, cs []Claimant) (level, bool) {
	r := level{num: uint64(total)}
	for _, c := range cs {
		if takesPart(c) && c.Weight > 0 {
			r.den += uint64(cappedWeight(c.Weight, len(cs)))
		}
	}
	for _, c := range cs {
		if !takesPart(c) || c.Weight <= 0 {
			continue
		}
		// floor <= weight x total/den <= ceiling, without rounding.
		w := uint64(cappedWeight(c.Weight, len(cs)))
		if compareProducts(uint64(c.floor()), r.den, w, r.num) > 0 || compareProducts(w, r.num, uint64(c.ceiling()), r.den) > 0 {
			return level{}, false
		}
	}
	return r, r.den > 0
}

// findLevel returns the R at which the shares sum to total, and false if they stay below it even with every
// claimant at its max. floors is their sum at R = 0, and less than total.
//
// Between two breakpoints the sum is constant + slope x R. It never decreases, so the first breakpoint at
// which it reaches the total ends the search.
func findLevel(total, floors int64, cs []Claimant) (level, bool) {
	constant, slope := uint64(floors), uint64(0)
	for _, b := range breakpoints(cs) {
		missing := uint64(total) - constant // constant <= sum < total
		// slope x at/weight >= missing: the sum reaches the total no later than here.
		if slope > 0 && compareProducts(slope, b.at, missing, b.weight) >= 0 {
			return level{num: missing, den: slope}, true
		}
		if b.meetsMax {
			slope -= b.weight
			constant += b.at
		} else {
			slope += b.weight
			constant -= b.at
		}
	}
	return level{}, false
}

func compareProducts(a1, a2, b1, b2 uint64) int {
	return resource.CompareProducts3(a1, a2, 1, b1, b2, 1)
}
