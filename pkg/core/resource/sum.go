package resource

import (
	"math"
	"math/bits"
	"slices"
)

// Sum is an exact running total of lists. Subtracting what was added restores the earlier state, even if the
// total exceeded int64 in between. A saturating total would lose what it cut off, and a queue would show usage
// forever. Get, List and At saturate.
//
// A Sum is changed in place and allocates only when it sees a resource for the first time. It is not safe for
// concurrent use. The zero Sum is empty, and a nil *Sum reads as empty.
type Sum struct {
	// Invariant: sorted by name, names unique. Entries that have returned to zero stay, so that a queue that
	// empties and fills again does not allocate.
	terms []term
}

// term is a signed 128-bit number in two's complement.
type term struct {
	name Name
	hi   int64
	lo   uint64
}

// Add adds every amount of l.
func (s *Sum) Add(l List) {
	for _, e := range l.entries {
		s.at(e.Name).add(e.Value>>63, uint64(e.Value)) // >>63 extends the sign
	}
}

// Sub subtracts every amount of l.
func (s *Sum) Sub(l List) {
	for _, e := range l.entries {
		s.at(e.Name).sub(e.Value>>63, uint64(e.Value))
	}
}

// AddSum adds everything o holds. o may be s itself.
func (s *Sum) AddSum(o *Sum) {
	for i := range o.Len() {
		t := o.terms[i]
		s.at(t.name).add(t.hi, t.lo)
	}
}

// SubSum subtracts everything o holds. o may be s itself.
func (s *Sum) SubSum(o *Sum) {
	for i := range o.Len() {
		t := o.terms[i]
		s.at(t.name).sub(t.hi, t.lo)
	}
}

// Reset sets the sum to zero and keeps its memory.
func (s *Sum) Reset() {
	for i := range s.terms {
		s.terms[i].hi, s.terms[i].lo = 0, 0
	}
}

// Get returns the total of one resource, 0 when it was never added.
func (s *Sum) Get(n Name) int64 {
	for i := range s.Len() {
		if s.terms[i].name == n {
			return s.terms[i].saturated()
		}
	}
	return 0
}

// List returns the totals that differ from 0.
func (s *Sum) List() List {
	var out []Entry
	for i := range s.Len() {
		if t := s.terms[i]; t.hi != 0 || t.lo != 0 {
			if out == nil {
				out = make([]Entry, 0, s.Len()-i)
			}
			out = append(out, Entry{Name: t.name, Value: t.saturated()})
		}
	}
	return List{entries: out}
}

// Equal reports whether both hold exactly the same totals, also beyond int64; one that was never added is 0.
func (s *Sum) Equal(o *Sum) bool {
	return s.within(o) && o.within(s)
}

// within reports whether o has every total of s.
func (s *Sum) within(o *Sum) bool {
	for i := range s.Len() {
		t := s.terms[i]
		var other term
		if j, ok := o.find(t.name); ok {
			other = o.terms[j]
		}
		if t.hi != other.hi || t.lo != other.lo {
			return false
		}
	}
	return true
}

// Len returns the number of resources ever added.
func (s *Sum) Len() int {
	if s == nil {
		return 0
	}
	return len(s.terms)
}

// At returns the i-th total in name order. It may be 0.
func (s *Sum) At(i int) Entry {
	return Entry{Name: s.terms[i].name, Value: s.terms[i].saturated()}
}

func (s *Sum) find(n Name) (int, bool) {
	i := 0
	for i < s.Len() && s.terms[i].name < n {
		i++
	}
	return i, i < s.Len() && s.terms[i].name == n
}

// at returns the term of a resource and creates it if needed. The pointer is valid until the next call.
func (s *Sum) at(n Name) *term {
	i, ok := s.find(n)
	if !ok {
		s.terms = slices.Insert(s.terms, i, term{name: n})
	}
	return &s.terms[i]
}

func (t *term) add(hi int64, lo uint64) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi += hi + int64(carry)
}

func (t *term) sub(hi int64, lo uint64) {
	var borrow uint64
	t.lo, borrow = bits.Sub64(t.lo, lo, 0)
	t.hi -= hi + int64(borrow)
}

func (t *term) saturated() int64 {
	switch {
	case t.hi == 0 && t.lo <= math.MaxInt64, t.hi == -1 && t.lo > math.MaxInt64:
		return int64(t.lo)
	case t.hi < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// Part is amount x num over the total of its resource, exactly and rounded down; 0 if the total is not above 0. The amount is one of those that were added,
// and neither it nor num is negative.
func (s *Sum) Part(amount Entry, num int64) int64 {
	i, ok := s.find(amount.Name)
	if !ok || s.terms[i].hi < 0 {
		return 0
	}
	hi, lo, value := uint64(s.terms[i].hi), s.terms[i].lo, amount.Value
	// A total beyond int64 is divided by powers of two, rounded up, and the amount with it, rounded down.
	for hi > 0 || lo > math.MaxInt64 {
		odd := lo & 1
		lo, hi = lo>>1|hi<<63, hi>>1
		var carry uint64
		lo, carry = bits.Add64(lo, odd, 0)
		hi += carry
		value >>= 1
	}
	if lo == 0 {
		return 0
	}
	return Part(value, num, int64(lo))
}
