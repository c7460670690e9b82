package book

import (
	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Competitor is what an order knows of one competitor, a T. It is embedded in the T; Init comes before everything else.
type Competitor[T any] struct {
	owner  T
	index  int32 // in the order
	policy queue.Policy
	key    ordering.Key
}

// Init names the T that the competitor is part of.
func (c *Competitor[T]) Init(owner T) { c.owner, c.index = owner, heap.Out }

// KeyUnder returns the key, for the caller to set to how the competitor stands under a policy; the order must be repaired after that, by
// Offer or Rebuild. (A standing is large: handed in, it would be copied once more.)
func (c *Competitor[T]) KeyUnder(policy queue.Policy) *ordering.Key {
	c.policy = policy
	return &c.key
}

// Competes reports whether it is in an order.
func (c *Competitor[T]) Competes() bool { return c.index != heap.Out }

// Compare says which of two competitors at one parent comes first, and by what.
func (c *Competitor[T]) Compare(o *Competitor[T]) (int, ordering.Criterion) {
	return ordering.Compare(c.policy, &c.key, &o.key)
}

// Order has the competitors at one parent that have something to release, in the order of the parent's policy. It is a binary heap in
// which every entry also knows the lanes of all entries below it. So one structure serves all classes: when a class is closed or opened,
// no order changes, and the lanes lead to the first competitor that has one of the open ones. (A heap for each class was tried first: a
// charge then costs a repair for each level and class.)
type Order[T any] []Entry[T]

// Entry is a competitor in an order. What the heap compares most is kept in it, because competitors are spread over the memory.
type Entry[T any] struct {
	*Competitor[T]
	rank  ordering.Rank
	own   Lanes // of the competitor
	below Lanes // own, and those of all entries below this one
}

// Owner is the T that competes.
func (e *Entry[T]) Owner() T { return e.owner }

// Own returns the lanes in which the competitor has something to release.
func (e *Entry[T]) Own() Lanes { return e.own }

// Before reports whether the policy puts e before o.
func (e *Entry[T]) Before(o *Entry[T]) bool {
	if e.rank != o.rank {
		return e.rank.Before(o.rank)
	}
	n, _ := e.Compare(o.Competitor)
	return n < 0
}

// Lanes returns the lanes in which any competitor has something to release.
func (o Order[T]) Lanes() Lanes {
	if len(o) == 0 {
		return 0
	}
	return o[0].below
}

// OwnOf returns the lanes with which the competitor is in the order; none: it is not in it.
func (o Order[T]) OwnOf(c *Competitor[T]) Lanes {
	if !c.Competes() {
		return 0
	}
	return o[c.index].own
}

// Offer brings the competitor's entry up to date with its key and with its lanes. It is in the order if it has lanes.
func (o *Order[T]) Offer(c *Competitor[T], own Lanes) {
	i := int(c.index)
	switch {
	case own == 0 && i == heap.Out:
	case own == 0:
		o.remove(i)
	case i == heap.Out:
		*o = append(*o, Entry[T]{Competitor: c, rank: c.key.Rank(), own: own, below: own})
		last := len(*o) - 1
		o.mend(heap.Up(*o, last), last)
	default:
		(*o)[i].rank, (*o)[i].own = c.key.Rank(), own
		o.repair(i)
	}
}

// SetLanes is Offer for a competitor whose key has not changed since. One that has no lanes any more stays in the order, so that having some again costs
// no repair either. The walk passes such entries over like those of closed lanes.
func (o *Order[T]) SetLanes(c *Competitor[T], own Lanes) {
	switch i := int(c.index); {
	case i == heap.Out:
		o.Offer(c, own)
	case (*o)[i].own != own:
		(*o)[i].own = own
		o.mend(i, i)
	}
}

func (o *Order[T]) remove(i int) {
	s, last := *o, len(*o)-1
	s[i].index = heap.Out
	moved := s[last]
	s[last] = Entry[T]{}
	*o = s[:last]
	if last > 0 {
		o.mend((last-1)/2, (last-1)/2)
	}
	if i < last {
		s[i] = moved
		o.repair(i)
	}
}

// repair restores the order after the entry at i changed its rank or its lanes.
func (o Order[T]) repair(i int) {
	end := heap.Fix(o, i)
	o.mend(min(i, end), max(i, end))
}

// mend renews below on the way from the lowest entry that changed up to the root. Entries changed between highest and lowest only, so
// above highest it stops where nothing changes.
func (o Order[T]) mend(highest, lowest int) {
	for i := lowest; ; i = (i - 1) / 2 {
		below := o[i].own
		if c := 2*i + 1; c < len(o) {
			below |= o[c].below
			if c+1 < len(o) {
				below |= o[c+1].below
			}
		}
		same := o[i].below == below
		o[i].below = below
		if i == 0 || same && i < highest {
			return
		}
	}
}

// Rebuild restores the order after any number of competitors changed their keys.
func (o Order[T]) Rebuild() {
	for i := range o {
		o[i].rank = o[i].key.Rank()
	}
	heap.Init(o)
	for i := len(o) - 1; i >= 0; i-- {
		o.mend(i, i)
	}
}

// Moved tells the competitor where it is.
func (e *Entry[T]) Moved(to int) { e.index = int32(to) }

// First returns the first entry after the given one (nil: of all) that has one of the open lanes, nil if there is none. Entries are
// valid until the order changes.
func (o Order[T]) First(open Lanes, after *Entry[T]) *Entry[T] {
	if after == nil && len(o) > 0 && o[0].own&open != 0 {
		return &o[0]
	}
	return o.firstUnder(0, open, after, nil)
}

// firstUnder looks at the entries at and under i for one that comes before best.
func (o Order[T]) firstUnder(i int, open Lanes, after, best *Entry[T]) *Entry[T] {
	if i >= len(o) || o[i].below&open == 0 || best != nil && best.Before(&o[i]) {
		return best // all entries under i come after the one at i
	}
	if o[i].own&open != 0 && (after == nil || after.Before(&o[i])) {
		return &o[i]
	}
	best = o.firstUnder(2*i+1, open, after, best)
	return o.firstUnder(2*i+2, open, after, best)
}
