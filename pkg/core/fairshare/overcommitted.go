package fairshare

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Overcommitted reports the queues whose children are guaranteed more together than the queue can count on: its own
// guarantee where it states one, else its steady share, which for the root is the whole cluster. Each child keeps its
// guarantee as its floor all the same. It reports the first resource of each queue that counts. A cluster without any resources
// is no reason to report anything.
//
// steady are the steady shares, by node index: see Shares.
func Overcommitted(t queue.Tree, steady []resource.List) []queue.Problem {
	var out []queue.Problem
	for i := range t.Nodes {
		n := &t.Nodes[i]
		var children resource.Sum
		for _, c := range n.Children {
			children.Add(t.Nodes[c].Spec.Guaranteed)
		}
		if why, over := overcommitted(n, n.Spec.Calculator.Of(children.List()), steady[i], steady[0].Len() == 0); over {
			out = append(out, queue.Problem{Path: n.Path, Reason: why})
		}
	}
	return out
}

func overcommitted(n *queue.Node, children, steady resource.List, noCluster bool) (reason.Reason, bool) {
	for j := range children.Len() {
		sum := children.At(j)
		why := reason.Reason{Code: reason.Overcommitted, Queue: string(n.Path), Resource: sum.Name}
		own, stated := n.Spec.Guaranteed.Lookup(sum.Name)
		share := steady.Get(sum.Name)
		switch {
		case stated && sum.Value > own:
			why.Details = reason.Guarantees{Guaranteed: own, Children: sum.Value}
			return why, true
		case !stated && !noCluster && sum.Value > share:
			why.Details = reason.Divided{Share: share, Children: sum.Value}
			return why, true
		}
	}
	return reason.Reason{}, false
}
