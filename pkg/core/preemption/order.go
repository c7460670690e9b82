package preemption

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Order sorts claims as they are paid: guarantees first; queues before those above them, so that what is paid inside a queue counts for it; then those
// that were below first; then by path.
func Order(w World, claims []Claim) {
	depth := func(c Claim) int { return strings.Count(string(w.Queues[c.Queue].Path), ".") }
	slices.SortStableFunc(claims, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(depth(b), depth(a)), cmp.Compare(a.Since, b.Since),
			queue.ComparePaths(w.Queues[a.Queue].Path, w.Queues[b.Queue].Path))
	})
}
