package resource

import (
	"math"
	"math/bits"
)

// Unlimited is the amount of a resource that nothing caps. Additions also saturate there, so adding to
// Unlimited leaves it Unlimited.
const Unlimited int64 = math.MaxInt64

// SatAdd returns a+b, saturated at the ends of int64.
func SatAdd(a, b int64) int64 {
	c := a + b
	// Only two operands of one sign can overflow, and then the sign of c differs.
	if (a >= 0) == (b >= 0) && (c >= 0) != (a >= 0) {
		if a >= 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return c
}

// SatSub returns a-b, saturated at the ends of int64.
func SatSub(a, b int64) int64 {
	c := a - b
	if (a >= 0) != (b >= 0) && (c >= 0) != (a >= 0) {
		if a >= 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return c
}

// SatMul returns a*b, saturated at the ends of int64.
func SatMul(a, b int64) int64 {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		if hi != 0 || lo > 1<<63 {
			return math.MinInt64
		}
		return -int64(lo) // lo == 1<<63 is MinInt64, which is its own negation
	}
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Part returns amount x num/den rounded down, saturated at the end of int64. Negative numbers count as 0, and
// den must be positive.
func Part(amount, num, den int64) int64 {
	q, _ := part(amount, num, den)
	return q
}

// PartUp is Part rounded up.
func PartUp(amount, num, den int64) int64 {
	q, rest := part(amount, num, den)
	if rest && q < math.MaxInt64 {
		q++
	}
	return q
}

// part returns the quotient, and whether there is a remainder.
func part(amount, num, den int64) (int64, bool) {
	if amount <= 0 || num <= 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(amount), uint64(num))
	if hi >= uint64(den) {
		return math.MaxInt64, false
	}
	q, rest := bits.Div64(hi, lo, uint64(den))
	return int64(min(q, math.MaxInt64)), rest > 0
}

// magnitude returns |v|, also for the smallest int64, which has no positive counterpart.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// CompareProducts3 compares a1*a2*a3 with b1*b2*b3 (-1, 0, +1), exactly. Comparing usage / total / weight
// needs three factors after cross-multiplication.
func CompareProducts3(a1, a2, a3, b1, b2, b3 uint64) int {
	// The third factors are often equal (same weight, or same total); then 128 bits are enough. A factor of 0
	// must not be left out: it makes both products 0.
	if a3 == b3 && a3 != 0 {
		return compare128(a1, a2, b1, b2)
	}
	return compareLimbs(product3(a1, a2, a3), product3(b1, b2, b3))
}

// CompareProducts4 is CompareProducts3 for four factors: fractions of fractions whose totals differ.
func CompareProducts4(a, b [4]uint64) int {
	return compareLimbs(product4(a), product4(b))
}

// CompareFractions compares an/ad with bn/bd (-1, 0, +1), exactly. Denominators are never negative. A positive
// amount over 0 is infinite (used, although the cluster has none), 0 over 0 is 0, and a negative numerator
// counts as 0.
func CompareFractions(an, ad, bn, bd int64) int {
	an, ad = normalFraction(an, ad)
	bn, bd = normalFraction(bn, bd)
	if ad == 0 || bd == 0 {
		switch {
		case ad == bd:
			return 0
		case ad == 0:
			return 1
		default:
			return -1
		}
	}
	return compare128(uint64(an), uint64(bd), uint64(bn), uint64(ad))
}

// normalFraction turns every zero into 0/1, so that a zero denominator always means infinity.
func normalFraction(n, d int64) (int64, int64) {
	if n <= 0 {
		return 0, 1
	}
	return n, max(d, 0)
}

func compare128(a1, a2, b1, b2 uint64) int {
	ah, al := bits.Mul64(a1, a2)
	bh, bl := bits.Mul64(b1, b2)
	switch {
	case ah != bh:
		return sign(ah, bh)
	default:
		return sign(al, bl)
	}
}

func sign(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// limbs is an unsigned 256-bit number, lowest limb first.
type limbs [4]uint64

func product3(a, b, c uint64) limbs {
	hi, lo := bits.Mul64(a, b)
	return limbs{lo, hi}.times(c)
}

func product4(f [4]uint64) limbs {
	return product3(f[0], f[1], f[2]).times(f[3])
}

// times multiplies by one limb. The caller keeps the product within 256 bits;
// four factors of 64 bits do.
func (l limbs) times(f uint64) limbs {
	var out limbs
	var carry uint64
	for i, limb := range l {
		hi, lo := bits.Mul64(limb, f)
		var c uint64
		out[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c // hi is at most 2^64-2, so this cannot wrap
	}
	return out
}

func compareLimbs(a, b limbs) int {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return sign(a[i], b[i])
		}
	}
	return 0
}
