package picture

import (
	"slices"
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// share is what a competitor uses of one resource. The zero share is nothing.
type share struct {
	resource.Entry
	of int64 // the total
}

func (s share) compare(o share) int { return resource.CompareFractions(s.Value, s.of, o.Value, o.of) }

// sharesOf returns what a competitor uses, the largest part of a total first: the order in which ordering.Compare compares them.
func (p *Picture) sharesOf(rule queue.Rule, c ledger.Competitor) (shares []share) {
	total := p.rehearsal.Total()
	for i := range c.Usage.Len() {
		if e := c.Usage.At(i); e.Value > 0 && rule.Counts(e.Name) {
			shares = append(shares, share{e, total.Get(e.Name)})
		}
	}
	slices.SortStableFunc(shares, func(a, b share) int { return b.compare(a) })
	return shares
}

// sharesText says which shares of two siblings decided: the first, from the largest on, that are not equal for their weights.
func (p *Picture) sharesText(rule queue.Rule, a, b ledger.Competitor) string {
	as, bs := p.sharesOf(rule, a), p.sharesOf(rule, b)
	i := 0
	for i+1 < max(len(as), len(bs)) && equalForWeights(nth(as, i), a.Weight, nth(bs, i), b.Weight) {
		i++
	}
	what, per := "it uses less ", "for its weight"
	if a.ByCapacity {
		per = "of its capacity"
	}
	switch what += per + ", "; {
	case i == 0:
	case a.ByCapacity:
		what = "their largest shares are equal parts of their capacities, and its " + ordinal(i+1) + " largest is smaller, "
	default:
		what = "their largest shares are equal for their weights, and its " + ordinal(i+1) + " largest is smaller, "
	}
	is, other := shareText(nth(as, i), false), shareText(nth(bs, i), false)
	if is == other && nth(as, i) != nth(bs, i) && a.Weight == b.Weight { // what decided is not among the digits
		is, other = shareText(nth(as, i), true), shareText(nth(bs, i), true)
	}
	return what + is + " at " + capacityText(a) + " against " + other + " at " + capacityText(b)
}

func nth(shares []share, i int) share {
	if i < len(shares) {
		return shares[i]
	}
	return share{}
}

func ordinal(n int) string {
	switch n {
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return strconv.Itoa(n) + "th"
}

// equalForWeights compares as ordering.Compare does. Weights that are both 0 do not count.
func equalForWeights(a share, aw int64, b share, bw int64) bool {
	if aw <= 0 {
		aw, bw = 1, 1
	}
	switch {
	case a.Value > 0 && a.of <= 0, b.Value > 0 && b.of <= 0: // used, although the cluster has none
		return a.compare(b) == 0
	case a.Value <= 0 || b.Value <= 0:
		return a.Value <= 0 && b.Value <= 0
	}
	u := func(v int64) uint64 { return uint64(v) }
	return resource.CompareProducts3(u(a.Value), u(b.of), u(bw), u(b.Value), u(a.of), u(aw)) == 0
}

// shareText prints a share, rounded to three digits. exact: with the amounts.
func shareText(s share, exact bool) string {
	const million = 1_000_000
	if s.Value <= 0 {
		return "nothing"
	}
	if s.of <= 0 {
		return resource.Format(s.Name, s.Value) + " " + string(s.Name) + ", of which the cluster has none,"
	}
	most := resource.Part(s.Value, million, s.of)
	digits := int64(1000) // one after the decimal point
	for digits > 1 && most < 100*digits {
		digits /= 10
	}
	percent := resource.Decimal((most - most%digits) / 10)
	if digits == 1 && most < 10 {
		percent = "less than 0.001"
	}
	text := percent + "% of the " + string(s.Name)
	if exact {
		text += " (" + resource.Format(s.Name, s.Value) + " of " + resource.Format(s.Name, s.of) + ")"
	}
	return text
}
