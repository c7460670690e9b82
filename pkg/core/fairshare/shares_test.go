package fairshare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// list takes cores and Gi.
func list(cores, gi int64) resource.List { return cpu(cores).Add(memory(gi)) }

func cpu(cores int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000})
}

func memory(gi int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.Memory, Value: gi << 30})
}

func TestLevel(t *testing.T) {
	share := list(100, 100)
	for name, c := range map[string]struct {
		policy   queue.Policy
		children []fairshare.Child
		want     []resource.List
	}{
		"no children": {},
		"each resource is divided on its own": {
			queue.DominantResourceFairness,
			[]fairshare.Child{
				{Weight: 1000, Active: true, Max: cpu(10)},
				{Weight: 1000, Active: true, Guaranteed: memory(70)},
				{Weight: 2000, Active: true},
			},
			// cpu: 10 are capped, 90 go 1:2; memory: 70 are guaranteed, 30 go 1:2.
			[]resource.List{list(10, 10), list(30, 70), list(60, 20)},
		},
		"a max that is absent does not cap, one of 0 does": {
			queue.DominantResourceFairness,
			[]fairshare.Child{{Weight: 1000, Active: true, Max: cpu(0)}, {Weight: 1000, Active: true}},
			[]resource.List{list(0, 50), list(100, 50)},
		},
		"Fair divides memory and leaves the rest 0": {
			queue.Fair,
			[]fairshare.Child{{Weight: 1000, Active: true, Guaranteed: cpu(20)}, {Weight: 3000, Active: true}},
			[]resource.List{list(0, 25), list(0, 75)},
		},
		"an idle child has nothing": {
			queue.DominantResourceFairness,
			[]fairshare.Child{{Weight: 1000, Guaranteed: cpu(20)}, {Weight: 1000, Active: true}},
			[]resource.List{list(0, 0), list(100, 100)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := fairshare.Level(queue.Spec{Policy: c.policy}.Rule(), share, c.children)
			if !slices.EqualFunc(got, c.want, resource.List.Equal) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			for _, l := range got {
				if l.Len() != share.Len() {
					t.Errorf("a share of 0 is left out: %v", l)
				}
			}
		})
	}
}

func TestAGuaranteeOfAResourceThatIsNotThere(t *testing.T) {
	child := fairshare.Child{Weight: 1000, Active: true, Guaranteed: memory(5)}
	if got := fairshare.Level(queue.Spec{Policy: queue.DominantResourceFairness}.Rule(), cpu(10), []fairshare.Child{child}); !got[0].Equal(cpu(10)) {
		t.Errorf("got %v", got)
	}
}

// tree builds the queues of these names; the root is there in any case.
func tree(t *testing.T, specs map[string]queue.Spec) queue.Tree {
	t.Helper()
	var declared []queue.Declaration
	for name, spec := range specs {
		declared = append(declared, queue.Declaration{Path: queue.Path(name), Spec: spec})
	}
	return queue.Build(declared, nil, resource.List{})
}

func weight(milli int64) queue.Spec {
	s := queue.DefaultSpec()
	s.Weight = milli
	return s
}

func capped(l resource.List) queue.Spec {
	s := queue.DefaultSpec()
	s.Max = l
	return s
}

func TestShares(t *testing.T) {
	busy := map[string]queue.Spec{"root.busy": weight(1000), "root.sometimes-busy": weight(3000)}
	nested := map[string]queue.Spec{
		"root.a": weight(1000), "root.a.x": weight(1000), "root.a.y": weight(3000),
		"root.b": weight(1000),
	}
	fair := map[string]queue.Spec{
		"root": {Weight: 1000, Policy: queue.Fair}, "root.a": weight(1000), "root.a.x": weight(1000), "root.b": weight(3000),
	}
	for name, c := range map[string]struct {
		specs  map[string]queue.Spec
		total  resource.List
		active string // queue names; "all" for steady fair shares
		want   map[queue.Path]resource.List
	}{
		"the documented example, both busy": {
			busy, list(200, 800), "all",
			map[queue.Path]resource.List{"root": list(200, 800), "root.busy": list(50, 200), "root.sometimes-busy": list(150, 600)},
		},
		"the documented example, one busy": {
			busy, list(200, 800), "root.busy",
			map[queue.Path]resource.List{"root": list(200, 800), "root.busy": list(200, 800), "root.sometimes-busy": list(0, 0)},
		},
		"children divide their parent's share": {
			nested, list(80, 80), "all",
			map[queue.Path]resource.List{"root.a": list(40, 40), "root.a.x": list(10, 10), "root.a.y": list(30, 30), "root.b": list(40, 40)},
		},
		"an active child makes its parent active": {
			nested, list(80, 80), "root.a.x root.b",
			map[queue.Path]resource.List{"root.a": list(40, 40), "root.a.x": list(40, 40), "root.a.y": list(0, 0), "root.b": list(40, 40)},
		},
		"an idle subtree leaves everything to the others": {
			nested, list(80, 80), "root.b",
			map[queue.Path]resource.List{"root.a": list(0, 0), "root.a.x": list(0, 0), "root.a.y": list(0, 0), "root.b": list(80, 80)},
		},
		"the root's max caps the total": {
			map[string]queue.Spec{"root": capped(cpu(50)), "root.a": weight(1000)}, list(200, 800), "all",
			map[queue.Path]resource.List{"root": list(50, 800), "root.a": list(50, 800)},
		},
		"each level divides an integer, rounded down": {
			map[string]queue.Spec{
				"root.a": weight(1000), "root.b": weight(1000), "root.c": weight(1000),
				"root.a.x": weight(1000), "root.a.y": weight(1000),
			},
			resource.Of(resource.Entry{Name: resource.Memory, Value: 100}), "all",
			map[queue.Path]resource.List{
				"root.a": bytes(33), "root.b": bytes(33), "root.c": bytes(33), "root.a.x": bytes(16), "root.a.y": bytes(16),
			},
		},
		"under Fair only memory is handed down": {
			fair, list(100, 100), "all",
			map[queue.Path]resource.List{"root": list(100, 100), "root.a": list(0, 25), "root.a.x": list(0, 25), "root.b": list(0, 75)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := tree(t, c.specs)
			var active []bool
			if c.active != "all" {
				active = make([]bool, len(tr.Nodes))
				for _, p := range strings.Fields(c.active) {
					i, _ := tr.Find(queue.Path(p))
					active[i] = true
				}
			}
			got := fairshare.Shares(tr, c.total, active)
			for p, want := range c.want {
				if i, ok := tr.Find(p); !ok || !got[i].Equal(want) {
					t.Errorf("%s: got %v, want %v", p, got[i], want)
				}
			}
		})
	}
}

func bytes(v int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.Memory, Value: v})
}

func TestSharesOfNoTree(t *testing.T) {
	if got := fairshare.Shares(queue.Tree{}, cpu(1), nil); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func BenchmarkDivideAThousand(b *testing.B) {
	cs := make([]fairshare.Claimant, 1000)
	for i := range cs {
		cs[i] = claim(int64(1+i%7)*1000, atLeast(int64(i%5)<<30), atMost(int64(1+i%50)<<32))
	}
	var out []int64
	for b.Loop() {
		out = fairshare.Divide(1<<44, cs, out)
	}
}
