package fairshare_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func smallClaimants() *rapid.Generator[fairshare.Claimant] {
	return rapid.Custom(func(t *rapid.T) fairshare.Claimant {
		return fairshare.Claimant{
			Weight: rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 2, 1000}), rapid.Int64Range(-1, 12)).Draw(t, "weight"),
			Min:    rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-2, 25)).Draw(t, "min"),
			Max:    rapid.OneOf(rapid.Just(unlimited), rapid.Int64Range(-2, 40)).Draw(t, "max"),
			Active: rapid.IntRange(0, 4).Draw(t, "active unless 0") > 0,
		}
	})
}

func largeClaimants() *rapid.Generator[fairshare.Claimant] {
	amount := rapid.OneOf(
		rapid.SampledFrom([]int64{0, 1, 1 << 40, 1 << 60, 1 << 62, unlimited - 1, unlimited}),
		rapid.Int64Range(0, 1<<61), rapid.Int64())
	return rapid.Custom(func(t *rapid.T) fairshare.Claimant {
		return fairshare.Claimant{
			Weight: rapid.OneOf(rapid.Int64Range(0, 10_000), rapid.Int64Range(0, 1<<58)).Draw(t, "weight"),
			Min:    rapid.OneOf(rapid.Just(int64(0)), amount).Draw(t, "min"),
			Max:    rapid.OneOf(rapid.Just(unlimited), amount).Draw(t, "max"),
			Active: rapid.IntRange(0, 4).Draw(t, "active unless 0") > 0,
		}
	})
}

func TestDivideEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(-1, 120).Draw(t, "total")
		cs := rapid.SliceOfN(smallClaimants(), 0, 6).Draw(t, "claimants")
		if got, want := fairshare.Divide(total, cs, nil), twin(total, cs); !slices.Equal(got, want) {
			t.Fatalf("got %v, the twin %v", got, want)
		}
	})
}

// What must hold at any size: see the comments in checkDivision.
func TestDivideHugeAmountsKeepsItsPromises(t *testing.T) {
	totals := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 1 << 60, unlimited}), rapid.Int64Range(0, unlimited))
	rapid.Check(t, func(t *rapid.T) {
		total := totals.Draw(t, "total")
		cs := rapid.SliceOfN(largeClaimants(), 0, 12).Draw(t, "claimants")
		checkDivision(t, total, cs, fairshare.Divide(total, cs, nil))
	})
}

func checkDivision(t *rapid.T, total int64, cs []fairshare.Claimant, got []int64) {
	sum, floors, caps, sharing := new(big.Int), new(big.Int), new(big.Int), int64(0)
	var low, high *big.Rat // bounds of the level that all shares have in common
	for i, c := range cs {
		floor, limit := max(c.Min, 0), max(c.Max, c.Min, 0)
		sum.Add(sum, big.NewInt(got[i]))
		switch {
		case !c.Active || limit == 0:
			if got[i] != 0 {
				t.Fatalf("%d takes no part and has %d", i, got[i])
			}
			continue
		case got[i] < floor:
			t.Fatalf("%d has %d, its floor is %d", i, got[i], floor)
		case got[i] > limit:
			t.Fatalf("%d has %d, its cap is %d", i, got[i], limit)
		case c.Weight <= 0 && got[i] != floor:
			t.Fatalf("%d has no weight and %d, its floor is %d", i, got[i], floor)
		}
		floors.Add(floors, big.NewInt(floor))
		if c.Weight <= 0 {
			caps.Add(caps, big.NewInt(floor))
			continue
		}
		sharing++
		caps.Add(caps, big.NewInt(limit))
		if r := big.NewRat(got[i], c.Weight); got[i] > floor && (low == nil || r.Cmp(low) > 0) {
			low = r // it has left its floor, so weight x R is at least this
		}
		next := new(big.Rat).SetFrac(new(big.Int).Add(big.NewInt(got[i]), big.NewInt(1)), big.NewInt(c.Weight))
		if got[i] < limit && (high == nil || next.Cmp(high) < 0) {
			high = next // it has not met its cap, so weight x R is less than one more
		}
	}
	if low != nil && high != nil && low.Cmp(high) >= 0 {
		t.Fatalf("no level gives these shares: %v", got)
	}
	most := big.NewInt(total)
	if floors.Cmp(most) > 0 {
		most = floors
	}
	if sum.Cmp(most) > 0 {
		t.Fatalf("the shares sum to %v, there is %d and floors are %v", sum, total, floors)
	}
	// Rounding loses less than one unit for each claimant that shares.
	least := new(big.Int).Set(most)
	if caps.Cmp(least) < 0 {
		least.Set(caps)
	}
	if sharing > 0 && sum.Cmp(new(big.Int).Sub(least, big.NewInt(sharing))) <= 0 && sum.Cmp(least) != 0 {
		t.Fatalf("the shares sum to %v, they could be %v", sum, least)
	}
}

func TestTheOrderOfClaimantsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, unlimited).Draw(t, "total")
		cs := rapid.SliceOfN(largeClaimants(), 1, 8).Draw(t, "claimants")
		order := make([]int, len(cs))
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		shuffled := make([]fairshare.Claimant, len(cs))
		for to, from := range order {
			shuffled[to] = cs[from]
		}
		want, got := fairshare.Divide(total, cs, nil), fairshare.Divide(total, shuffled, nil)
		for to, from := range order {
			if got[to] != want[from] {
				t.Fatalf("%v became %v in order %v", want, got, order)
			}
		}
	})
}

func TestAnIdleClaimantIsAsGoodAsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 1<<61).Draw(t, "total")
		cs := rapid.SliceOfN(largeClaimants(), 1, 8).Draw(t, "claimants")
		cs[0].Active = false
		with, without := fairshare.Divide(total, cs, nil), fairshare.Divide(total, cs[1:], nil)
		if with[0] != 0 || !slices.Equal(with[1:], without) {
			t.Fatalf("with %v, without %v", with, without)
		}
	})
}

func TestWeightsAreProportions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 1<<61).Draw(t, "total")
		cs := rapid.SliceOfN(smallClaimants(), 1, 8).Draw(t, "claimants")
		factor := rapid.Int64Range(1, 1<<40).Draw(t, "factor")
		want := fairshare.Divide(total, cs, nil)
		for i := range cs {
			cs[i].Weight *= factor
		}
		if got := fairshare.Divide(total, cs, nil); !slices.Equal(got, want) {
			t.Fatalf("all weights times %d: %v became %v", factor, want, got)
		}
	})
}

// More weight, a higher floor or a higher cap never lowers one's own share and never raises another's; a
// larger total lowers no share. All of it is exact, to the unit: shares are rounded down from one level R, and
// R only moves one way.
func TestDivideIsMonotone(t *testing.T) {
	grow := rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(0, 1<<50))
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 1<<61).Draw(t, "total")
		cs := rapid.SliceOfN(largeClaimants(), 1, 8).Draw(t, "claimants")
		by := grow.Draw(t, "by")
		before := fairshare.Divide(total, cs, nil)
		after := fairshare.Divide(total+by, cs, nil)
		for i := range cs {
			if after[i] < before[i] {
				t.Fatalf("a larger total took from %d: %v became %v", i, before, after)
			}
		}
		for what, change := range []func(*fairshare.Claimant){
			func(c *fairshare.Claimant) { c.Weight += by },
			func(c *fairshare.Claimant) { c.Min = resource.SatAdd(c.Min, by) },
			func(c *fairshare.Claimant) { c.Max = resource.SatAdd(c.Max, by) },
		} {
			what := [...]string{"weight", "min", "max"}[what]
			changed := slices.Clone(cs)
			change(&changed[0])
			after := fairshare.Divide(total, changed, nil)
			if after[0] < before[0] {
				t.Fatalf("more %s and less share: %v became %v", what, before, after)
			}
			for i := 1; i < len(cs); i++ {
				if after[i] > before[i] {
					t.Fatalf("more %s for one gave to %d: %v became %v", what, i, before, after)
				}
			}
		}
	})
}
