package queue

import (
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Policy says how a queue divides its share among its children, and in which order
// they are served.
type Policy uint8

// The policies. The zero value is the default.
const (
	// DominantResourceFairness weighs each child by the resource it uses most of.
	DominantResourceFairness Policy = iota
	// Fair looks at memory only.
	Fair
	// FIFO serves applications in order of priority and submission. It is for queues
	// without children.
	FIFO
)

var policyNames = [...]string{
	DominantResourceFairness: "DominantResourceFairness",
	Fair:                     "Fair",
	FIFO:                     "FIFO",
}

// String returns the name of the policy as the Queue object spells it.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// ParsePolicy returns the policy of this name, in any case (as in YARN). An empty
// name is the default policy.
func ParsePolicy(s string) (Policy, error) {
	if s == "" {
		return DominantResourceFairness, nil
	}
	for i, name := range policyNames {
		if strings.EqualFold(s, name) {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("policy %q is not one of %s", s, strings.Join(policyNames[:], ", "))
}

// DefaultWeight is the weight of a queue that states none: 1, in milli.
const DefaultWeight int64 = 1000

// Spec is what a queue is set to. It is a value; share it freely.
type Spec struct {
	// Weight is in milli-units. 0 (or less) gets only what no sibling wants.
	Weight int64
	// Guaranteed is the floor of the queue's share. An absent resource is 0.
	Guaranteed resource.List
	// Max caps the usage of the queue and everything below it. An absent resource is
	// unlimited.
	Max    resource.List
	Policy Policy
}

// DefaultSpec is the spec of a queue that states nothing.
func DefaultSpec() Spec {
	return Spec{Weight: DefaultWeight}
}

// Equal reports whether both specs mean the same.
func (s Spec) Equal(o Spec) bool {
	return s.Weight == o.Weight && s.Policy == o.Policy &&
		s.Guaranteed.Equal(o.Guaranteed) && equalLimits(s.Max, o.Max)
}

// equalLimits compares maxima, where an absent resource is unlimited.
func equalLimits(a, b resource.List) bool {
	return within(a, b) && within(b, a)
}

// within reports whether every limit of a stands in b.
func within(a, b resource.List) bool {
	for i := range a.Len() {
		e := a.At(i)
		limit, ok := b.Lookup(e.Name)
		if !ok {
			limit = resource.Unlimited
		}
		if limit != e.Value {
			return false
		}
	}
	return true
}
