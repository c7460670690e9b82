package ordering

import (
	"math"
	"math/bits"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Rank is the beginning of a comparison as two numbers: if the ranks of two keys differ, Compare puts the key
// with the smaller rank first. Equal ranks decide nothing. An order book keeps ranks beside its entries, so it
// rarely reads a key.
type Rank struct {
	// major is a tier and, below it, the weighted dominant share, rounded down. Rounding preserves the order:
	// numbers that differ after it differed in the same direction before. For FIFO it is the priority and the
	// submission.
	major uint64
	// minor orders the siblings that use nothing, or have nothing of their guarantee; a busy cluster has many.
	minor uint64
}

// Tiers of the policies that order by shares.
const (
	tierBelow uint64 = iota
	tierWeighted
	tierWeightless
)

const (
	tierShift = 62
	shareBits = 44 // binary places of a share
	maxShare  = 1<<tierShift - 1
	// mostCapacity bounds what a rank has room for; it is far above 100 percent.
	mostCapacity = 1<<32 - 1
)

// Before reports whether the rank is the smaller one.
func (r Rank) Before(o Rank) bool {
	if r.major != o.major {
		return r.major < o.major
	}
	return r.minor < o.minor
}

// Rank is the rank of what the key was last set to.
func (k *Key) Rank() Rank { return k.rank }

func (k *Key) ranked(policy queue.Policy) Rank {
	if policy.ByAge() {
		return Rank{major: k.age()}
	}
	r, weight := Rank{major: tierWeighted << tierShift}, k.weight
	if weight == 0 {
		r.major, weight = tierWeightless<<tierShift, 1
	}
	switch {
	case k.dominant.num > 0:
		r.major |= max(k.dominant.scaled(weight), 1)
	case k.ordinal > 0:
		r.minor = (mostCapacity-k.capacity())<<32 | uint64(k.ordinal)
	default:
		r.minor = k.age()
	}
	return r
}

// rankBelow is the rank below the guarantee: by the part, and of those that have nothing by the major of their other rank.
func (k *Key) rankBelow(other Rank) Rank {
	if k.part.num == 0 {
		return Rank{major: tierBelow << tierShift, minor: other.major}
	}
	return Rank{major: tierBelow<<tierShift | max(k.part.scaled(1), 1)}
}

// age orders by higher priority, then by submission, to two seconds.
func (k *Key) age() uint64 {
	return uint64(math.MaxInt32-int64(k.priority))<<32 | uint64(max(k.submitted, 0))>>31
}

// scaled returns f over the weight times 2^shareBits, rounded down, at most maxShare.
func (f fraction) scaled(weight uint64) uint64 {
	if f.den == 0 {
		return maxShare // infinite
	}
	high, low := f.num>>(64-shareBits), f.num<<shareBits
	whole, part := high/f.den, high%f.den
	low, _ = bits.Div64(part, low, f.den)
	if whole >= weight {
		return maxShare // many times more than the cluster has
	}
	low, _ = bits.Div64(whole, low, weight)
	return min(low, maxShare)
}
