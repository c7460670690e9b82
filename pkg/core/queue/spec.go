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
	// DominantResourceFairness judges each child by its dominant share.
	DominantResourceFairness Policy = iota
	// Fair looks at one resource only, memory unless the queue says otherwise.
	Fair
	// FIFO serves applications by priority and submission. It is for queues without children.
	FIFO
	// StateAware is FIFO with a gate: few applications may be starting at a time (see Spec.MaxStarting). It is
	// for queues without children.
	StateAware
	// Unstated is the policy of a declaration that names none: below Fair it becomes Fair, else the default.
	// No queue in the tree has it.
	Unstated
)

var policyNames = [...]string{
	DominantResourceFairness: "DominantResourceFairness",
	Fair:                     "Fair",
	FIFO:                     "FIFO",
	StateAware:               "StateAware",
	Unstated:                 "",
}

// String returns the name of the policy as the Queue object spells it.
func (p Policy) String() string {
	if int(p) < len(policyNames) {
		return policyNames[p]
	}
	return fmt.Sprintf("Policy(%d)", uint8(p))
}

// ByAge reports whether the policy serves applications by priority and submission, and so needs a queue
// without children.
func (p Policy) ByAge() bool { return p == FIFO || p == StateAware }

// ParsePolicy returns the policy with this name, in upper or lower case (as in YARN). An empty name is
// Unstated.
func ParsePolicy(s string) (Policy, error) {
	if s == "" {
		return Unstated, nil
	}
	for i, name := range policyNames {
		if strings.EqualFold(s, name) {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("policy %q is not one of %s", s, strings.Join(policyNames[:Unstated], ", "))
}

// DefaultWeight is the weight of a queue that states none: 1, in milli.
const DefaultWeight int64 = 1000

// DefaultFairResource is the resource that Fair divides if none is stated.
const DefaultFairResource = resource.Memory

// Spec holds the settings of a queue. It is a value that may be shared freely. The zero Spec has no limits and
// no weight.
type Spec struct {
	// Weight is in milli. A queue with weight 0 (or less) gets only what no sibling wants.
	Weight int64
	// Capacity is the part of the parent's steady share that the queue is entitled to, in thousandths of a percent,
	// if its siblings share by capacity. In force, Weight is the same number then.
	Capacity Limit
	// MaxCapacity is the part of the parent's maximum that the queue may use, likewise; not stated, it is all.
	// In force, Max has the amounts too.
	MaxCapacity Limit
	// Guaranteed is the floor of the queue's share. An absent resource is 0.
	Guaranteed resource.List
	// Max caps the usage of the queue and everything below it. An absent resource is
	// unlimited.
	Max resource.List
	// MaxPod caps the size of a single pod. For an absent resource, the nearest ancestor that states one
	// decides, and it is never raised: see ruleMaxPodResources.
	MaxPod resource.List
	Policy Policy
	// Strict: in a FIFO leaf, no pod passes one that waits for room.
	Strict bool
	// FairResource is the one resource that Fair divides; see Rule.
	FairResource resource.Name
	// Calculator says which resources count. Only what the root states is used; in force, all queues have that.
	Calculator Calculator
	// MaxRunningApplications caps the applications that may run in the subtree.
	MaxRunningApplications Limit
	// MaxApplications caps the applications in the subtree, those that run and those that wait. A leaf that shares by
	// capacity and states none has its part of the root's number: see core/limit/max_applications.go.
	MaxApplications Limit
	// MaxDriverShare caps what the drivers in a leaf use, in milli of its fair share.
	MaxDriverShare Limit
	// MaxStarting caps how many applications of a StateAware leaf may be starting at a time; see Starters.
	MaxStarting Limit
	// StartingTimeout bounds how long an application counts as starting.
	StartingTimeout StartingTimeout
	// MaxRunningApplicationsPerUser caps the applications of one user that may run, across all queues. Only
	// the root's value is used.
	MaxRunningApplicationsPerUser Limit
	// DefaultPriority counts in a leaf for pods that state no priority.
	DefaultPriority int32
	// MaxPriority caps priorities across all queues. Only the root's value is used.
	MaxPriority Limit
	// Users limits what each user of a leaf uses.
	Users      Users
	Preemption Preemption
	// State is what the queue states; see Node.StoppedBy.
	State State
}

// Percent is the part of a declaration that is stated in percent of the cluster, in thousandths of a percent.
// A resource is in Spec or here, never in both.
type Percent struct {
	Guaranteed, Max, MaxPod resource.List
}

// Whole is 100 percent.
const Whole int64 = 100_000

// IsZero reports whether nothing is stated in percent.
func (p Percent) IsZero() bool {
	return p.Guaranteed.Len()+p.Max.Len()+p.MaxPod.Len() == 0
}

// Equal reports whether both state the same.
func (p Percent) Equal(o Percent) bool {
	return p.Guaranteed.Equal(o.Guaranteed) && SameLimits(p.Max, o.Max) && SameLimits(p.MaxPod, o.MaxPod)
}

// Amounts adds to a spec the amounts that the percentages give in a cluster of this total, rounded down. If
// the cluster does not have a resource, any percentage of it is 0.
func (s Spec) Amounts(p Percent, total resource.List) Spec {
	s.Guaranteed = s.Guaranteed.Add(partsOf(total, p.Guaranteed))
	s.Max = s.Max.Add(partsOf(total, p.Max))
	s.MaxPod = s.MaxPod.Add(partsOf(total, p.MaxPod))
	return s
}

func partsOf(total, parts resource.List) resource.List {
	entries := make([]resource.Entry, parts.Len())
	for i := range entries {
		part := parts.At(i)
		entries[i] = resource.Entry{Name: part.Name, Value: resource.Part(total.Get(part.Name), part.Value, Whole)}
	}
	return resource.Of(entries...)
}

// Limit is an optional number. The zero Limit is not stated.
type Limit struct {
	Stated bool
	Most   int64
}

// AtMost returns a stated limit.
func AtMost(n int64) Limit { return Limit{Stated: true, Most: n} }

// Admits reports whether n is within the limit.
func (l Limit) Admits(n int64) bool { return !l.Stated || n <= l.Most }

// Rule is a policy with the resources that it uses: what dividing and ordering need.
type Rule struct {
	Policy     Policy
	Calculator Calculator
	// Resource is the one that Fair divides; other policies ignore it.
	Resource resource.Name
}

// Rule returns the queue's policy with its resources.
func (s Spec) Rule() Rule {
	if s.FairResource == "" {
		return Rule{s.Policy, s.Calculator, DefaultFairResource}
	}
	return Rule{s.Policy, s.Calculator, s.FairResource}
}

// Counts reports whether the rule uses a resource: Fair uses only its own, and none uses what the calculator does not count.
func (r Rule) Counts(n resource.Name) bool {
	return (r.Policy != Fair || n == r.Resource) && r.Calculator.Counts(n)
}

// only is the resource of a rule that uses a single one.
func (r Rule) only() (resource.Name, bool) {
	switch {
	case r.Calculator == MemoryCalculator:
		return resource.Memory, true
	case r.Policy == Fair:
		return r.Resource, true
	}
	return "", false
}

// StartingTimeout is how long an application may count as starting. The zero value is the default.
type StartingTimeout struct {
	// Adaptive: learnt from the last starts.
	Adaptive bool
	// Nanoseconds; 0 for the default. Ignored if Adaptive.
	Nanoseconds int64
}

// DefaultMaxStarting is how many applications may be starting if the queue states none; MostStarting is the
// most that it may state.
const (
	DefaultMaxStarting int64 = 1
	MostStarting       int64 = 1000
)

// Starters returns how many applications may be starting at a time.
func (s Spec) Starters() int64 {
	if s.MaxStarting.Stated {
		return s.MaxStarting.Most
	}
	return DefaultMaxStarting
}

// DefaultSpec returns the spec of a queue that states nothing.
func DefaultSpec() Spec {
	return Spec{Weight: DefaultWeight, Policy: Unstated}
}

// Equal reports whether both specs mean the same.
func (s Spec) Equal(o Spec) bool {
	return s.Weight == o.Weight && s.Capacity == o.Capacity && s.MaxCapacity == o.MaxCapacity && s.Rule() == o.Rule() &&
		s.Guaranteed.Equal(o.Guaranteed) && SameLimits(s.Max, o.Max) && SameLimits(s.MaxPod, o.MaxPod) &&
		s.Strict == o.Strict && s.MaxStarting == o.MaxStarting && s.StartingTimeout == o.StartingTimeout &&
		s.MaxRunningApplications == o.MaxRunningApplications && s.MaxApplications == o.MaxApplications && s.MaxDriverShare == o.MaxDriverShare &&
		s.MaxRunningApplicationsPerUser == o.MaxRunningApplicationsPerUser && s.Users.equal(o.Users) &&
		s.DefaultPriority == o.DefaultPriority && s.MaxPriority == o.MaxPriority && s.Preemption == o.Preemption && s.State == o.State
}

// SameLimits compares maxima, where an absent resource is unlimited.
func SameLimits(a, b resource.List) bool {
	return within(a, b) && within(b, a)
}

// within reports whether b has every limit of a.
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
