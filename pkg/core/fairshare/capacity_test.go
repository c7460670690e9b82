package fairshare_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// parts draws n capacities that sum to 100 percent.
func parts(t *rapid.T, n int) []int64 {
	left, out := queue.Whole/10, make([]int64, n) // in hundredths of a percent
	for i := range out {
		out[i] = left
		if i < n-1 {
			out[i] = rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 3333, 5000}), rapid.Int64Range(0, left)).Draw(t, "capacity")
			out[i] = min(out[i], left)
		}
		left -= out[i]
		out[i] *= 10
	}
	return out
}

// capacityTree draws a tree of three levels below the root. The children of each parent share by capacity or, if weights
// are allowed, by weight.
func capacityTree(t *rapid.T, weights bool) []queue.Declaration {
	all := []queue.Declaration{{Path: queue.Root, Spec: queue.DefaultSpec()}}
	var grow func(p queue.Declaration, levels int)
	grow = func(parent queue.Declaration, levels int) {
		n := rapid.IntRange(1, 3).Draw(t, "children")
		byWeight := weights && rapid.IntRange(0, 2).Draw(t, "by weight if 0") == 0
		capacities := parts(t, n)
		if parent.Spec.Capacity == queue.AtMost(0) {
			clear(capacities)
		}
		for i := range n {
			d := queue.Declaration{Path: parent.Path + queue.Path(fmt.Sprintf(".q%d", i)), Spec: queue.DefaultSpec()}
			if byWeight {
				d.Spec.Weight = rapid.SampledFrom([]int64{0, 1000, 3000}).Draw(t, "weight")
			} else {
				d.Spec.Capacity = queue.AtMost(capacities[i])
			}
			all = append(all, d)
			if levels > 1 && rapid.IntRange(0, 2).Draw(t, "has children unless 0") > 0 {
				grow(d, levels-1)
			}
		}
	}
	grow(all[0], 3)
	return all
}

// The twin of capacities multiplies from the bottom up, and takes the steady share of the queue where the chain of
// capacities begins from the result.
func TestCapacitiesEqualTheirTwin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := resource.Of(
			resource.Entry{Name: resource.CPU, Value: rapid.Int64Range(0, 1_000_000).Draw(t, "cpu")},
			resource.Entry{Name: gpu, Value: rapid.Int64Range(0, 20).Draw(t, "gpu")})
		tree := queue.Build(capacityTree(t, true), nil, total)
		if len(tree.Problems) > 0 {
			t.Fatal(tree.Problems)
		}
		active := make([]bool, len(tree.Nodes))
		for i := range active {
			active[i] = rapid.Bool().Draw(t, "active")
		}
		steady, fair := fairshare.Shares(tree, total, nil), fairshare.Shares(tree, total, active)
		for i, n := range tree.Nodes {
			if !n.Spec.Capacity.Stated {
				continue
			}
			part, top := big.NewRat(1, 1), i
			for ; tree.Nodes[top].Spec.Capacity.Stated; top = tree.Nodes[top].Parent {
				part.Mul(part, big.NewRat(tree.Nodes[top].Spec.Capacity.Most, 100_000))
			}
			runs := hasActive(tree, i, active)
			for r := range total.Len() {
				name := total.At(r).Name
				exact := new(big.Rat).Mul(part, big.NewRat(steady[top].Get(name), 1))
				want := new(big.Int).Quo(exact.Num(), exact.Denom()).Int64()
				if got := steady[i].Get(name); got != want {
					t.Fatalf("the steady share of %s is %d %s, %v of %d are %d", n.Path, got, name, part, steady[top].Get(name), want)
				}
				if !runs {
					want = 0
				}
				if got := fair[i].Get(name); got != want {
					t.Fatalf("the fair share of %s is %d %s, not %d", n.Path, got, name, want)
				}
			}
		}
	})
}

func hasActive(t queue.Tree, i int, active []bool) bool {
	for _, c := range t.Nodes[i].Children {
		if hasActive(t, c, active) {
			return true
		}
	}
	return active[i]
}

// Where every queue is busy, capacities are weights that sum to 100: a tree has the same shares with both, but for what
// weights round on each level.
func TestCapacitiesAreWeightsThatSumToTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		byCapacity := capacityTree(t, false)
		byWeight := make([]queue.Declaration, len(byCapacity))
		for i, d := range byCapacity {
			if byWeight[i] = d; i > 0 {
				byWeight[i].Spec.Weight, byWeight[i].Spec.Capacity = d.Spec.Capacity.Most, queue.Limit{}
			}
		}
		total := resource.Of(resource.Entry{Name: resource.CPU, Value: rapid.Int64Range(0, 1_000_000).Draw(t, "cpu")})
		capacities, weights := queue.Build(byCapacity, nil, total), queue.Build(byWeight, nil, total)
		with, without := fairshare.Shares(capacities, total, nil), fairshare.Shares(weights, total, nil)
		for i, n := range capacities.Nodes {
			depth := int64(n.Path.Depth() - 1)
			if lost := with[i].Get(resource.CPU) - without[i].Get(resource.CPU); lost < 0 || lost > depth {
				t.Fatalf("%s has (%s) by capacity and (%s) by weight", n.Path, with[i], without[i])
			}
		}
	})
}

// Whatever is declared, and whatever was in force before, the shares of siblings never sum to more than their parent has, and
// no queue has more than its maximum.
func TestContradictingCapacitiesKeepThePromises(t *testing.T) {
	t.Parallel()
	limit := rapid.SampledFrom([]queue.Limit{{}, {}, queue.AtMost(0), queue.AtMost(33_330), queue.AtMost(50_000), queue.AtMost(50_050), queue.AtMost(100_000)})
	rapid.Check(t, func(t *rapid.T) {
		declared := capacityTree(t, true)
		for i := range declared {
			d := &declared[i]
			if rapid.IntRange(0, 2).Draw(t, "is changed if 0") == 0 {
				d.Spec.Capacity, d.Spec.MaxCapacity = limit.Draw(t, "capacity"), limit.Draw(t, "maxCapacity")
			}
			d.InForce = queue.Division{Known: rapid.Bool().Draw(t, "known"), Weight: 1000, Capacity: limit.Draw(t, "last capacity"), MaxCapacity: limit.Draw(t, "last max")}
			d.Origin.Placement = rapid.IntRange(0, 5).Draw(t, "created by placement if 0") == 0
		}
		total := resource.Of(resource.Entry{Name: resource.CPU, Value: rapid.Int64Range(0, 1_000_000).Draw(t, "cpu")})
		tree := queue.Build(declared, nil, total)
		steady := fairshare.Shares(tree, total, nil)
		for i, n := range tree.Nodes {
			sum, own := int64(0), steady[i].Get(resource.CPU)
			for _, c := range n.Children {
				sum += steady[c].Get(resource.CPU)
				if stated := tree.Nodes[c].Spec.Capacity.Stated; stated != tree.ByCapacity(i) {
					t.Fatalf("%s has a capacity: %t, and its siblings: %t", tree.Nodes[c].Path, stated, !stated)
				}
			}
			if most, limited := n.Spec.Max.Lookup(resource.CPU); sum > own || limited && own > most {
				t.Fatalf("%s has %d of at most %d, its children %d", n.Path, own, most, sum)
			}
		}
	})
}
