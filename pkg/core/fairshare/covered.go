package fairshare

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// The guarantees of sibling queues may sum to more than their parent has. Each queue still keeps its guarantee as the floor of its
// share. For its siblings that floor counts in full: it was promised among them. For queues outside the parent it counts only as far as
// the parent's own share covers it, in proportion to the children's shares. Otherwise anyone who may set the guarantees inside a queue
// could claim, and keep, what belongs to others.

// CoveredBy returns how much of a queue's share counts for the queues outside. parent is how much of its parent's share counts for
// them, and children is the sum of the shares of all children of that parent. If children is not above parent, all of the share counts.
// The result is rounded down, so what counts of all children never sums to more than parent.
func CoveredBy(share, parent resource.List, children *resource.Sum) resource.List {
	var out []resource.Entry
	for i := range share.Len() {
		e := share.At(i)
		has := max(parent.Get(e.Name), 0)
		if e.Value <= 0 || children.Get(e.Name) <= has {
			continue
		}
		if out == nil {
			out = make([]resource.Entry, share.Len())
			for j := range out {
				out[j] = share.At(j)
			}
		}
		out[i].Value = children.Part(e, has)
	}
	if out == nil {
		return share
	}
	return resource.OfSorted(out)
}

// Overdrawn reports whether the shares of children sum to more than that of their parent.
func Overdrawn(parent resource.List, children *resource.Sum) bool {
	for i := range children.Len() {
		if e := children.At(i); e.Value > max(parent.Get(e.Name), 0) {
			return true
		}
	}
	return false
}

// Covered returns how much of each queue's share counts for other queues, by the index of the queue. Each entry is a list by level:
// element d is what counts for a queue with which the last common ancestor is d levels below the root. Beyond the end of the list, all
// of the share counts. Parents come before their children; the parent of a root is -1.
func Covered(parents []int, shares []resource.List) [][]resource.List {
	children := make([]resource.Sum, len(parents))
	for i, p := range parents {
		if p >= 0 {
			children[p].Add(shares[i])
		}
	}
	depth, overdrawn, out := make([]int, len(parents)), make([]bool, len(parents)), make([][]resource.List, len(parents))
	for i, p := range parents {
		overdrawn[i] = Overdrawn(shares[i], &children[i])
		if p < 0 {
			continue
		}
		depth[i] = depth[p] + 1
		levels := len(out[p])
		if overdrawn[p] {
			levels = depth[p]
		}
		for d := range levels {
			switch {
			case d < len(out[p]):
				out[i] = append(out[i], CoveredBy(shares[i], out[p][d], &children[p]))
			case d > len(out[p]): // as the one before
				out[i] = append(out[i], out[i][d-1])
			default:
				out[i] = append(out[i], CoveredBy(shares[i], shares[p], &children[p]))
			}
		}
	}
	return out
}
