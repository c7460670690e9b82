package queue_test

import (
	"math"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestPolicyOfAParent(t *testing.T) {
	for name, c := range map[string]struct {
		options []func(*queue.Declaration)
		child   bool
		want    queue.Policy
		problem bool
	}{
		"FIFO without children":                      {[]func(*queue.Declaration){policy(queue.FIFO)}, false, queue.FIFO, false},
		"FIFO with children, Fair before":            {[]func(*queue.Declaration){policy(queue.FIFO), lastGood(queue.Fair)}, true, queue.Fair, true},
		"FIFO with children, nothing before":         {[]func(*queue.Declaration){policy(queue.FIFO)}, true, queue.DominantResourceFairness, true},
		"FIFO with children, FIFO before":            {[]func(*queue.Declaration){policy(queue.FIFO), lastGood(queue.FIFO)}, true, queue.DominantResourceFairness, true},
		"Fair with children, whatever was before it": {[]func(*queue.Declaration){policy(queue.Fair), lastGood(queue.FIFO)}, true, queue.Fair, false},
	} {
		t.Run(name, func(t *testing.T) {
			declared := []queue.Declaration{declare("root"), declare("root.a", c.options...)}
			if c.child {
				declared = append(declared, declare("root.a.b", policy(queue.Unstated)))
			}
			tree := queue.Build(declared, nil, resource.List{})
			i, _ := tree.Find("root.a")
			if got := tree.Nodes[i].Spec.Policy; got != c.want {
				t.Errorf("in force: %v, want %v", got, c.want)
			}
			if got := len(tree.Problems) == 1; got != c.problem {
				t.Errorf("problems: %v", tree.Problems)
			}
			if c.problem && (tree.Problems[0].Reason != reason.Reason{
				Code: reason.PolicyNotAllowed, Queue: "root.a", Details: reason.Policies{Stated: "FIFO", InForce: c.want.String()},
			}) {
				t.Errorf("problem: %+v", tree.Problems[0])
			}
		})
	}
}

func TestAParentWithOnlyBlockedChildrenKeepsFIFO(t *testing.T) {
	tree := queue.Build(
		[]queue.Declaration{declare("root"), declare("root.a", policy(queue.FIFO)), declare("root.a.b")},
		[]queue.Occupancy{charged("root.a")}, resource.List{})
	if i, _ := tree.Find("root.a"); tree.Nodes[i].Spec.Policy != queue.FIFO {
		t.Errorf("in force: %v", tree.Nodes[i].Spec.Policy)
	}
}

func TestOvercommittedParents(t *testing.T) {
	both := cpu(10).Add(memory(10))
	for name, c := range map[string]struct {
		parent, b, c resource.List
		want         []reason.Reason
	}{
		"children that fit exactly":              {cpu(10), cpu(4), cpu(6), nil},
		"a parent without a guarantee":           {resource.List{}, cpu(4), cpu(6), nil},
		"a parent with one in another resource":  {memory(1), cpu(4), cpu(6), nil},
		"children that are guaranteed more":      {cpu(10), cpu(5), cpu(6), []reason.Reason{{Code: reason.Overcommitted, Resource: resource.CPU, Details: reason.Guarantees{Guaranteed: 10_000, Children: 11_000}}}},
		"in memory only":                         {both, both, memory(1), []reason.Reason{{Code: reason.Overcommitted, Resource: resource.Memory, Details: reason.Guarantees{Guaranteed: 10 << 30, Children: 11 << 30}}}},
		"in two resources, the first is named":   {both, both, both, []reason.Reason{{Code: reason.Overcommitted, Resource: resource.CPU, Details: reason.Guarantees{Guaranteed: 10_000, Children: 20_000}}}},
		"guarantees that only sum past the end":  {cpu(10), unlimited(), unlimited(), []reason.Reason{{Code: reason.Overcommitted, Resource: resource.CPU, Details: reason.Guarantees{Guaranteed: 10_000, Children: math.MaxInt64}}}},
		"a stated guarantee of 0 is a guarantee": {cpu(0), cpu(1), cpu(0), []reason.Reason{{Code: reason.Overcommitted, Resource: resource.CPU, Details: reason.Guarantees{Children: 1000}}}},
	} {
		t.Run(name, func(t *testing.T) {
			tree := queue.Build([]queue.Declaration{
				declare("root"), declare("root.a", guaranteed(c.parent)),
				declare("root.a.b", guaranteed(c.b)), declare("root.a.c", guaranteed(c.c)),
			}, nil, resource.List{})
			var got []reason.Reason
			for _, p := range tree.Problems {
				if p.Path != "root.a" || p.Reason.Queue != "root.a" {
					t.Errorf("reported on the wrong queue: %+v", p)
				}
				p.Reason.Queue = ""
				got = append(got, p.Reason)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if i, _ := tree.Find("root.a.b"); !tree.Nodes[i].Spec.Guaranteed.Equal(c.b) {
				t.Error("the child lost its guarantee")
			}
		})
	}
}

func TestMaxBelowGuaranteed(t *testing.T) {
	tree := queue.Build([]queue.Declaration{
		declare("root"),
		declare("root.a", guaranteed(cpu(20).Add(memory(4))), limited(cpu(10).Add(memory(3)))),
		declare("root.b", guaranteed(cpu(20)), limited(cpu(20).Add(memory(1)))),
	}, nil, resource.List{})
	i, _ := tree.Find("root.a")
	if got, want := tree.Nodes[i].Spec.Max, cpu(20).Add(memory(4)); !got.Equal(want) {
		t.Errorf("max in force: %v, want %v", got, want)
	}
	want := []queue.Problem{{Path: "root.a", Reason: reason.Reason{
		Code: reason.SpecInvalid, Queue: "root.a", Resource: resource.CPU, Limit: 10_000, Details: reason.Guarantees{Guaranteed: 20_000},
	}}}
	if !slices.Equal(tree.Problems, want) {
		t.Errorf("problems: %+v", tree.Problems)
	}
}
