package resource_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A part of a total that fits into int64 is exact. Of a larger one it is never more than that, and the parts of all amounts never are more than num.
func TestPartOfASum(t *testing.T) {
	t.Parallel()
	amount := rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Range(0, math.MaxInt64), rapid.Just(int64(math.MaxInt64)))
	rapid.Check(t, func(t *rapid.T) {
		amounts, num := rapid.SliceOfN(amount, 1, 20).Draw(t, "amounts"), amount.Draw(t, "num")
		var sum resource.Sum
		total := new(big.Int)
		for _, v := range amounts {
			sum.Add(resource.Of(resource.Entry{Name: resource.CPU, Value: v}))
			total.Add(total, big.NewInt(v))
		}
		parts := new(big.Int)
		for _, v := range amounts {
			got := big.NewInt(sum.Part(resource.Entry{Name: resource.CPU, Value: v}, num))
			want := new(big.Int)
			if total.Sign() > 0 {
				want.Quo(want.Mul(big.NewInt(v), big.NewInt(num)), total)
			}
			if want.Cmp(big.NewInt(math.MaxInt64)) > 0 {
				want.SetInt64(math.MaxInt64)
			}
			if total.IsInt64() && got.Cmp(want) != 0 || got.Cmp(want) > 0 {
				t.Fatalf("%d x %d / %s is %s, not %s", v, num, total, got, want)
			}
			parts.Add(parts, got)
		}
		if parts.Cmp(big.NewInt(num)) > 0 {
			t.Fatalf("the parts of %v are %s together, more than %d", amounts, parts, num)
		}
	})
}
