package queue_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func byCapacity(thousandths int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Capacity = queue.AtMost(thousandths) }
}

func atMost(thousandths int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.MaxCapacity = queue.AtMost(thousandths) }
}

func heldCapacity(thousandths int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) {
		d.InForce = queue.Division{Known: true, Capacity: queue.AtMost(thousandths)}
	}
}

func heldWeight(milli int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.InForce = queue.Division{Known: true, Weight: milli} }
}

func createdByPlacement(d *queue.Declaration) { d.Origin.Placement = true }

// What is in force of two siblings, by what they state and what was in force before.
func TestCapacitiesInForce(t *testing.T) {
	type options []func(*queue.Declaration)
	capacity := func(thousandths int64) queue.Division {
		return queue.Division{Known: true, Capacity: queue.AtMost(thousandths)}
	}
	weight := func(milli int64) queue.Division { return queue.Division{Known: true, Weight: milli} }
	for name, c := range map[string]struct {
		a, b         options
		wantA, wantB queue.Division
		problem      reason.Code
	}{
		"they sum to 100 percent":                        {options{byCapacity(60_000)}, options{byCapacity(40_000)}, capacity(60_000), capacity(40_000), ""},
		"0.05 points more":                               {options{byCapacity(60_050)}, options{byCapacity(40_000)}, capacity(60_050), capacity(40_000), ""},
		"0.05 points less":                               {options{byCapacity(59_950)}, options{byCapacity(40_000)}, capacity(59_950), capacity(40_000), ""},
		"0.06 points more, nothing before":               {options{byCapacity(60_060)}, options{byCapacity(40_000)}, capacity(0), capacity(0), reason.CapacitySumInvalid},
		"too much, known before":                         {options{byCapacity(70_000), heldCapacity(60_000)}, options{byCapacity(40_000), heldCapacity(40_000)}, capacity(60_000), capacity(40_000), reason.CapacitySumInvalid},
		"too much, one is new":                           {options{byCapacity(70_000), heldCapacity(100_000)}, options{byCapacity(40_000)}, capacity(100_000), capacity(0), reason.CapacitySumInvalid},
		"one has none, capacities before":                {options{byCapacity(70_000), heldCapacity(60_000)}, options{heldCapacity(40_000)}, capacity(60_000), capacity(40_000), reason.CapacityMissing},
		"one has none, weights before":                   {options{byCapacity(100_000), heldWeight(3000)}, options{heldWeight(2000)}, weight(3000), weight(1000), reason.CapacityMissing},
		"one has none, and only the other is known":      {options{byCapacity(100_000)}, options{heldWeight(1000)}, weight(0), weight(1000), reason.CapacityMissing},
		"one has none, and they remember both ways":      {options{byCapacity(100_000), heldCapacity(50_000)}, options{heldWeight(1000)}, capacity(50_000), capacity(0), reason.CapacityMissing},
		"one has none, nothing before":                   {options{byCapacity(100_000)}, nil, capacity(0), capacity(0), reason.CapacityMissing},
		"one that placement created has none":            {options{byCapacity(100_000)}, options{createdByPlacement}, capacity(100_000), capacity(0), ""},
		"both have weights again":                        {options{heldCapacity(60_000)}, options{heldCapacity(40_000)}, weight(1000), weight(1000), ""},
		"a maximum below the capacity, known before":     {options{byCapacity(60_000), atMost(50_000), heldCapacity(30_000)}, options{byCapacity(40_000), heldCapacity(70_000)}, capacity(30_000), capacity(70_000), reason.MaxCapacityTooLow},
		"a guarantee means nothing beside a capacity":    {options{byCapacity(60_000), guaranteed(cpu(5))}, options{byCapacity(40_000)}, capacity(60_000), capacity(40_000), ""},
		"what was in force does not matter if all agree": {options{byCapacity(60_000), heldCapacity(1000)}, options{byCapacity(40_000), heldWeight(5)}, capacity(60_000), capacity(40_000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := queue.Build([]queue.Declaration{declare("root"), declare("root.a", c.a...), declare("root.b", c.b...)}, nil, cpu(10))
			if got := tree.Nodes[1].Spec.Division(); got != c.wantA {
				t.Errorf("root.a: %+v, want %+v", got, c.wantA)
			}
			if got := tree.Nodes[2].Spec.Division(); got != c.wantB {
				t.Errorf("root.b: %+v, want %+v", got, c.wantB)
			}
			if tree.Nodes[1].Spec.Guaranteed.Len() > 0 {
				t.Errorf("root.a is guaranteed %v", tree.Nodes[1].Spec.Guaranteed)
			}
			if c.problem == "" {
				if len(tree.Problems) > 0 {
					t.Errorf("problems: %+v", tree.Problems)
				}
				return
			}
			if len(tree.Problems) != 3 {
				t.Fatalf("not one problem for the parent and each child: %+v", tree.Problems)
			}
			for i, p := range tree.Problems {
				if p.Path != tree.Nodes[i].Path || p.Reason.Code != c.problem {
					t.Errorf("problem %d: %+v", i, p)
				}
			}
		})
	}
}

// A queue that is kept out of the tree for now still has its part of the sum.
func TestABlockedSiblingCounts(t *testing.T) {
	tree := queue.Build([]queue.Declaration{
		declare("root"), declare("root.a"), declare("root.a.x", byCapacity(60_000)), declare("root.a.y", byCapacity(40_000)),
	}, []queue.Occupancy{charged("root.a"), charged("root.a.x")}, cpu(10))
	if len(tree.Blocked) != 1 || tree.Nodes[2].Spec.Capacity != queue.AtMost(60_000) {
		t.Errorf("blocked: %v, in force: %+v", tree.Blocked, tree.Nodes)
	}
	for _, p := range tree.Problems {
		if p.Reason.Code != reason.ParentHasPods {
			t.Errorf("problem: %+v", p)
		}
	}
}

// The maximum in percent and the one in amounts: the smaller of both counts, and one of 100 percent adds nothing.
func TestMaxCapacityIsAMax(t *testing.T) {
	total := cpu(10).Add(memory(10))
	tree := queue.Build([]queue.Declaration{
		declare("root"),
		declare("root.a", byCapacity(10_000), atMost(50_000)),
		declare("root.a.x", byCapacity(100_000), atMost(50_000), limited(cpu(1).Add(resource.Of(resource.Entry{Name: "example.com/gpu", Value: 7})))),
		declare("root.b", byCapacity(90_000), atMost(100_000)),
	}, nil, total)
	for i, want := range []resource.List{{}, cpu(5).Add(memory(5)), resource.Of(
		resource.Entry{Name: resource.CPU, Value: 1000}, resource.Entry{Name: resource.Memory, Value: 5 << 29},
		resource.Entry{Name: "example.com/gpu", Value: 7}), {}} {
		if n := tree.Nodes[i]; !queue.SameLimits(n.Spec.Max, want) {
			t.Errorf("%s may use (%s), want (%s)", n.Path, n.Spec.Max, want)
		}
	}
	if len(tree.Problems) > 0 {
		t.Errorf("problems: %+v", tree.Problems)
	}
}
