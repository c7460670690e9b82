package queue_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

type world struct {
	declared []queue.Declaration
	occupied []queue.Occupancy
}

func worlds() *rapid.Generator[world] {
	amount := rapid.SampledFrom([]resource.List{{}, cpu(0), cpu(1), cpu(5), memory(2), cpu(2).Add(memory(1))})
	declarations := rapid.Custom(func(t *rapid.T) queue.Declaration {
		return queue.Declaration{
			Path: rapid.OneOf(paths(), rapid.Just(queue.Path("root.A")), rapid.Just(queue.Path("b"))).Draw(t, "path"),
			Spec: queue.Spec{
				Weight:     rapid.SampledFrom([]int64{0, 1000, 3000}).Draw(t, "weight"),
				Guaranteed: amount.Draw(t, "guaranteed"),
				Max:        amount.Draw(t, "max"),
				Policy:     rapid.SampledFrom([]queue.Policy{queue.DominantResourceFairness, queue.Fair, queue.FIFO}).Draw(t, "policy"),
			},
			PolicyInForce: rapid.SampledFrom([]queue.Policy{queue.DominantResourceFairness, queue.Fair, queue.FIFO}).Draw(t, "last good policy"),
			Created:       rapid.Int64Range(1, 4).Draw(t, "created"),
			Deleting:      rapid.Bool().Draw(t, "deleting"),
		}
	})
	occupancies := rapid.Custom(func(t *rapid.T) queue.Occupancy {
		return queue.Occupancy{
			Path:          paths().Draw(t, "path"),
			Charged:       rapid.Bool().Draw(t, "charged"),
			OldestWaiting: rapid.SampledFrom([]int64{1, 2, 3, 4, never}).Draw(t, "oldest waiting"),
		}
	})
	return rapid.Custom(func(t *rapid.T) world {
		byPath := func(d queue.Declaration) queue.Path { return d.Path }
		return world{
			declared: rapid.SliceOfNDistinct(declarations, 0, 12, byPath).Draw(t, "declared"),
			occupied: rapid.SliceOfN(occupancies, 0, 4).Draw(t, "occupied"),
		}
	})
}

func TestTheOrderOfInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		want := queue.Build(w.declared, w.occupied, resource.List{})
		got := queue.Build(
			rapid.Permutation(w.declared).Draw(t, "declared, shuffled"),
			rapid.Permutation(w.occupied).Draw(t, "occupied, shuffled"), resource.List{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order gave another tree:\n%s", diff)
		}
	})
}

func TestBuildLeavesItsInputAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		declared, occupied := slices.Clone(w.declared), slices.Clone(w.occupied)
		queue.Build(w.declared, w.occupied, resource.List{})
		if diff := cmp.Diff(declared, w.declared); diff != "" {
			t.Fatalf("declarations changed:\n%s", diff)
		}
		if !slices.Equal(occupied, w.occupied) {
			t.Fatal("occupancies changed")
		}
	})
}

func TestEveryTreeIsATree(t *testing.T) { rapid.Check(t, isATree) }

func isATree(t *rapid.T) {
	w := worlds().Draw(t, "world")
	tree := queue.Build(w.declared, w.occupied, resource.List{})
	if len(tree.Nodes) == 0 || tree.Nodes[0].Path != queue.Root || tree.Nodes[0].Parent != -1 {
		t.Fatal("the first node is not the root")
	}
	for i, n := range tree.Nodes {
		if i > 0 {
			if queue.ComparePaths(tree.Nodes[i-1].Path, n.Path) >= 0 {
				t.Fatalf("%s is out of order", n.Path)
			}
			if parent := tree.Nodes[n.Parent]; parent.Path != n.Path.Parent() || !slices.Contains(parent.Children, i) {
				t.Fatalf("%s does not hang on its parent", n.Path)
			}
		}
		for _, c := range n.Children {
			if tree.Nodes[c].Parent != i {
				t.Fatalf("%s has a child that hangs elsewhere: %s", n.Path, tree.Nodes[c].Path)
			}
		}
		if !slices.IsSorted(n.Children) {
			t.Fatalf("the children of %s are out of order: %v", n.Path, n.Children)
		}
		if n.Accepting && (!n.Declared || len(n.Children) > 0 || n.Path == queue.Root) {
			t.Fatalf("%s takes pods: %+v", n.Path, n)
		}
		if len(n.Children) > 0 && n.Spec.Policy == queue.FIFO {
			t.Fatalf("%s has children and FIFO", n.Path)
		}
		for r := range n.Spec.Max.Len() {
			if e := n.Spec.Max.At(r); e.Value < n.Spec.Guaranteed.Get(e.Name) {
				t.Fatalf("%s: max %v is below guaranteed %v", n.Path, n.Spec.Max, n.Spec.Guaranteed)
			}
		}
	}
}

// Every declared queue is in the tree or blocked, and blocked for a stated reason.
func TestNoQueueIsLost(t *testing.T) {
	blocking := []reason.Code{reason.ParentMissing, reason.ParentHasPods, reason.QueueNotReady, reason.QueueNameInvalid}
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		tree := queue.Build(w.declared, w.occupied, resource.List{})
		var because []queue.Path
		for i, p := range tree.Problems {
			if i > 0 && queue.ComparePaths(tree.Problems[i-1].Path, p.Path) > 0 {
				t.Fatalf("problems are out of order at %s", p.Path)
			}
			if slices.Contains(blocking, p.Reason.Code) {
				because = append(because, p.Path)
			}
		}
		if !slices.Equal(because, tree.Blocked) {
			t.Fatalf("blocked: %v, but reasons are given for %v", tree.Blocked, because)
		}
		for _, d := range w.declared {
			_, in := tree.Find(d.Path)
			if in == slices.Contains(tree.Blocked, d.Path) {
				t.Fatalf("%s: in the tree %t, and blocked %t", d.Path, in, in)
			}
		}
		for _, o := range w.occupied {
			for _, p := range append(o.Path.Ancestors(), o.Path) {
				if i, ok := tree.Find(p); o.Charged && !ok {
					t.Fatalf("%s has charged pods at or below it and is not in the tree", p)
				} else if ok && !tree.Nodes[i].Declared && p != queue.Root && tree.Nodes[i].Spec.Weight != 0 {
					t.Fatalf("%s is not declared and has weight", p)
				}
			}
		}
	})
}

// FuzzBuild lets the fuzzer choose the declarations and occupancies.
func FuzzBuild(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(isATree))
}

// The pods that run, and the parents that hold some, do not change: declaring one more queue never takes
// another out of the tree.
func TestOneMoreQueueBlocksNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds().Draw(t, "world")
		if len(w.declared) == 0 {
			return
		}
		before := queue.Build(w.declared[1:], w.occupied, resource.List{})
		after := queue.Build(w.declared, w.occupied, resource.List{})
		for _, n := range before.Nodes {
			if _, ok := after.Find(n.Path); !ok {
				t.Fatalf("%s left the tree when %s was declared", n.Path, w.declared[0].Path)
			}
		}
	})
}
