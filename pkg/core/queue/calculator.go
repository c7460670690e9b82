package queue

import (
	"fmt"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Calculator says which resources count where queues and applications are compared: in shares and in their order, in
// preemption, and in limits that are a part of something (maxCapacity, maxDriverShare). What is limited by its own name, such
// as in max, it does not touch, nor whether a pod fits on a node. YARN CapacityScheduler: resource-calculator.
//
// The root states it. In the tree every queue has that of the root, and it travels in the rules of the queues: see Rule.
type Calculator uint8

// The calculators. The zero value is the default.
const (
	// DominantCalculator counts all resources (YARN: DominantResourceCalculator).
	DominantCalculator Calculator = iota
	// MemoryCalculator counts memory alone (YARN: DefaultResourceCalculator).
	MemoryCalculator
)

var calculatorNames = [...]string{"Dominant", "Memory"}

// String returns the name of the calculator as the Queue object spells it.
func (c Calculator) String() string {
	if int(c) < len(calculatorNames) {
		return calculatorNames[c]
	}
	return fmt.Sprintf("Calculator(%d)", uint8(c))
}

// ParseCalculator returns the calculator with this name. An empty name is the default.
func ParseCalculator(name string) (Calculator, error) {
	for i, n := range calculatorNames {
		if name == n || name == "" {
			return Calculator(i), nil
		}
	}
	return 0, fmt.Errorf("calculator %q is not one of Dominant, Memory", name)
}

// Counts reports whether a resource counts.
func (c Calculator) Counts(n resource.Name) bool {
	return c == DominantCalculator || n == resource.Memory
}

// Of returns the amounts that count.
func (c Calculator) Of(l resource.List) resource.List {
	if c == DominantCalculator {
		return l
	}
	if v, named := l.Lookup(resource.Memory); named {
		return resource.Of(resource.Entry{Name: resource.Memory, Value: v})
	}
	return resource.List{}
}

// ruleCalculator is rule 10: the calculator of the root is that of all queues.
func (b *builder) ruleCalculator() {
	for i := range b.tree.Nodes {
		b.tree.Nodes[i].Spec.Calculator = b.tree.Nodes[0].Spec.Calculator
	}
}
