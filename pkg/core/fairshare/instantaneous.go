package fairshare

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// withAncestors returns which queues count in an instantaneous share: a queue is active if an application may
// run in it or anywhere below it. A list that has the ancestors already stays the same. Without a list every
// queue counts, which makes the shares steady.
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
