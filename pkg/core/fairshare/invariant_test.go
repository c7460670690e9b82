package fairshare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// brokenShares checks the shares of a tree, by node index. Each share is 0 or between the queue's guarantee
// and its max. The shares of a level sum to at most the parent's, unless the guarantees alone exceed it.
func brokenShares(t queue.Tree, shares []resource.List) []string {
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

// withinBounds checks one amount. The root's share is the cluster, whatever its guarantee.
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

// level checks the children of one queue for one resource.
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

// wentDown checks that no share went down, for changes that may only give: a larger total to every queue, a
// larger weight or guarantee to the queue itself. Both slices have the same order; what names the change.
func wentDown(what string, before, after []resource.List) []string {
	var out []string
	for i := range before {
		if !before[i].Fits(after[i]) {
			out = append(out, fmt.Sprintf("%s: share %d went down from (%s) to (%s)", what, i, before[i], after[i]))
		}
	}
	return out
}

// wantBroken expects one sentence with each of these parts, and no other.
func wantBroken(t *testing.T, got []string, parts ...string) {
	t.Helper()
	if len(got) != len(parts) {
		t.Fatalf("got %q, want %d sentences", got, len(parts))
	}
	for i, part := range parts {
		if !strings.Contains(got[i], part) {
			t.Errorf("got %q, want it to say %q", got[i], part)
		}
	}
}

func TestSharesThatBreakTheirPromisesAreFound(t *testing.T) {
	spec := queue.DefaultSpec()
	spec.Guaranteed, spec.Max = cpu(4), cpu(8)
	tree := queue.Build([]queue.Declaration{
		{Path: "root", Spec: queue.DefaultSpec()}, {Path: "root.a", Spec: spec}, {Path: "root.b", Spec: spec},
	}, nil, resource.List{})
	for name, c := range map[string]struct {
		root, a, b resource.List
		want       []string
	}{
		"a level that adds up":              {cpu(10), cpu(5), cpu(5), nil},
		"a level that leaves some":          {cpu(99), cpu(8), cpu(8), nil},
		"guarantees that are too much":      {cpu(5), cpu(4), cpu(4), nil},
		"an idle child below its guarantee": {cpu(8), cpu(0), cpu(8), nil},
		"a level that hands out too much":   {cpu(10), cpu(6), cpu(5), []string{"queue root: its share of cpu is 10, but its children's shares sum to 11"}},
		"an idle child's guarantee is no excuse": {
			cpu(5), cpu(0), cpu(6), []string{"queue root: its share of cpu is 5, but its children's shares sum to 6"}},
		"a share above max":         {cpu(20), cpu(9), cpu(8), []string{"queue root.a: its share of cpu is 9, above its max of 8"}},
		"a share below a guarantee": {cpu(20), cpu(3), cpu(8), []string{"queue root.a below root: its share of cpu is 3, under its guarantee of 4"}},
		"a share below nothing":     {cpu(20), cpu(-1), cpu(8), []string{"queue root.a: its share of cpu is negative (-1)"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantBroken(t, brokenShares(tree, []resource.List{c.root, c.a, c.b}), c.want...)
		})
	}
}

func TestAShareThatWentDownIsFound(t *testing.T) {
	before := []resource.List{cpu(1), cpu(2)}
	wantBroken(t, wentDown("more cores", before, []resource.List{cpu(1), cpu(3)}))
	wantBroken(t, wentDown("more cores", before, []resource.List{cpu(2), cpu(1)}),
		"more cores: share 1 went down from (cpu=2) to (cpu=1)")
}
