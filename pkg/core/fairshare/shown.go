package fairshare

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Shown returns shares without the zeros of resources that are not shared out, since the rule of a queue above does not count them. A queue below one
// with policy Fair has no share of cpu, which is something else than a share of 0.
func Shown(t queue.Tree, shares []resource.List) []resource.List {
	if allCount(t, shares) {
		return shares
	}
	out := slices.Clone(shares)
	for i := range t.Nodes { // parents come before children
		n := &t.Nodes[i]
		for _, c := range n.Children {
			out[c] = counted(n.Spec.Rule(), out[i], shares[c])
		}
	}
	return out
}

// allCount: each queue shares out all that it has. That is the usual case.
func allCount(t queue.Tree, shares []resource.List) bool {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if len(n.Children) == 0 {
			continue
		}
		rule := n.Spec.Rule()
		for j := range shares[0].Len() {
			if !rule.Counts(shares[0].At(j).Name) {
				return false
			}
		}
	}
	return true
}

// counted is the part of a share of parent's that is above 0 or counts.
func counted(rule queue.Rule, parent, share resource.List) resource.List {
	entries := make([]resource.Entry, 0, share.Len())
	for i := range share.Len() {
		e := share.At(i)
		if _, shared := parent.Lookup(e.Name); e.Value != 0 || shared && rule.Counts(e.Name) {
			entries = append(entries, e)
		}
	}
	return resource.OfSorted(entries)
}
