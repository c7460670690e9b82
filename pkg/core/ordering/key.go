// Package ordering says which of two siblings is served first: queues under one parent, or applications in one
// queue.
//
// Input is the standing of each (usage, demand, guarantee, weight, priority, submission); output is an order
// and the criterion that decided. A standing is first frozen into a key, because what changes during a sort
// cannot be sorted. Every policy is a total order: the same two keys always compare the same way, on every
// machine, and no two different siblings are equal.
//
// The package must not use floats, must not allocate when it compares or renews a key, and does not know which
// siblings have anything to release: the caller offers only those.
package ordering

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Standing is what decides the place of a queue or an application at one moment.
type Standing struct {
	Usage      *resource.Sum // allocated
	Demand     *resource.Sum // allocated, plus what waits only for room
	Guaranteed resource.List
	Weight     int64 // milli
	Priority   int32
	Submitted  int64  // unix nanoseconds; 0 for queues
	Name       string // queue path or application name, unique among siblings
	// Ordinal is the place of a queue among all in path order, from 1, so that names need not be compared; 0
	// for applications. Queues have neither priority nor submission.
	Ordinal int
}

// Key is a standing, prepared to be compared. An order book keeps one for each entry and renews it in place.
type Key struct {
	rank     Rank
	needy    bool
	dominant fraction // of usage
	owed     fraction // dominant share of the guaranteed amount that is asked for; only when needy

	weight uint64 // 0 if the sibling has none
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
	k.weight = uint64(max(s.Weight, 0))
	k.shares = k.shares[:0]
	k.needy, k.dominant, k.owed = false, fraction{0, 1}, fraction{0, 1}
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
	for i := range s.Guaranteed.Len() {
		e := s.Guaranteed.At(i)
		if !rule.Counts(e.Name) {
			continue
		}
		// A guarantee counts only as far as it is asked for.
		owed := newFraction(min(e.Value, s.Demand.Get(e.Name)), total.Get(e.Name))
		if owed.compare(k.owed) > 0 {
			k.owed = owed
		}
	}
	k.needy = k.dominant.compare(k.owed) < 0
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
