package fairshare_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestCoveredBy(t *testing.T) {
	cpu := func(v int64) resource.List { return of("cpu", v) }
	memory := func(v int64) resource.List { return of("memory", v) }
	for name, c := range map[string]struct {
		share, parent resource.List
		siblings      []resource.List
		want          resource.List
	}{
		"within the parent's share":              {share: cpu(4), parent: cpu(10), siblings: []resource.List{cpu(6)}, want: cpu(4)},
		"more than the parent has":               {share: cpu(1000), parent: cpu(5), want: cpu(5)},
		"in proportion":                          {share: cpu(8), parent: cpu(6), siblings: []resource.List{cpu(4)}, want: cpu(4)},
		"rounded down":                           {share: cpu(1), parent: cpu(2), siblings: []resource.List{cpu(1), cpu(1)}, want: cpu(0)},
		"each resource by itself":                {share: cpu(8).Add(memory(8)), parent: cpu(4).Add(memory(8)), want: cpu(4).Add(memory(8))},
		"of what the parent has none":            {share: cpu(3), parent: memory(8), want: cpu(0)},
		"a parent that owes":                     {share: cpu(3), parent: cpu(-2), want: cpu(0)},
		"a child without a share":                {share: cpu(0), parent: cpu(2), siblings: []resource.List{cpu(8)}, want: cpu(0)},
		"sums past the end":                      {share: cpu(math.MaxInt64), parent: cpu(12), siblings: []resource.List{cpu(math.MaxInt64), cpu(math.MaxInt64)}, want: cpu(3)},
		"past the end, and next to nothing":      {share: cpu(1), parent: cpu(12), siblings: []resource.List{cpu(math.MaxInt64), cpu(math.MaxInt64)}, want: cpu(0)},
		"two, and the sum just fits into int64":  {share: cpu(math.MaxInt64 - 1), parent: cpu(7), siblings: []resource.List{cpu(1)}, want: cpu(6)},
		"two, and the sum just does not do that": {share: cpu(math.MaxInt64 - 1), parent: cpu(7), siblings: []resource.List{cpu(2)}, want: cpu(6)},
	} {
		t.Run(name, func(t *testing.T) {
			var all resource.Sum
			all.Add(c.share)
			for _, s := range c.siblings {
				all.Add(s)
			}
			if got := fairshare.CoveredBy(c.share, c.parent, &all); !got.Equal(c.want) {
				t.Errorf("covered is (%s), not (%s)", got, c.want)
			}
		})
	}
}

// The tree is root, root.a (6), root.b (6), root.a.x (8), root.a.y (4), root.a.x.p (3), root.a.x.q (5).
func TestCovered(t *testing.T) {
	cpu := func(v int64) resource.List { return of("cpu", v) }
	got := fairshare.Covered([]int{-1, 0, 1, 2, 2, 1, 0}, []resource.List{cpu(12), cpu(6), cpu(8), cpu(3), cpu(5), cpu(4), cpu(6)})
	want := [][]resource.List{
		0: nil, 1: nil,
		2: {cpu(4)}, // 8 of 12 for which root.a has 6
		3: {cpu(1)}, // 3 of 8 for which root.a.x has 4: 1.5. Inside root.a it has all 3.
		4: {cpu(2)},
		5: {cpu(2)},
		6: nil,
	}
	for i := range want {
		if len(got[i]) != len(want[i]) || len(want[i]) == 1 && !got[i][0].Equal(want[i][0]) {
			t.Errorf("of queue %d (%v) is covered, not (%v)", i, got[i], want[i])
		}
	}
}

// coverage is a tree of shares, up to five levels deep.
type coverage struct {
	parents []int
	shares  []resource.List
}

func coverages(amount *rapid.Generator[int64]) *rapid.Generator[coverage] {
	return rapid.Custom(func(t *rapid.T) (c coverage) {
		depth := []int{0}
		for i := range rapid.IntRange(1, 12).Draw(t, "queues") {
			parent := -1
			if i > 0 {
				if parent = rapid.IntRange(0, i-1).Draw(t, "parent"); depth[parent] > 4 {
					parent = 0
				}
				depth = append(depth, depth[parent]+1)
			}
			c.parents = append(c.parents, parent)
			c.shares = append(c.shares, of("cpu", amount.Draw(t, "cpu")).Add(of("memory", amount.Draw(t, "memory"))))
		}
		return c
	})
}

func (c coverage) path(q int) (path []int) {
	for ; q >= 0; q = c.parents[q] {
		path = append([]int{q}, path...)
	}
	return path
}

// twin is what is covered of the share of a queue for others that it meets at a depth, as a fraction that is rounded down at each level.
func (c coverage) twin(q, at int, name resource.Name) *big.Int {
	path, own := c.path(q), big.NewInt(c.shares[q].Get(name))
	if len(path) <= at+2 {
		return own
	}
	all := new(big.Int)
	for s, p := range c.parents {
		if p == c.parents[q] {
			all.Add(all, big.NewInt(c.shares[s].Get(name)))
		}
	}
	has := c.twin(c.parents[q], at, name)
	if all.Cmp(has) <= 0 {
		return own
	}
	return own.Quo(own.Mul(own, has), all)
}

func TestCoveredEqualsItsTwin(t *testing.T) {
	t.Parallel()
	worlds := coverages(rapid.Int64Range(0, 40))
	rapid.Check(t, func(t *rapid.T) {
		c := worlds.Draw(t, "tree")
		got := fairshare.Covered(c.parents, c.shares)
		for q := range c.parents {
			for at := range len(c.path(q)) - 1 {
				is := c.shares[q]
				if at < len(got[q]) {
					is = got[q][at]
				}
				for _, name := range []resource.Name{"cpu", "memory"} {
					if want := c.twin(q, at, name); want.Cmp(big.NewInt(is.Get(name))) != 0 {
						t.Fatalf("of queue %d, met at depth %d, %d %s are covered, in the twin %s", q, at, is.Get(name), name, want)
					}
				}
			}
		}
	})
}

// What must hold at any size: children have no more than their parent for anybody outside it, nobody has more than its share, and what is nearer sees no less.
func TestCoveredKeepsItsPromises(t *testing.T) {
	t.Parallel()
	worlds := coverages(rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, math.MaxInt64)))
	rapid.Check(t, func(t *rapid.T) {
		c := worlds.Draw(t, "tree")
		got := fairshare.Covered(c.parents, c.shares)
		at := func(q, d int) resource.List {
			if d < len(got[q]) {
				return got[q][d]
			}
			return c.shares[q]
		}
		for q := range c.parents {
			for d := range max(len(c.path(q))-2, 0) {
				if !at(q, d).Fits(at(q, d+1)) || !at(q, d).Fits(c.shares[q]) {
					t.Fatalf("queue %d: (%s) at %d, (%s) at the next level, of (%s)", q, at(q, d), d, at(q, d+1), c.shares[q])
				}
			}
			for d := range len(c.path(q)) - 1 { // of its children
				var all resource.List
				for s, p := range c.parents {
					if p == q {
						all = all.Add(at(s, d))
					}
				}
				if !all.Fits(at(q, d)) {
					t.Fatalf("queue %d has (%s) at %d, its children (%s)", q, at(q, d), d, all)
				}
			}
		}
	})
}

// Where no guarantees are too much, all is as if nothing had to be covered.
func TestSharesThatFitAreCovered(t *testing.T) {
	t.Parallel()
	worlds := hugeWorlds()
	rapid.Check(t, func(t *rapid.T) {
		w := worlds.Draw(t, "world")
		for i := range w.declared {
			w.declared[i].Spec.Guaranteed, w.declared[i].Percent.Guaranteed = resource.List{}, resource.List{}
		}
		tr, active := w.tree()
		var parents []int
		for _, n := range tr.Nodes {
			parents = append(parents, n.Parent)
		}
		for i, c := range fairshare.Covered(parents, fairshare.Shares(tr, w.total, active)) {
			if len(c) > 0 {
				t.Fatalf("%s: less than its share is covered: %v", tr.Nodes[i].Path, c)
			}
		}
	})
}
