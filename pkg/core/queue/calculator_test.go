package queue_test

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestCalculators(t *testing.T) {
	both := cpu(2).Add(memory(3))
	for name, c := range map[string]struct {
		calculator  queue.Calculator
		cpu, memory bool
		of          resource.List
	}{
		"Dominant": {queue.DominantCalculator, true, true, both},
		"Memory":   {queue.MemoryCalculator, false, true, memory(3)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := queue.ParseCalculator(name); got != c.calculator || err != nil || got.String() != name {
				t.Errorf("read as %s, %v", got, err)
			}
			if c.calculator.Counts(resource.CPU) != c.cpu || c.calculator.Counts(resource.Memory) != c.memory {
				t.Error("counts other resources")
			}
			if got := c.calculator.Of(both); got.String() != c.of.String() {
				t.Errorf("of %s it leaves %s", both, got)
			}
			if got := c.calculator.Of(cpu(2)); got.IsZero() == c.cpu {
				t.Errorf("of cpu alone it leaves %s", got)
			}
		})
	}
	if got, err := queue.ParseCalculator(""); got != queue.DominantCalculator || err != nil {
		t.Errorf("by default %s, %v", got, err)
	}
	for _, name := range []string{"memory", "DefaultResourceCalculator"} {
		if _, err := queue.ParseCalculator(name); err == nil || err.Error() != `calculator "`+name+`" is not one of Dominant, Memory` {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhichResourcesARuleCounts(t *testing.T) {
	for name, c := range map[string]struct {
		spec queue.Spec
		want string
	}{
		"all":                      {queue.Spec{}, "cpu memory"},
		"Fair":                     {queue.Spec{Policy: queue.Fair}, "memory"},
		"Fair over cpu":            {queue.Spec{Policy: queue.Fair, FairResource: resource.CPU}, "cpu"},
		"Memory":                   {queue.Spec{Calculator: queue.MemoryCalculator}, "memory"},
		"Memory, first in order":   {queue.Spec{Policy: queue.FIFO, Calculator: queue.MemoryCalculator}, "memory"},
		"Memory, and Fair":         {queue.Spec{Policy: queue.Fair, Calculator: queue.MemoryCalculator}, "memory"},
		"nothing, if it were said": {queue.Spec{Policy: queue.Fair, FairResource: resource.CPU, Calculator: queue.MemoryCalculator}, ""},
	} {
		got := ""
		for _, n := range []resource.Name{resource.CPU, resource.Memory} {
			if c.spec.Rule().Counts(n) {
				if got != "" {
					got += " "
				}
				got += string(n)
			}
		}
		if got != c.want {
			t.Errorf("%s: counts %q, want %q", name, got, c.want)
		}
	}
}

// All queues have the calculator of the root, also those that nobody declares, and whatever they state themselves.
func TestTheCalculatorOfTheRootIsThatOfAllQueues(t *testing.T) {
	states := func(c queue.Calculator) func(*queue.Declaration) {
		return func(d *queue.Declaration) { d.Spec.Calculator = c }
	}
	for _, want := range []queue.Calculator{queue.DominantCalculator, queue.MemoryCalculator} {
		tree := queue.Build([]queue.Declaration{
			declare("root", states(want)), declare("root.a", states(queue.MemoryCalculator)), declare("root.a.b"),
			declare("root.f", policy(queue.Fair), func(d *queue.Declaration) { d.Spec.FairResource = resource.CPU }),
		}, []queue.Occupancy{charged("root.gone")}, resource.List{})
		if len(tree.Nodes) != 5 {
			t.Fatalf("%d nodes", len(tree.Nodes))
		}
		for _, n := range tree.Nodes {
			if n.Spec.Calculator != want || n.Spec.Rule().Calculator != want {
				t.Errorf("%s has %s, want %s", n.Path, n.Spec.Calculator, want)
			}
		}
		problem := queue.Problem{Path: "root.f", Reason: reason.Reason{
			Code: reason.FairResourceNotAllowed, Queue: "root.f", Resource: resource.Memory,
			Details: reason.FairResource{Stated: resource.CPU, ByCalculator: true},
		}}
		if got := slices.Contains(tree.Problems, problem); got != (want == queue.MemoryCalculator) {
			t.Errorf("%s: problems %v", want, tree.Problems)
		}
	}
	tree := queue.Build(nil, nil, resource.List{})
	if tree.Nodes[0].Spec.Calculator != queue.DominantCalculator {
		t.Error("a root that nobody declares has another calculator than the default")
	}
}

// maxCapacity limits what counts; max limits all that it names.
func TestMaxCapacityLimitsWhatTheCalculatorCounts(t *testing.T) {
	for calculator, want := range map[queue.Calculator]resource.List{
		queue.DominantCalculator: cpu(5).Add(memory(5)),
		queue.MemoryCalculator:   cpu(8).Add(memory(5)),
	} {
		tree := queue.Build([]queue.Declaration{
			declare("root", func(d *queue.Declaration) { d.Spec.Calculator = calculator }),
			declare("root.a", limited(cpu(8).Add(memory(9))), func(d *queue.Declaration) {
				d.Spec.Capacity, d.Spec.MaxCapacity = queue.AtMost(queue.Whole), queue.AtMost(queue.Whole)
			}),
			declare("root.a.b", limited(cpu(8).Add(memory(9))), func(d *queue.Declaration) {
				d.Spec.Capacity, d.Spec.MaxCapacity = queue.AtMost(50_000), queue.AtMost(50_000)
			}),
			declare("root.a.c", func(d *queue.Declaration) { d.Spec.Capacity = queue.AtMost(50_000) }),
		}, nil, cpu(10).Add(memory(10)))
		i, _ := tree.Find("root.a.b")
		if got := tree.Nodes[i].Spec.Max; !queue.SameLimits(got, want) || len(tree.Problems) > 0 {
			t.Errorf("%s: max is %s, want %s; %v", calculator, got, want, tree.Problems)
		}
	}
}
