package preemption

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Order returns the claims in the order in which they are paid: guarantees before fair shares, the claim of a queue before those of the
// queues above it (it is part of theirs), then the longest wait first, then by path.
func Order(w World, claims []Claim) []Claim {
	out := slices.Clone(claims)
	slices.SortStableFunc(out, func(a, b Claim) int {
		p, q := w.Queues[a.Queue].Path, w.Queues[b.Queue].Path
		return cmp.Or(
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(q.Depth(), p.Depth()),
			cmp.Compare(a.Since, b.Since),
			queue.ComparePaths(p, q))
	})
	return out
}

// inOrder returns the indices of items in sorted order. Items are nearly always sorted already, so it looks before it sorts.
func inOrder[T any](items []T, compare func(a, b *T) int) []int {
	out := make([]int, len(items))
	sorted := true
	for i := range items {
		out[i] = i
		sorted = sorted && (i == 0 || compare(&items[i-1], &items[i]) <= 0)
	}
	if !sorted {
		slices.SortStableFunc(out, func(a, b int) int { return compare(&items[a], &items[b]) })
	}
	return out
}

func byName(a, b *Node) int { return cmp.Compare(a.Name, b.Name) }

func byUID(a, b *Candidate) int { return cmp.Compare(a.UID, b.UID) }
