package fairshare_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const gpu resource.Name = "example.com/gpu"

// world is a tree as it was declared, the cluster that it shares, and the queues that have an application.
type world struct {
	declared []queue.Declaration
	total    resource.List
	active   []queue.Path
}

// tree returns the tree and, by node, which queues are active.
func (w world) tree() (queue.Tree, []bool) {
	tr := queue.Build(w.declared, nil, w.total)
	active := make([]bool, len(tr.Nodes))
	for _, p := range w.active {
		i, _ := tr.Find(p)
		active[i] = true
	}
	return tr, active
}

func within(p, ancestor queue.Path) bool {
	return p == ancestor || strings.HasPrefix(string(p), string(ancestor)+".")
}

func parentOf(p queue.Path) queue.Path {
	return p[:max(0, strings.LastIndex(string(p), "."))]
}

func (w world) counts(p queue.Path) bool {
	return slices.ContainsFunc(w.active, func(a queue.Path) bool { return within(a, p) })
}

// divides is the one resource that a queue divides among its children, "" for all: that of the topmost Fair
// queue on the path down to it.
func (w world) divides(p queue.Path) resource.Name {
	if p == "" {
		return ""
	}
	if above := w.divides(parentOf(p)); above != "" {
		return above
	}
	spec := w.declared[w.find(p)].Spec
	switch {
	case spec.Policy != queue.Fair:
		return ""
	case spec.FairResource == "":
		return resource.Memory
	}
	return spec.FairResource
}

func (w world) find(p queue.Path) int {
	return slices.IndexFunc(w.declared, func(d queue.Declaration) bool { return d.Path == p })
}

// bounds are the floor and the cap of a queue, with its percentages worked out.
func (w world) bounds(p queue.Path, r resource.Name) (floor, limit int64) {
	d := w.declared[w.find(p)]
	part := func(thousandths int64) int64 {
		v := new(big.Int).Mul(big.NewInt(w.total.Get(r)), big.NewInt(thousandths))
		return v.Div(v, big.NewInt(100_000)).Int64()
	}
	floor, limit = d.Spec.Guaranteed.Get(r)+part(d.Percent.Guaranteed.Get(r)), unlimited
	if v, stated := d.Spec.Max.Lookup(r); stated {
		limit = v
	}
	if v, stated := d.Percent.Max.Lookup(r); stated {
		limit = part(v)
	}
	return floor, max(floor, limit)
}

// twin divides level by level, one unit at a time, from what was declared.
func (w world) twin() map[queue.Path]resource.List {
	out := map[queue.Path]resource.List{}
	for i := range w.total.Len() {
		e := w.total.At(i)
		_, limit := w.bounds(queue.Root, e.Name)
		w.twinBelow(queue.Root, resource.Entry{Name: e.Name, Value: min(e.Value, limit)}, out)
	}
	return out
}

func (w world) twinBelow(p queue.Path, share resource.Entry, out map[queue.Path]resource.List) {
	out[p] = out[p].Add(resource.Of(share))
	var children []queue.Path
	var claimants []fairshare.Claimant
	for _, d := range w.declared {
		if parentOf(d.Path) == p {
			floor, limit := w.bounds(d.Path, share.Name)
			children = append(children, d.Path)
			claimants = append(claimants, fairshare.Claimant{Weight: d.Spec.Weight, Min: floor, Max: limit, Active: w.counts(d.Path)})
		}
	}
	shares := make([]int64, len(children))
	if one := w.divides(p); one == "" || one == share.Name {
		shares = twin(share.Value, claimants)
	}
	for i, child := range children {
		w.twinBelow(child, resource.Entry{Name: share.Name, Value: shares[i]}, out)
	}
}

type stating struct{ absolute, percent resource.List }

// stated draws amounts as a Queue may state them: some resources absolute, others in
// percent of the cluster, others not at all.
func stated(amount *rapid.Generator[int64]) *rapid.Generator[stating] {
	parts := rapid.OneOf(rapid.SampledFrom([]int64{12_500, 33_333, 50_000, 100_000}), rapid.Int64Range(0, 100_000))
	one := func(t *rapid.T, name resource.Name, g *rapid.Generator[int64]) resource.List {
		return resource.Of(resource.Entry{Name: name, Value: g.Draw(t, string(name))})
	}
	return rapid.Custom(func(t *rapid.T) (out stating) {
		switch rapid.IntRange(0, 7).Draw(t, "what is stated") {
		case 1:
			out.absolute = one(t, resource.CPU, amount)
		case 2:
			out.absolute = one(t, resource.Memory, amount)
		case 3:
			out.absolute = one(t, resource.CPU, amount).Add(one(t, gpu, amount))
		case 4:
			out.percent = one(t, resource.CPU, parts)
		case 5:
			out.percent = one(t, resource.Memory, parts).Add(one(t, gpu, parts))
		case 6:
			out.absolute, out.percent = one(t, resource.CPU, amount), one(t, resource.Memory, parts)
		}
		return out
	})
}

func worlds(amount, weight *rapid.Generator[int64]) *rapid.Generator[world] {
	policies := []queue.Spec{
		{Policy: queue.Unstated}, {Policy: queue.Unstated}, {Policy: queue.DominantResourceFairness}, {Policy: queue.FIFO},
		{Policy: queue.Fair}, {Policy: queue.Fair, FairResource: resource.CPU}, {Policy: queue.Fair, FairResource: gpu},
	}
	amounts := stated(amount)
	return rapid.Custom(func(t *rapid.T) (w world) {
		declare := func(p queue.Path) {
			spec := rapid.SampledFrom(policies).Draw(t, string(p)+" policy")
			spec.Weight = weight.Draw(t, "weight")
			guaranteed, limit := amounts.Draw(t, "guaranteed"), amounts.Draw(t, "max")
			spec.Guaranteed, spec.Max = guaranteed.absolute, limit.absolute
			w.declared = append(w.declared, queue.Declaration{
				Path: p, Spec: spec, Percent: queue.Percent{Guaranteed: guaranteed.percent, Max: limit.percent},
			})
			if rapid.IntRange(0, 3).Draw(t, "active unless 0") > 0 {
				w.active = append(w.active, p)
			}
		}
		declare(queue.Root)
		for _, p := range []queue.Path{"root.a", "root.b", "root.c"} {
			declare(p)
			for _, child := range []queue.Path{".x", ".y"}[:rapid.IntRange(0, 2).Draw(t, "children")] {
				declare(p + child)
			}
		}
		for _, name := range []resource.Name{resource.CPU, resource.Memory, gpu}[:rapid.IntRange(1, 3).Draw(t, "resources")] {
			w.total = w.total.Add(resource.Of(resource.Entry{Name: name, Value: amount.Draw(t, string(name))}))
		}
		return w
	})
}

func smallWorlds() *rapid.Generator[world] {
	return worlds(rapid.Int64Range(0, 60), rapid.SampledFrom([]int64{0, 1, 250, 1000, 1000, 2000, 3000}))
}

// hugeWorlds have amounts and weights of any size, also beyond what a Queue may say.
func hugeWorlds() *rapid.Generator[world] {
	return worlds(
		rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 1 << 60, unlimited}), rapid.Int64Range(0, 1<<61)),
		rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 1000, 1_000_000_000}), rapid.Int64Range(0, 1<<58)))
}

func TestSharesEqualTheirTwin(t *testing.T) {
	t.Parallel()
	worlds := smallWorlds()
	rapid.Check(t, func(t *rapid.T) {
		w := worlds.Draw(t, "world")
		tr, active := w.tree()
		equalTwin(t, w, tr, fairshare.Shares(tr, w.total, active))
		// "This value is equal to the Steady FairShare when all queues are at or beyond
		// capacity."
		w.active = nil
		for _, d := range w.declared {
			w.active = append(w.active, d.Path)
		}
		equalTwin(t, w, tr, fairshare.Shares(tr, w.total, nil))
	})
}

func equalTwin(t *rapid.T, w world, tr queue.Tree, got []resource.List) {
	if len(got) != len(w.declared) {
		t.Fatalf("%d queues have shares, %d are declared", len(got), len(w.declared))
	}
	want := w.twin()
	for i, n := range tr.Nodes {
		if !got[i].Equal(want[n.Path]) || got[i].Len() != w.total.Len() {
			t.Fatalf("%s has (%s), in the twin (%s)", n.Path, got[i], want[n.Path])
		}
	}
}

// What must hold at any size.
func TestSharesOfHugeAmountsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	worlds := hugeWorlds()
	rapid.Check(t, func(t *rapid.T) {
		w := worlds.Draw(t, "world")
		tr, active := w.tree()
		shares := fairshare.Shares(tr, w.total, active)
		for i := range w.total.Len() {
			checkSums(t, w, tr, shares, w.total.At(i))
		}
		for _, broken := range brokenShares(tr, shares) {
			t.Error(broken)
		}
		checkNames(t, w, tr, shares)
		checkTotal(t, w, tr, active, shares)
		checkWeight(t, w, tr, active, shares) // changes the tree
	})
}

// checkSums: a level sums to at most its parent's share or, if they are more, to the guarantees. Each active
// queue has its guarantee, no queue has more than its max, and an inactive queue has nothing.
func checkSums(t *rapid.T, w world, tr queue.Tree, shares []resource.List, total resource.Entry) {
	if root := shares[0].Get(total.Name); root < 0 || root > total.Value {
		t.Fatalf("root has %d %s of %d", root, total.Name, total.Value)
	}
	for i, n := range tr.Nodes {
		sum, floors := new(big.Int), new(big.Int)
		for _, child := range n.Children {
			p := tr.Nodes[child].Path
			share := shares[child].Get(total.Name)
			floor, limit := w.bounds(p, total.Name)
			if one := w.divides(n.Path); !w.counts(p) || one != "" && one != total.Name {
				floor, limit = 0, 0
			}
			if share < floor || share > limit {
				t.Fatalf("%s has %d %s, not between %d and %d", p, share, total.Name, floor, limit)
			}
			sum.Add(sum, big.NewInt(share))
			floors.Add(floors, big.NewInt(floor))
		}
		if own := big.NewInt(shares[i].Get(total.Name)); sum.Cmp(own) > 0 && sum.Cmp(floors) > 0 {
			t.Fatalf("the children of %s have %v %s together, it has %v and they are guaranteed %v", n.Path, sum, total.Name, own, floors)
		}
	}
}

// checkNames: the shares depend neither on the order of declaration nor on the names of queues.
func checkNames(t *rapid.T, w world, tr queue.Tree, want []resource.List) {
	names := []queue.Path{"root.a", "root.b", "root.c"}
	renamed := rapid.Permutation(names).Draw(t, "names")
	rename := func(p queue.Path) queue.Path {
		for i, name := range names {
			if within(p, name) {
				return renamed[i] + p[len(name):]
			}
		}
		return p
	}
	other := world{total: w.total, declared: rapid.Permutation(w.declared).Draw(t, "order")}
	for i := range other.declared {
		other.declared[i].Path = rename(other.declared[i].Path)
	}
	for _, p := range w.active {
		other.active = append(other.active, rename(p))
	}
	otherTree, active := other.tree()
	got := fairshare.Shares(otherTree, w.total, active)
	for i, n := range tr.Nodes {
		if j, ok := otherTree.Find(rename(n.Path)); !ok || !got[j].Equal(want[i]) {
			t.Fatalf("%s has (%s), as %s it has (%s)", n.Path, want[i], rename(n.Path), got[j])
		}
	}
}

// checkTotal: a larger total lowers no share. (A larger cluster may, where guarantees of other queues are in
// percent of it and the share of their parent does not grow; here percentages keep their earlier amounts.)
func checkTotal(t *rapid.T, w world, tr queue.Tree, active []bool, before []resource.List) {
	more := resource.Of(resource.Entry{Name: resource.CPU, Value: rapid.Int64Range(0, 1<<50).Draw(t, "more cpu")})
	for _, broken := range wentDown("more cpu", before, fairshare.Shares(tr, w.total.Add(more), active)) {
		t.Error(broken)
	}
}

// checkWeight: more weight for a queue lowers no share in it, raises none of its siblings' and none below
// them, and leaves the rest of the tree alone. This is exact, to the unit, in spite of rounding: the level R
// of the siblings only falls, and both weight x R rounded down and the division of a smaller amount follow it.
func checkWeight(t *rapid.T, w world, tr queue.Tree, active []bool, before []resource.List) {
	heavy := &tr.Nodes[rapid.IntRange(1, len(tr.Nodes)-1).Draw(t, "queue")]
	heavy.Spec.Weight += rapid.OneOf(rapid.Just(int64(1)), rapid.Int64Range(1, 1<<50)).Draw(t, "more weight")
	after, parent := fairshare.Shares(tr, w.total, active), parentOf(heavy.Path)
	for i, n := range tr.Nodes {
		ok := before[i].Equal(after[i])
		switch {
		case within(n.Path, heavy.Path):
			ok = before[i].Fits(after[i])
		case n.Path != parent && within(n.Path, parent):
			ok = after[i].Fits(before[i])
		}
		if !ok {
			t.Fatalf("more weight for %s: %s went from (%s) to (%s)", heavy.Path, n.Path, before[i], after[i])
		}
	}
}

// A level is a division for each resource that the rule counts, so it has the properties of Divide: it equals
// its twin, and more weight lowers only the shares of siblings.
func TestLevelEqualsItsTwinAndIsMonotoneInWeight(t *testing.T) {
	rules := rapid.SampledFrom([]queue.Rule{
		{Policy: queue.DominantResourceFairness}, {Policy: queue.Fair, Resource: resource.Memory}, {Policy: queue.Fair, Resource: gpu},
	})
	claimants := rapid.SliceOfN(smallClaimants(), 1, 6)
	rapid.Check(t, func(t *rapid.T) {
		rule := rules.Draw(t, "rule")
		share := resource.Of(
			resource.Entry{Name: resource.CPU, Value: rapid.Int64Range(0, 120).Draw(t, "cpu")},
			resource.Entry{Name: resource.Memory, Value: rapid.Int64Range(0, 120).Draw(t, "memory")})
		cores := claimants.Draw(t, "claimants")
		// Memory is asked for in reverse, so that no child is large in both.
		bytes := slices.Clone(cores)
		slices.Reverse(bytes)
		children := make([]fairshare.Child, len(cores))
		for i, c := range cores {
			bytes[i].Weight, bytes[i].Active = c.Weight, c.Active
			children[i] = fairshare.Child{
				Weight: c.Weight, Active: c.Active,
				Guaranteed: resource.Of(resource.Entry{Name: resource.CPU, Value: c.Min}, resource.Entry{Name: resource.Memory, Value: bytes[i].Min}),
				Max:        resource.Of(resource.Entry{Name: resource.CPU, Value: c.Max}, resource.Entry{Name: resource.Memory, Value: bytes[i].Max}),
			}
		}
		want := [][]int64{make([]int64, len(cores)), make([]int64, len(cores))}
		if rule.Policy != queue.Fair {
			want[0] = twin(share.Get(resource.CPU), cores)
		}
		if rule.Counts(resource.Memory) {
			want[1] = twin(share.Get(resource.Memory), bytes)
		}
		before := fairshare.Level(rule, share, children)
		for i, got := range before {
			if got.Get(resource.CPU) != want[0][i] || got.Get(resource.Memory) != want[1][i] || got.Len() != 2 {
				t.Fatalf("%d has (%s), in the twin %d cpu and %d memory", i, got, want[0][i], want[1][i])
			}
		}
		children[0].Weight += rapid.Int64Range(1, 3000).Draw(t, "more weight")
		after := fairshare.Level(rule, share, children)
		if !before[0].Fits(after[0]) {
			t.Fatalf("more weight and less share: (%s) became (%s)", before[0], after[0])
		}
		for i := 1; i < len(after); i++ {
			if !after[i].Fits(before[i]) {
				t.Fatalf("more weight for 0 gave to %d: (%s) became (%s)", i, before[i], after[i])
			}
		}
	})
}
