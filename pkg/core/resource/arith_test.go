package resource_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// amounts draws any int64, the ends and their neighbours often.
func amounts() *rapid.Generator[int64] {
	ends := []int64{
		0, 1, -1, 2, 1000, 1 << 31, 1 << 32, 1 << 60, 1 << 62,
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1,
	}
	return rapid.OneOf(rapid.SampledFrom(ends), rapid.Int64Range(-100, 100), rapid.Int64())
}

func factors() *rapid.Generator[uint64] {
	ends := []uint64{0, 1, 2, 1 << 32, 1 << 63, math.MaxInt64, math.MaxUint64, math.MaxUint64 - 1}
	return rapid.OneOf(rapid.SampledFrom(ends), rapid.Uint64Range(0, 20), rapid.Uint64(), rapid.Uint64Range(1<<62, math.MaxUint64))
}

// saturated is what an exact result becomes at the ends of int64.
func saturated(v *big.Int) int64 {
	switch {
	case v.Cmp(big.NewInt(math.MaxInt64)) > 0:
		return math.MaxInt64
	case v.Cmp(big.NewInt(math.MinInt64)) < 0:
		return math.MinInt64
	}
	return v.Int64()
}

func TestArithmeticSaturates(t *testing.T) {
	for name, c := range map[string]struct{ got, want int64 }{
		"small amounts add":                         {resource.SatAdd(2, 3), 5},
		"more than the largest is the largest":      {resource.SatAdd(math.MaxInt64, 1), math.MaxInt64},
		"less than the smallest is the smallest":    {resource.SatAdd(math.MinInt64, -1), math.MinInt64},
		"opposite ends cancel":                      {resource.SatAdd(math.MinInt64, math.MaxInt64), -1},
		"taking away the smallest adds":             {resource.SatSub(0, math.MinInt64), math.MaxInt64},
		"taking away from the smallest stays there": {resource.SatSub(math.MinInt64, 1), math.MinInt64},
		"smallest times minus one is the largest":   {resource.SatMul(math.MinInt64, -1), math.MaxInt64},
		"smallest times one is itself":              {resource.SatMul(math.MinInt64, 1), math.MinInt64},
		"a large product keeps its sign":            {resource.SatMul(1<<40, -(1 << 40)), math.MinInt64},
		"unlimited stays unlimited when it grows":   {resource.SatAdd(resource.Unlimited, 1<<40), resource.Unlimited},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %d, want %d", c.got, c.want)
			}
		})
	}
}

func TestArithmeticIsBigArithmeticCutOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := amounts().Draw(t, "a"), amounts().Draw(t, "b")
		x, y := big.NewInt(a), big.NewInt(b)
		for name, c := range map[string]struct {
			got  int64
			want *big.Int
		}{
			"SatAdd": {resource.SatAdd(a, b), new(big.Int).Add(x, y)},
			"SatSub": {resource.SatSub(a, b), new(big.Int).Sub(x, y)},
			"SatMul": {resource.SatMul(a, b), new(big.Int).Mul(x, y)},
		} {
			if want := saturated(c.want); c.got != want {
				t.Fatalf("%s(%d, %d) = %d, want %d", name, a, b, c.got, want)
			}
		}
	})
}

func TestAFactorOfZeroMakesProductsEqual(t *testing.T) {
	if got := resource.CompareProducts3(5, 7, 0, 1, 2, 0); got != 0 {
		t.Errorf("0 against 0: %d", got)
	}
	if got := resource.CompareProducts3(1, 2, 3, 5, 7, 0); got != 1 {
		t.Errorf("6 against 0: %d", got)
	}
}

func TestProductsCompareAsBigProducts(t *testing.T) {
	product := func(fs ...uint64) *big.Int {
		out := big.NewInt(1)
		for _, f := range fs {
			out.Mul(out, new(big.Int).SetUint64(f))
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		a := [4]uint64{factors().Draw(t, "a1"), factors().Draw(t, "a2"), factors().Draw(t, "a3"), factors().Draw(t, "a4")}
		b := [4]uint64{factors().Draw(t, "b1"), factors().Draw(t, "b2"), factors().Draw(t, "b3"), factors().Draw(t, "b4")}
		if rapid.Bool().Draw(t, "the same factors in another order") {
			b = [4]uint64{a[2], a[1], a[0], a[3]}
		}
		if got, want := resource.CompareProducts3(a[0], a[1], a[2], b[0], b[1], b[2]),
			product(a[:3]...).Cmp(product(b[:3]...)); got != want {
			t.Fatalf("CompareProducts3(%v, %v) = %d, want %d", a[:3], b[:3], got, want)
		}
		if got, want := resource.CompareProducts4(a, b), product(a[:]...).Cmp(product(b[:]...)); got != want {
			t.Fatalf("CompareProducts4(%v, %v) = %d, want %d", a, b, got, want)
		}
	})
}

// Long products carry from limb to limb differently in each order of the factors, and
// must come out the same.
func TestTheOrderOfFactorsDoesNotMatter(t *testing.T) {
	large := rapid.Uint64Range(1<<63, math.MaxUint64)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(large, 4, 4).Draw(t, "factors")
		b := rapid.Permutation(a).Draw(t, "in another order")
		if got := resource.CompareProducts4([4]uint64(a), [4]uint64(b)); got != 0 {
			t.Fatalf("got %d", got)
		}
	})
}

func TestFractionsCompareExactly(t *testing.T) {
	const most = math.MaxInt64
	for name, c := range map[string]struct {
		an, ad, bn, bd int64
		want           int
	}{
		"a third is less than a half":                       {1, 3, 1, 2, -1},
		"two quarters are a half":                           {2, 4, 1, 2, 0},
		"neighbours that no float tells apart":              {most, most - 1, most - 1, most - 2, -1},
		"used although there is none is more than all":      {1, 0, most, 1, 1},
		"infinite is infinite, however much":                {1, 0, most, 0, 0},
		"nothing of nothing is nothing":                     {0, 0, 0, 5, 0},
		"nothing of nothing is less than something":         {0, 0, 1, most, -1},
		"a negative amount counts as nothing":               {-5, 3, 0, 3, 0},
		"a negative amount of nothing is nothing, too":      {-5, 0, 0, 1, 0},
		"the same resource in use, the same total, by size": {5, 100, 7, 100, -1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resource.CompareFractions(c.an, c.ad, c.bn, c.bd); got != c.want {
				t.Errorf("CompareFractions(%d/%d, %d/%d) = %d, want %d", c.an, c.ad, c.bn, c.bd, got, c.want)
			}
			if got := resource.CompareFractions(c.bn, c.bd, c.an, c.ad); got != -c.want {
				t.Errorf("the other way round: %d, want %d", got, -c.want)
			}
		})
	}
}

func TestFractionsCompareAsRationals(t *testing.T) {
	positive := rapid.Map(amounts(), func(v int64) int64 { return max(v&math.MaxInt64, 1) })
	rapid.Check(t, func(t *rapid.T) {
		an, ad := amounts().Draw(t, "an"), positive.Draw(t, "ad")
		bn, bd := amounts().Draw(t, "bn"), positive.Draw(t, "bd")
		want := big.NewRat(max(an, 0), ad).Cmp(big.NewRat(max(bn, 0), bd))
		if got := resource.CompareFractions(an, ad, bn, bd); got != want {
			t.Fatalf("CompareFractions(%d/%d, %d/%d) = %d, want %d", an, ad, bn, bd, got, want)
		}
	})
}

func TestPart(t *testing.T) {
	for _, c := range []struct{ amount, num, den, down, up int64 }{
		{200, 1, 2, 100, 100},
		{201, 1, 2, 100, 101},
		{7, 300, 1000, 2, 3},
		{0, 5, 7, 0, 0},
		{5, 0, 7, 0, 0},
		{-5, 1, 2, 0, 0},
		{math.MaxInt64, 1, 1, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 2, 1, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, 1, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 1, 2, math.MaxInt64 / 2, math.MaxInt64/2 + 1},
		{1 << 60, 99_999, 100_000, 1152909975391800907, 1152909975391800908}, // 2^60 less its hundred-thousandth, 11529215046068.46976
	} {
		if got := resource.Part(c.amount, c.num, c.den); got != c.down {
			t.Errorf("%d x %d/%d is %d, want %d", c.amount, c.num, c.den, got, c.down)
		}
		if got := resource.PartUp(c.amount, c.num, c.den); got != c.up {
			t.Errorf("%d x %d/%d rounded up is %d, want %d", c.amount, c.num, c.den, got, c.up)
		}
	}
}
