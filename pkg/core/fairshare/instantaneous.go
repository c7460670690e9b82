package fairshare

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// withAncestors returns who counts in an instantaneous share: a queue is active when
// an application may run in it or anywhere below it. A caller that marks the ancestors
// itself gets the same answer. Without a list everybody counts, which is what makes a
// share steady.
func withAncestors(t queue.Tree, active []bool) []bool {
	out := make([]bool, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- { // children come after parents
		if active == nil || active[i] {
			out[i] = true
		}
		if parent := t.Nodes[i].Parent; out[i] && parent >= 0 {
			out[parent] = true
		}
	}
	return out
}
