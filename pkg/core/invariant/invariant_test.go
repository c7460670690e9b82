package invariant_test

import (
	"math"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpu(cores int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000})
}

func sum(lists ...resource.List) *resource.Sum {
	var s resource.Sum
	for _, l := range lists {
		s.Add(l)
	}
	return &s
}

// account is a queue whose own pods and whole subtree use this much.
func account(p queue.Path, parent int, own, usage resource.List) invariant.Queue {
	return invariant.Queue{Path: p, Parent: parent, Own: sum(own), Usage: sum(usage)}
}

// broken wants one sentence with each of these parts, and no other.
func broken(t *testing.T, got []string, parts ...string) {
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

func TestQueues(t *testing.T) {
	most := resource.Of(resource.Entry{Name: "a", Value: math.MaxInt64})
	for name, c := range map[string]struct {
		queues []invariant.Queue
		want   []string
	}{
		"no queues": {},
		"an idle root": {
			[]invariant.Queue{account("root", -1, resource.List{}, resource.List{})}, nil},
		"a parent uses what its children use": {
			[]invariant.Queue{
				account("root", -1, cpu(0), cpu(5)), account("root.a", 0, cpu(2), cpu(2)), account("root.b", 0, cpu(3), cpu(3)),
			}, nil},
		"a parent that has pods itself, too": {
			[]invariant.Queue{account("root", -1, cpu(1), cpu(3)), account("root.a", 0, cpu(2), cpu(2))}, nil},
		"a parent that forgot a child": {
			[]invariant.Queue{account("root", -1, cpu(0), cpu(2)), account("root.a", 0, cpu(2), cpu(2)), account("root.b", 0, cpu(3), cpu(3))},
			[]string{"queue root: usage is (cpu=2), but its own pods and its children use (cpu=5)"}},
		"a queue that kept a pod": {
			[]invariant.Queue{account("root", -1, cpu(0), cpu(3)), account("root.a", 0, cpu(2), cpu(3))},
			[]string{"queue root.a: usage is (cpu=3)"}},
		"a refund too many": {
			[]invariant.Queue{account("root", -1, cpu(-1), cpu(-1))},
			[]string{"queue root: own usage of cpu is negative (-1000)", "queue root: usage of cpu is negative"}},
		"a difference where both read as the largest amount": {
			[]invariant.Queue{
				{Path: "root", Parent: -1, Own: sum(), Usage: sum(most)},
				{Path: "root.a", Parent: 0, Own: sum(most, most), Usage: sum(most, most)},
			},
			[]string{"queue root: usage is"}},
		"an order other than the tree's": {
			[]invariant.Queue{account("root.a", 1, cpu(2), cpu(2)), account("root", -1, cpu(0), cpu(2))}, nil},
	} {
		t.Run(name, func(t *testing.T) { broken(t, invariant.Queues(c.queues), c.want...) })
	}
}

func TestReleased(t *testing.T) {
	path := func(used, limit resource.List) []invariant.Queue {
		return []invariant.Queue{
			{Path: "root.a", Own: sum(used), Usage: sum(used), Max: limit},
			{Path: "root", Usage: sum(cpu(99)), Parent: -1},
		}
	}
	broken(t, invariant.Released(path(cpu(5), cpu(5))))
	broken(t, invariant.Released(path(cpu(6), resource.List{})))
	broken(t, invariant.Released(path(cpu(6), cpu(5))),
		"queue root.a: a pod was released, and now 6 cpu are used of a max of 5")
}

func TestShares(t *testing.T) {
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
			broken(t, invariant.Shares(tree, []resource.List{c.root, c.a, c.b}), c.want...)
		})
	}
}

func TestNotLess(t *testing.T) {
	before := []resource.List{cpu(1), cpu(2)}
	broken(t, invariant.NotLess("more cores", before, []resource.List{cpu(1), cpu(3)}))
	broken(t, invariant.NotLess("more cores", before, []resource.List{cpu(2), cpu(1)}),
		"more cores: share 1 went down from (cpu=2) to (cpu=1)")
}
