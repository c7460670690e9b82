package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/ordering"

// order is the order book of one account: its children below which something may be released under their own limits, in the order of
// its policy. It is a binary heap in which every place also knows the lanes of all places under it, so that one structure serves all
// classes: opening or closing a class touches no order book, and the first competitor with a pod of some open class is found by
// following the lanes. (A heap for each class was tried first: a charge then costs a repair for each level and class.)
type order []competitor

// competitor keeps beside the account what the heap asks about it most; accounts are spread over the memory.
type competitor struct {
	*account
	rank  ordering.Rank
	own   lanes // of the account
	below lanes // own, and those of all places under this one
}

func (c *competitor) before(o *competitor) bool {
	if c.rank != o.rank {
		return c.rank.Before(o.rank)
	}
	n, _ := ordering.Compare(c.parent.spec.Policy, &c.key, &o.key)
	return n < 0
}

// lanes returns those in which any child has something to release.
func (o order) lanes() lanes {
	if len(o) == 0 {
		return 0
	}
	return o[0].below
}

// offer brings the account's entry up to date: it is in the book exactly while it has lanes.
func (o *order) offer(a *account, own lanes) {
	i := a.inParent
	switch {
	case own == 0 && i == out:
	case own == 0:
		o.remove(i)
	case i == out:
		*o = append(*o, competitor{account: a, rank: a.key.Rank(), own: own, below: own})
		last := len(*o) - 1
		o.mend(o.up(last), last)
	default:
		(*o)[i].rank, (*o)[i].own = a.key.Rank(), own
		o.repair(i)
	}
}

func (o *order) remove(i int) {
	s, last := *o, len(*o)-1
	s[i].inParent = out
	moved := s[last]
	s[last] = competitor{}
	*o = s[:last]
	if last > 0 {
		o.mend((last-1)/2, (last-1)/2)
	}
	if i < last {
		s[i] = moved
		s[i].inParent = i
		o.repair(i)
	}
}

// repair restores the order after the entry at i changed its rank or its lanes.
func (o order) repair(i int) {
	if end := o.down(i); end != i {
		o.mend(i, end)
		return
	}
	o.mend(o.up(i), i)
}

// mend renews below from the lowest place where an entry changed up to the root. Everything between it and the highest one did.
func (o order) mend(highest, lowest int) {
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

// rebuild restores everything after any number of accounts changed their keys.
func (o order) rebuild() {
	for i := range o {
		o[i].rank = o[i].key.Rank()
	}
	for i := len(o) - 1; i >= 0; i-- {
		o.down(i)
	}
	for i := len(o) - 1; i >= 0; i-- {
		o.mend(i, i)
	}
}

// up moves the entry at i to its place over it and returns that.
func (o order) up(i int) int { return o.rise(o[i], i, 0) }

// rise puts an entry where it belongs on the way from i to the top, and moves those it passes down.
func (o order) rise(e competitor, i, top int) int {
	for i > top {
		p := (i - 1) / 2
		if !e.before(&o[p]) {
			break
		}
		o.put(i, o[p])
		i = p
	}
	o.put(i, e)
	return i
}

// down moves the entry at i to its place under it and returns that. It sinks all the way and rises again: a charge mostly makes the
// first competitor one of the last, and that way costs one comparison for each level, not two.
func (o order) down(i int) int {
	top, e := i, o[i]
	for c := 2*i + 1; c < len(o); c = 2*i + 1 {
		if c+1 < len(o) && o[c+1].before(&o[c]) {
			c++
		}
		o.put(i, o[c])
		i = c
	}
	return o.rise(e, i, top)
}

func (o order) put(i int, c competitor) {
	o[i] = c
	c.inParent = i
}

// first returns the first competitor after the given one (nil: of all) that has one of the lanes.
func (o order) first(open lanes, after *competitor) *competitor {
	if after == nil && len(o) > 0 && o[0].own&open != 0 {
		return &o[0]
	}
	return o.firstUnder(0, open, after, nil)
}

// firstUnder looks at the places at and under i for one that beats best.
func (o order) firstUnder(i int, open lanes, after, best *competitor) *competitor {
	if i >= len(o) || o[i].below&open == 0 || best != nil && best.before(&o[i]) {
		return best // under i, all come after i
	}
	if o[i].own&open != 0 && (after == nil || after.before(&o[i])) {
		return &o[i]
	}
	best = o.firstUnder(2*i+1, open, after, best)
	return o.firstUnder(2*i+2, open, after, best)
}
