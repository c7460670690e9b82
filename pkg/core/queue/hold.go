package queue

import "slices"

// Hold is nodes that are held for pods of a queue, as the status of the queue shows it: no other pods get these nodes meanwhile.
type Hold struct {
	// PodGroup is the group that waits for room there: namespace/name, with the API group behind it where that is Kubernetes' own.
	PodGroup string
	// Pod is the first of the large pods that wait for these nodes, namespace/name; "" where they are held for a PodGroup.
	Pod   string
	Nodes []string // names, sorted
	// Since is since when it has waited for room, Until is when the nodes are given back at the latest; unix nanoseconds.
	Since, Until int64
}

// Equal reports whether both are the same.
func (h Hold) Equal(o Hold) bool {
	return h.PodGroup == o.PodGroup && h.Pod == o.Pod && h.Since == o.Since && h.Until == o.Until && slices.Equal(h.Nodes, o.Nodes)
}

// SameHolds reports whether two lists are the same.
func SameHolds(a, b []Hold) bool { return slices.EqualFunc(a, b, Hold.Equal) }
