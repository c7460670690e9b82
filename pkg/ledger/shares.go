package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Instantaneous fair shares are kept lazily. A queue that becomes active or inactive makes its parent's division old and nothing else;
// a share is computed when it is read, on the way from the root down, where something on that way is old. Usage changes no share.

// share is the instantaneous fair share of a queue.
type share struct {
	amounts resource.List
	version uint64 // grows whenever amounts changes
	divided uint64 // the version of amounts that was last divided among the children, 0 for none
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
func (s *shares) noteActive(leaf *account) {
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

// forget makes every share old: the tree, a spec or the cluster total changed. The root has what there is, within its max.
func (s *shares) forget(t *queueTree) {
	for _, a := range t.accounts { // each for itself: order does not matter
		a.share.divided = 0
	}
	t.root.share.amounts = s.total.CapBy(t.root.spec.Max)
	t.root.share.version++
	s.flips++
}

// of returns the instantaneous fair share of a queue in the tree.
func (s *shares) of(a *account) resource.List {
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
func (s *shares) divide(a *account) {
	a.share.divided = a.share.version
	s.children = s.children[:0]
	for _, c := range a.kids {
		s.children = append(s.children, fairshare.Child{
			Weight: c.spec.Weight, Guaranteed: c.spec.Guaranteed, Max: c.spec.Max, Active: c.active(),
		})
	}
	for i, amounts := range fairshare.Level(a.spec.Rule(), a.share.amounts, s.children) {
		if c := a.kids[i]; c.share.version == 0 || !sameEntries(c.share.amounts, amounts) {
			c.share.amounts = amounts
			c.share.version++
		}
	}
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
