package metrics

import (
	"math"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// shown says which queues have their own series. In a tree larger than the bound, whole levels are shown from
// the root down, so that either all children of a queue are shown or none, and the series always sum up.
type shown struct {
	paths map[queue.Path]bool
	depth int // the lowest level shown; if all are, more than the tree can have
}

func shownOf(all []ledger.QueueState, most int) shown {
	var onLevel []int // from 1; a Queue whose name is not a path has no level
	for i := range all {
		if p := all[i].Path; queue.Root.Contains(p) {
			d := p.Depth()
			onLevel = append(onLevel, make([]int, max(0, d+1-len(onLevel)))...)
			onLevel[d]++
		}
	}
	s := shown{paths: map[queue.Path]bool{}, depth: math.MaxInt}
	for d, n := 1, 0; d < len(onLevel); d++ {
		if n += onLevel[d]; n > most {
			s.depth = d - 1
			break
		}
	}
	for i := range all {
		if p := all[i].Path; queue.Root.Contains(p) && p.Depth() <= s.depth {
			s.paths[p] = true
		}
	}
	return s
}

// nearest returns the queue itself or its nearest ancestor that is shown; what belongs to no queue counts at
// the root. It returns false if none is shown.
func (s shown) nearest(p queue.Path) (queue.Path, bool) {
	for p = ancestorAt(p, s.depth); p != ""; p = p.Parent() {
		if s.paths[p] {
			return p, true
		}
	}
	return queue.Root, s.paths[queue.Root]
}

// ancestorAt returns the ancestor at the level, or the path itself if it is not deeper.
func ancestorAt(p queue.Path, level int) queue.Path {
	at := 0
	for range level {
		dot := strings.IndexByte(string(p[at:]), '.')
		if dot < 0 {
			return p
		}
		at += dot + 1
	}
	return p[:max(at-1, 0)]
}
