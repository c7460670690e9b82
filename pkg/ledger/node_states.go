package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// NodeState is what a node has, and what is taken of it.
type NodeState struct {
	Node
	Known bool // false: only its pods are left
	// Ours and Foreign is what pods take that are on it, or that are to be. Nominated is what is kept for pods that have not started.
	Ours, Foreign, Nominated resource.List
	OnNode                   int // pods, with those that are to be on it
}

// Free is what no pod takes, and what is kept for none.
func (s NodeState) Free() resource.List {
	return s.Allocatable.Sub(s.Ours).Sub(s.Foreign).Sub(s.Nominated).Max(resource.List{})
}

// Nodes returns the nodes by name.
func (l *Ledger) Nodes() []NodeState {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]NodeState, 0, len(l.nodes.byName))
	for _, e := range l.nodes.byName { // sorted below
		s := NodeState{Node: e.Node, Known: e.known, Foreign: e.foreign.List(), OnNode: e.assumed + e.foreignPods}
		var nominated resource.Sum
		for _, r := range e.on {
			if r.nomination != nil && !r.state.charged() && r.assumedOn == e {
				nominated.Add(r.Request)
			}
		}
		s.Nominated = nominated.List()
		s.Ours = e.used.List().Sub(s.Foreign).Sub(s.Nominated)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b NodeState) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
