package queue_test

import (
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

func TestMaxPodResourcesIsNotRaisedBelow(t *testing.T) {
	pod := func(l resource.List) func(*queue.Declaration) {
		return func(d *queue.Declaration) { d.Spec.MaxPod = l }
	}
	tree := queue.Build([]queue.Declaration{
		declare("root", pod(memory(8))),
		declare("root.a", pod(cpu(4))),
		declare("root.a.less", pod(cpu(2).Add(memory(8)))),
		declare("root.a.more", pod(cpu(5).Add(memory(7)))),
		declare("root.a.most", pod(cpu(5).Add(memory(9)))),
		declare("root.b", pod(cpu(50))),
	}, nil, resource.List{})
	for path, want := range map[queue.Path]resource.List{
		"root.a.less": cpu(2).Add(memory(8)),
		"root.a.more": memory(7), // its cpu is that of root.a
		"root.a.most": {},        // all is that of the queues above
		"root.b":      cpu(50),   // no queue above names cpu
	} {
		if i, _ := tree.Find(path); !tree.Nodes[i].Spec.MaxPod.Equal(want) {
			t.Errorf("%s: %s is in force, want %s", path, tree.Nodes[i].Spec.MaxPod, want)
		}
	}
	raised := func(q queue.Path) queue.Problem {
		return queue.Problem{Path: q, Reason: reason.Reason{Code: reason.MaxPodResourcesRaised, Queue: string(q), Resource: resource.CPU,
			Limit: 4000, Asked: 5000, Details: reason.Parent{Path: "root.a"}}}
	}
	if want := []queue.Problem{raised("root.a.more"), raised("root.a.most")}; !slices.Equal(tree.Problems, want) {
		t.Errorf("problems: %+v", tree.Problems)
	}
}
