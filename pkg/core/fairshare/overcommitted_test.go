package fairshare_test

import (
	"math"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func of(name resource.Name, v int64) resource.List {
	return resource.Of(resource.Entry{Name: name, Value: v})
}

// In each case root.a has children root.a.b and root.a.c; beside it is root.d, of equal weight. The cluster has 20 cpu and 40 memory.
func TestOvercommitted(t *testing.T) {
	cpu := func(v int64) resource.List { return of("cpu", v) }
	memory := func(v int64) resource.List { return of("memory", v) }
	both, some := cpu(10).Add(memory(10)), cpu(20).Add(memory(40))
	own := func(name resource.Name, guaranteed, children int64) []reason.Reason {
		return []reason.Reason{{Code: reason.Overcommitted, Queue: "root.a", Resource: name, Details: reason.Guarantees{Guaranteed: guaranteed, Children: children}}}
	}
	share := func(q string, name resource.Name, share, children int64) reason.Reason {
		return reason.Reason{Code: reason.Overcommitted, Queue: q, Resource: name, Details: reason.Divided{Share: share, Children: children}}
	}
	for name, c := range map[string]struct {
		total, a, b, c, d resource.List
		want              []reason.Reason
	}{
		"children that fit exactly":                {total: some, a: cpu(10), b: cpu(4), c: cpu(6)},
		"children that fit into the share":         {total: some, b: cpu(4), c: cpu(6)},
		"children that do not":                     {total: some, b: cpu(5), c: cpu(6), want: []reason.Reason{share("root.a", "cpu", 10, 11)}},
		"a guarantee of another resource":          {total: some, a: memory(1), b: cpu(4), c: cpu(6)},
		"children that are guaranteed more":        {total: some, a: cpu(10), b: cpu(5), c: cpu(6), want: own("cpu", 10, 11)},
		"more than the queue's own, not its share": {total: some, a: cpu(5), b: cpu(5), c: cpu(1), want: own("cpu", 5, 6)},
		"in memory only":                           {total: some, a: both, b: both, c: memory(1), want: own("memory", 10, 11)},
		"in two resources, the first is named":     {total: some, a: both, b: both, c: both, want: own("cpu", 10, 20)},
		"sums past the end":                        {a: cpu(10), b: cpu(math.MaxInt64), c: cpu(math.MaxInt64), want: own("cpu", 10, math.MaxInt64)},
		"a stated guarantee of 0 is a guarantee":   {total: some, a: cpu(0), b: cpu(1), want: own("cpu", 0, 1)},
		"the root":                                 {total: some, a: cpu(15), d: cpu(6), want: []reason.Reason{share("root", "cpu", 20, 21)}},
		"a resource that the cluster lacks":        {total: some, a: of("gpu", 1), want: []reason.Reason{share("root", "gpu", 0, 1)}},
		"no nodes yet":                             {a: cpu(15), d: cpu(6)},
	} {
		t.Run(name, func(t *testing.T) {
			var declared []queue.Declaration
			for path, guaranteed := range map[queue.Path]resource.List{"root": {}, "root.a": c.a, "root.a.b": c.b, "root.a.c": c.c, "root.d": c.d} {
				d := queue.Declaration{Path: path, Spec: queue.DefaultSpec()}
				d.Spec.Guaranteed = guaranteed
				declared = append(declared, d)
			}
			tree := queue.Build(declared, nil, c.total)
			var got []reason.Reason
			for _, p := range fairshare.Overcommitted(tree, fairshare.Shares(tree, c.total, nil)) {
				if string(p.Path) != p.Reason.Queue {
					t.Errorf("reported on %s: %+v", p.Path, p.Reason)
				}
				got = append(got, p.Reason)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
