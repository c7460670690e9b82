package fairshare

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// A queue keeps its guarantee as its floor even if the guarantees at its level are more than their parent has. Among its siblings that floor counts in full:
// who set their guarantees has promised them to each other. To queues outside the parent it counts only as far as the parent's own share covers it, in the
// proportion of the children's shares. Else anyone who may set the guarantees inside a queue could claim and keep what is of others.

// CoveredBy is what is covered of the share of a queue if parent is covered of that of its parent: all of it, unless the shares of the children, which sum
// up to children, are more than that. It is rounded down, so what is covered of all children never is more than parent.
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

// Covered says how much of the share of each queue counts for the queues outside its ancestors. Queues are known by their indices, parents come before
// their children, and the parent of a root is -1. The result has for each queue a list: at index d is what counts if the last ancestor that it has in common
// with the other queue is d levels below the root. From the end of the list on, all of its share counts.
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
