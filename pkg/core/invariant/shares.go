package invariant

import (
	"fmt"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Shares checks the shares of a tree, by node index. Each is 0 or between the
// queue's guarantee and its max, and the shares of a level sum to no more than the
// parent's, unless the guarantees alone do.
func Shares(t queue.Tree, shares []resource.List) []string {
	var out []string
	for i, n := range t.Nodes {
		for r := range shares[i].Len() {
			out = append(out, withinBounds(n, shares[i].At(r), t.Nodes)...)
		}
		for r := range shares[i].Len() {
			out = append(out, level(t, shares, i, shares[i].At(r))...)
		}
	}
	return out
}

// withinBounds checks one amount. The root's share is the cluster, whatever it is
// guaranteed.
func withinBounds(n queue.Node, share resource.Entry, nodes []queue.Node) []string {
	floor := n.Spec.Guaranteed.Get(share.Name)
	limit, limited := n.Spec.Max.Lookup(share.Name)
	text := resource.Format(share.Name, share.Value)
	switch {
	case share.Value < 0:
		return []string{fmt.Sprintf("queue %s: its share of %s is negative (%s)", n.Path, share.Name, text)}
	case limited && share.Value > max(limit, floor):
		return []string{fmt.Sprintf("queue %s: its share of %s is %s, above its max of %s",
			n.Path, share.Name, text, resource.Format(share.Name, limit))}
	case n.Parent >= 0 && share.Value > 0 && share.Value < floor:
		return []string{fmt.Sprintf("queue %s below %s: its share of %s is %s, under its guarantee of %s",
			n.Path, nodes[n.Parent].Path, share.Name, text, resource.Format(share.Name, floor))}
	}
	return nil
}

// level checks the children of one queue in one resource.
func level(t queue.Tree, shares []resource.List, parent int, own resource.Entry) []string {
	var sum, floors int64
	for _, c := range t.Nodes[parent].Children {
		share := shares[c].Get(own.Name)
		sum = resource.SatAdd(sum, share)
		if share > 0 { // an inactive child has no floor
			floors = resource.SatAdd(floors, t.Nodes[c].Spec.Guaranteed.Get(own.Name))
		}
	}
	if sum <= max(own.Value, floors) {
		return nil
	}
	return []string{fmt.Sprintf("queue %s: its share of %s is %s, but its children's shares sum to %s",
		t.Nodes[parent].Path, own.Name, resource.Format(own.Name, own.Value), resource.Format(own.Name, sum))}
}

// NotLess checks that no share went down, for changes that may only give: a larger
// total to every queue, a larger weight or guarantee to the queue itself. Both slices
// have the same order; what says which change it was.
func NotLess(what string, before, after []resource.List) []string {
	var out []string
	for i := range before {
		if !before[i].Fits(after[i]) {
			out = append(out, fmt.Sprintf("%s: share %d went down from (%s) to (%s)", what, i, before[i], after[i]))
		}
	}
	return out
}
