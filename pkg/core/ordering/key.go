// Package ordering says which of two siblings is served first: queues under one parent, or applications in one
// queue.
//
// Input is the standing of each (usage, weight, priority, submission), and of a queue below its guarantee the part
// that it has of that; output is an order and the criterion that decided. A standing is first frozen into a key,
// because what changes during a sort cannot be sorted. Every policy is a total order: the same two keys always
// compare the same way, on every machine, and no two different siblings are equal.
//
// A queue has two keys where it is below its guarantee: one for its turn among all (Set), and one for its turn with
// the pods that ask for what it lacks (SetBelow), which come first.
//
// The package must not use floats, must not allocate when it compares or renews a key, and does not know which
// siblings have anything to release: the caller offers only those.
package ordering

import (
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Standing is what decides the place of a queue or an application at one moment.
type Standing struct {
	Usage     *resource.Sum // allocated
	Weight    int64         // milli; or the capacity
	Priority  int32
	Submitted int64  // unix nanoseconds; 0 for queues
	Name      string // queue path or application name, unique among siblings
	// Ordinal is the place of a queue among all in path order, from 1, so that names need not be compared; 0
	// for applications. Queues have neither priority nor submission.
	Ordinal int
	// ByCapacity: it is a queue that shares by capacity.
	ByCapacity bool
}

// Key is a standing, prepared to be compared. An order book keeps one for each entry and renews it in place.
type Key struct {
	rank     Rank
	below    bool     // its guarantee
	part     fraction // what it has of what it is owed; only when below
	dominant fraction // of usage

	weight     uint64 // 0 if the sibling has none
	byCapacity bool   // weight is a capacity
	// shares is usage over total of each resource in use, largest first.
	shares []fraction

	priority  int32
	submitted int64
	name      string
	ordinal   int
}

// fraction is an amount over the total of its resource. 0 is always 0/1, and a zero denominator means
// infinite: the resource is used although the cluster has none.
type fraction struct{ num, den uint64 }

func newFraction(num, den int64) fraction {
	if num <= 0 {
		return fraction{0, 1}
	}
	return fraction{uint64(num), uint64(max(den, 0))}
}

// Set renews the key. It reuses the key's memory: after it has seen all resources, it allocates nothing.
func (k *Key) Set(rule queue.Rule, s Standing, total resource.List) {
	k.priority, k.submitted, k.name, k.ordinal = s.Priority, s.Submitted, s.Name, s.Ordinal
	k.weight, k.byCapacity = uint64(max(s.Weight, 0)), s.ByCapacity
	k.shares = k.shares[:0]
	k.below, k.part, k.dominant = false, fraction{0, 1}, fraction{0, 1}
	if !rule.Policy.ByAge() {
		k.setShares(rule, s, total)
	}
	k.rank = k.ranked(rule.Policy)
}

func (k *Key) setShares(rule queue.Rule, s Standing, total resource.List) {
	for i := range s.Usage.Len() {
		e := s.Usage.At(i)
		if e.Value > 0 && rule.Counts(e.Name) {
			k.insert(newFraction(e.Value, total.Get(e.Name)))
		}
	}
	if len(k.shares) > 0 {
		k.dominant = k.shares[0]
	}
}

// SetBelow makes k the key with which the sibling of another key takes its turn with what it lacks of its guarantee. It shares the
// memory of that key, so it must be set whenever the other is.
func (k *Key) SetBelow(of *Key, part guarantee.Part) {
	*k = *of
	k.below, k.part = true, newFraction(part.Used, part.Owed)
	k.rank = k.rankBelow(of.rank)
}

// insert keeps the shares sorted, largest first. There are few, so moving them one by one is fastest.
func (k *Key) insert(f fraction) {
	k.shares = append(k.shares, f)
	for i := len(k.shares) - 1; i > 0 && k.shares[i-1].compare(f) < 0; i-- {
		k.shares[i-1], k.shares[i] = f, k.shares[i-1]
	}
}

// compare is exact; all infinite fractions are equal.
func (f fraction) compare(o fraction) int {
	return compareWeighted(f, 1, o, 1)
}

// compareWeighted compares f/fw with o/ow. Weights are positive.
func compareWeighted(f fraction, fw uint64, o fraction, ow uint64) int {
	switch {
	case f.den == 0 && o.den == 0:
		return 0
	case f.den == 0:
		return 1
	case o.den == 0:
		return -1
	}
	if f.den == o.den {
		return resource.CompareProducts3(f.num, ow, 1, o.num, fw, 1)
	}
	return resource.CompareProducts3(f.num, o.den, ow, o.num, f.den, fw)
}
