package simulator

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// boundByOthers: the pod has a node, and no binding of this scheduler says in which queue.
func (p *pod) boundByOthers() bool {
	return p.seen.Node != "" && p.seen.Placed == "" && !p.seen.Foreign
}

// nearest is the lowest queue in the tree that is this one or above it.
func (w *World) nearest(q queue.Path) queue.Path {
	tree := w.tree()
	for ; q != queue.Root; q = q.Parent() {
		if _, inTree := tree.Find(q); inTree {
			return q
		}
	}
	return queue.Root
}

// moveBoundByOthers: the tree may be another one than when these pods were charged. It is called where the ledger looks at the tree, since a pod
// that is elsewhere for a moment changes what its application has shown.
func (w *World) moveBoundByOthers() {
	moved := false
	for _, p := range w.known.pods {
		if !p.boundByOthers() {
			continue
		}
		if w.moveBoundByOther(p) {
			moved = true
		}
		p.followed = true
	}
	if moved {
		w.lookAtStarts()
	}
}

// moveBoundByOther charges the pod where it belongs now.
func (w *World) moveBoundByOther(p *pod) (moved bool) {
	to := w.nearest(p.home)
	if p.charged == to {
		return false
	}
	w.Followed += min(len(p.charged), 1)
	if k := (appKey{to, p.seen.Application}); w.opts.Gates && p.charged != "" {
		sure, some := w.movedIn[k]
		w.movedIn[k] = p.followed && (sure || !some)
	}
	w.charge(p, to)
	w.excess.grow(to, 1)
	w.crowd[to]++
	return true
}
