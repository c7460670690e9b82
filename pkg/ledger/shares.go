package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Instantaneous fair shares are computed when they are read. A queue that becomes active or inactive only marks its parent's division
// as out of date. The next read of a share goes from the root down to the queue, and divides again where that is marked. Usage changes
// no share.

// share is the instantaneous fair share of a queue.
type share struct {
	amounts resource.List
	version uint64 // grows whenever amounts changes
	divided uint64 // the version of amounts that was last divided among the children, 0 for none
	// overdrawn: the children's shares, as last divided, are more than this one. Their guarantees are.
	overdrawn bool
	// capacity is of a queue that shares by capacity: its steady share, which it has while it is active.
	capacity resource.List
}

// shares owns the instantaneous fair shares. It hears of queues that become active or inactive (noteActive), and of a new tree, spec or total (forget).
// It says what the share of a queue is (of), and how often any may have changed.
type shares struct {
	total    resource.List // what the queues share: that of the nodes, as of the last settle
	flips    uint64        // grows when a queue becomes active or inactive, and when all are forgotten
	children []fairshare.Child
}

// setTotal takes in what there is to share; false: it is what it was. The shares follow with forget.
func (s *shares) setTotal(total resource.List) (changed bool) {
	changed = !total.Equal(s.total)
	if changed {
		s.total = total
	}
	return changed
}

// noteActive looks at which queues from a leaf up have become active or inactive.
func (s *shares) noteActive(leaf *queueAccount) {
	for a := leaf; a != nil; a = a.parent {
		if a.active() == a.wasActive {
			continue
		}
		a.wasActive = a.active()
		s.flips++
		if a.parent != nil {
			a.parent.share.divided = 0
		}
	}
}

// forget makes every share old: the tree, a spec or the cluster total changed. The root has what there is, within its max. It returns the steady shares,
// by node, if queues share by capacity.
func (s *shares) forget(t *queueTree) (steady []resource.List) {
	for _, a := range t.accounts { // each for itself: order does not matter
		a.share.divided = 0
	}
	t.root.share.amounts = s.total.CapBy(t.root.spec.Max)
	t.root.share.version++
	s.flips++
	return s.noteCapacities(t)
}

// noteCapacities computes the steady shares, and notes those of the queues that share by capacity. nil: there are none.
func (s *shares) noteCapacities(t *queueTree) (steady []resource.List) {
	if !t.byCapacity {
		return nil
	}
	steady = fairshare.Shares(t.Tree, s.total, nil)
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Spec.Capacity.Stated {
			t.accounts[n.Path].share.capacity = steady[i]
		}
	}
	return steady
}

// of returns the instantaneous fair share of a queue in the tree.
func (s *shares) of(a *queueAccount) resource.List {
	if a.parent == nil {
		return a.share.amounts
	}
	s.of(a.parent)
	if p := &a.parent.share; p.divided != p.version {
		s.divide(a.parent)
	}
	return a.share.amounts
}

// divide gives every child of a queue its share.
func (s *shares) divide(a *queueAccount) {
	a.share.divided = a.share.version
	if len(a.kids) > 0 && a.kids[0].spec.Capacity.Stated {
		for _, c := range a.kids {
			c.share.set(fairshare.Capacity(c.share.capacity, c.active()))
		}
		a.share.overdrawn = false
		return
	}
	s.children = s.children[:0]
	floors := false
	for _, c := range a.kids {
		floors = floors || c.spec.Guaranteed.Len() > 0
		s.children = append(s.children, fairshare.Child{
			Weight: c.spec.Weight, Guaranteed: c.spec.Guaranteed, Max: c.spec.Max, Active: c.active(),
		})
	}
	for i, amounts := range fairshare.Level(a.spec.Rule(), a.share.amounts, s.children) {
		a.kids[i].share.set(amounts)
	}
	a.share.overdrawn = floors && fairshare.Overdrawn(a.share.amounts, a.sharesOfKids())
}

func (s *share) set(amounts resource.List) {
	if s.version == 0 || !sameEntries(s.amounts, amounts) {
		s.amounts = amounts
		s.version++
	}
}

func (a *queueAccount) sharesOfKids() *resource.Sum {
	var sum resource.Sum
	for _, c := range a.kids {
		sum.Add(c.share.amounts)
	}
	return &sum
}

// covered is what counts of the share of a queue for others, where from is the last queue above both: see fairshare.Covered. part: it is less than all, or
// could be.
func (s *shares) covered(a, from *queueAccount) (amounts resource.List, part bool) {
	all := s.of(a)
	if a.parent == nil || a.parent == from || from == nil {
		return all, false
	}
	above, less := s.covered(a.parent, from)
	if !less && !a.parent.share.overdrawn {
		return all, false
	}
	return fairshare.CoveredBy(all, above, a.parent.sharesOfKids()), true
}

// sameEntries is Equal, and nothing is 0 in one and absent in the other: of an absent resource there is nothing to divide, of one of which
// a queue has 0 the children still have their guarantees.
func sameEntries(a, b resource.List) bool {
	same := a.Len() == b.Len()
	for i := 0; same && i < a.Len(); i++ {
		same = a.At(i) == b.At(i)
	}
	return same
}
