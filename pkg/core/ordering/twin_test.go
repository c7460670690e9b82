package ordering_test

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// The twin computes every ratio as a big.Rat, following the words of the rule. nil is infinite.
func twin(p queue.Policy, a, b standing, total resource.List) (int, ordering.Criterion) {
	if p != fifo {
		an, ar := part(a)
		bn, br := part(b)
		switch {
		case an && !bn:
			return -1, ordering.CriterionGuarantee
		case bn && !an:
			return 1, ordering.CriterionGuarantee
		case an && bn && ar.Cmp(br) != 0:
			return ar.Cmp(br), ordering.CriterionGuarantee
		}
		if (a.Weight <= 0) != (b.Weight <= 0) {
			by := ordering.CriterionWeight
			if a.ByCapacity {
				by = ordering.CriterionCapacity
			}
			return cmp.Compare(max(b.Weight, 0), max(a.Weight, 0)), by
		}
		x, y := weighted(p, a, total), weighted(p, b, total)
		for len(x) < len(y) {
			x = append(x, new(big.Rat))
		}
		for len(y) < len(x) {
			y = append(y, new(big.Rat))
		}
		for i := range x {
			if c := compareRats(x[i], y[i]); c != 0 {
				return c, ordering.CriterionShare
			}
		}
		if a.ByCapacity && b.ByCapacity && a.Weight != b.Weight && max(a.Weight, b.Weight) > 0 {
			return cmp.Compare(b.Weight, a.Weight), ordering.CriterionCapacity
		}
	}
	if a.Priority != b.Priority {
		return cmp.Compare(b.Priority, a.Priority), ordering.CriterionPriority
	}
	if a.Submitted != b.Submitted {
		return cmp.Compare(a.Submitted, b.Submitted), ordering.CriterionSubmitted
	}
	return slices.Compare(strings.Split(a.Name, "."), strings.Split(b.Name, ".")), ordering.CriterionName
}

func compareRats(x, y *big.Rat) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	return x.Cmp(y)
}

// part says whether a standing is below its guarantee, and which part it has of what it is owed.
func part(s standing) (bool, *big.Rat) {
	if s.below.Owed == 0 {
		return false, nil
	}
	return true, big.NewRat(s.below.Used, s.below.Owed)
}

func weighted(p queue.Policy, s standing, total resource.List) []*big.Rat {
	out := shares(p, s.Usage.List(), total)
	for _, r := range out {
		if r != nil && s.Weight > 0 {
			r.Quo(r, big.NewRat(s.Weight, 1))
		}
	}
	slices.SortFunc(out, func(x, y *big.Rat) int { return compareRats(y, x) })
	return out
}

// shares are an amount's shares of the total, one for each resource of either.
func shares(p queue.Policy, amount, total resource.List) []*big.Rat {
	var out []*big.Rat
	both := amount.Max(total)
	for i := range both.Len() {
		n := both.At(i).Name
		v := max(amount.Get(n), 0)
		switch {
		case p == fair && n != resource.Memory:
		case v == 0:
			out = append(out, new(big.Rat))
		case total.Get(n) <= 0:
			out = append(out, nil)
		default:
			out = append(out, big.NewRat(v, total.Get(n)))
		}
	}
	return out
}

// lists draws from few small amounts, so that equal shares come up, and from huge
// ones, so that products need all their bits.
func lists() *rapid.Generator[resource.List] {
	amount := rapid.OneOf(
		rapid.Int64Range(0, 4),
		rapid.SampledFrom([]int64{1 << 40, 1 << 60, 1<<60 + 1, math.MaxInt64 - 1, math.MaxInt64}))
	return rapid.Custom(func(t *rapid.T) resource.List {
		var out []resource.Entry
		for _, n := range []resource.Name{resource.CPU, resource.Memory, "nvidia.com/gpu"} {
			if rapid.IntRange(0, 3).Draw(t, "has it unless 0") > 0 {
				out = append(out, resource.Entry{Name: n, Value: amount.Draw(t, string(n))})
			}
		}
		return resource.Of(out...)
	})
}

// ordinal is the path order of the names that are drawn.
var ordinal = map[string]int{"root.a": 1, "root.a.b": 2, "root.a-b": 3, "root.b": 4}

func standings() *rapid.Generator[standing] {
	return rapid.Custom(func(t *rapid.T) standing {
		s := standing{Standing: ordering.Standing{
			Usage:     sum(lists().Draw(t, "usage")),
			Weight:    rapid.SampledFrom([]int64{-1, 0, 1, 1000, 3000, math.MaxInt64}).Draw(t, "weight"),
			Priority:  rapid.SampledFrom([]int32{0, 1, math.MinInt32, math.MaxInt32}).Draw(t, "priority"),
			Submitted: rapid.SampledFrom([]int64{0, 1, 1 << 31, math.MinInt64, math.MaxInt64}).Draw(t, "submitted"),
			Name:      rapid.SampledFrom([]string{"root.a", "root.a.b", "root.a-b", "root.b"}).Draw(t, "name"),
		}}
		amount := rapid.SampledFrom([]int64{1, 2, 3, 4, 1 << 40, 1<<60 + 1, 1<<60 + 2, math.MaxInt64 - 1, math.MaxInt64})
		if owed := amount.Draw(t, "owed"); rapid.Bool().Draw(t, "is below its guarantee") {
			s.below = guarantee.Part{Resource: resource.CPU, Used: min(amount.Draw(t, "has of it")-1, owed-1), Owed: owed}
		}
		return s
	})
}

// compete are the keys with which siblings compete: under FIFO no guarantee counts.
func compete(p queue.Policy, s standing, total resource.List) *ordering.Key {
	var k, below ordering.Key
	k.Set(queue.Spec{Policy: p}.Rule(), s.Standing, total)
	if p == fifo || !s.below.Below() {
		return &k
	}
	below.SetBelow(&k, s.below)
	return &below
}

func policies() *rapid.Generator[queue.Policy] {
	return rapid.SampledFrom([]queue.Policy{drf, drf, fair, fifo})
}

func TestCompareEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, total := policies().Draw(t, "policy"), lists().Draw(t, "total")
		a, b := standings().Draw(t, "a"), standings().Draw(t, "b")
		if rapid.Bool().Draw(t, "are queues") {
			for _, s := range []*standing{&a, &b} {
				s.Ordinal, s.Priority, s.Submitted = ordinal[s.Name], 0, 0
			}
			if rapid.Bool().Draw(t, "share by capacity") {
				capacity := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 33_330, 50_000}), rapid.Int64Range(0, queue.Whole))
				for _, s := range []*standing{&a, &b} {
					s.ByCapacity, s.Weight = true, capacity.Draw(t, "capacity")
				}
			}
		}
		x, y := compete(p, a, total), compete(p, b, total)
		got, by := ordering.Compare(p, x, y)
		want, wantBy := twin(p, a, b, total)
		if sign(got) != sign(want) || by != wantBy {
			t.Fatalf("got %d by %s, the twin %d by %s", got, by, want, wantBy)
		}
		if rx, ry := x.Rank(), y.Rank(); rx.Before(ry) && want >= 0 || ry.Before(rx) && want <= 0 {
			t.Fatalf("ranks %v and %v, the twin says %d", rx, ry, want)
		}
	})
}

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, total := policies().Draw(t, "policy"), lists().Draw(t, "total")
		var keys [3]*ordering.Key
		var names [3]string
		for i := range keys {
			s := standings().Draw(t, "standing")
			keys[i] = compete(p, s, total)
			names[i] = s.Name
		}
		compare := func(i, j int) int {
			c, _ := ordering.Compare(p, keys[i], keys[j])
			return sign(c)
		}
		for i := range keys {
			for j := range keys {
				if compare(i, j) != -compare(j, i) {
					t.Fatalf("%d and %d each come first", i, j)
				}
				if compare(i, j) == 0 && names[i] != names[j] {
					t.Fatalf("two different siblings are equal: %s, %s", names[i], names[j])
				}
				for k := range keys {
					if compare(i, j) <= 0 && compare(j, k) <= 0 && compare(i, k) > 0 {
						t.Fatalf("%d <= %d <= %d, but not %d <= %d", i, j, k, i, k)
					}
				}
			}
		}
	})
}

func sign(c int) int { return cmp.Compare(c, 0) }
