package queue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// states changes the spec of a queue.
func states(edit func(*queue.Spec)) func(*queue.Declaration) {
	return func(d *queue.Declaration) { edit(&d.Spec) }
}

func forChildren(d *queue.Declaration) { d.Parent = true }

// ignored are the fields that a tree reports as without effect: "path field: cause by".
func ignored(tree queue.Tree) []string {
	out := []string{}
	for _, p := range tree.Problems {
		if d, is := p.Reason.Details.(reason.Ignored); is {
			out = append(out, strings.TrimSpace(string(p.Path)+" "+d.Field+": "+string(d.Cause)+" "+d.By))
		}
	}
	return out
}

var (
	driverShare = states(func(s *queue.Spec) { s.MaxDriverShare = queue.AtMost(300) })
	strict      = states(func(s *queue.Spec) { s.Strict = true })
	maxStarting = states(func(s *queue.Spec) { s.MaxStarting = queue.AtMost(2) })
	adaptive    = states(func(s *queue.Spec) { s.StartingTimeout = queue.StartingTimeout{Adaptive: true} })
	priority    = states(func(s *queue.Spec) { s.DefaultPriority = 7 })
	timeout     = states(func(s *queue.Spec) { s.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: 1} })
	guaranteeIn = states(func(s *queue.Spec) { s.Preemption.GuaranteedTimeout = queue.Timeout{Stated: true, Nanoseconds: 1} })
	observed    = states(func(s *queue.Spec) { s.Preemption.ObserveOnly = true })
	halfPart    = states(func(s *queue.Spec) { s.Users.MinShare = queue.AtMost(50) })
	heavyUser   = states(func(s *queue.Spec) { s.Users.Weights = queue.WeightsOf(queue.UserWeight{User: "ann", Weight: 2000}) })
)

func preemptible(may bool) func(*queue.Declaration) {
	return states(func(s *queue.Spec) { s.Preemption.Preemptible = queue.StatedPreemptible(may) })
}

func weighs(milli int64) func(*queue.Declaration) {
	return states(func(s *queue.Spec) { s.Weight = milli })
}

// Each field is told where it has no effect, and nowhere else.
func TestEveryFieldWithoutEffectIsTold(t *testing.T) {
	fairMemory := policy(queue.Fair)
	of := func(r resource.Name) func(*queue.Declaration) {
		return states(func(s *queue.Spec) { s.FairResource = r })
	}
	for name, c := range map[string]struct {
		declared []queue.Declaration
		want     []string
	}{
		"a leaf with all that is for leaves": {
			[]queue.Declaration{declare("root.a", driverShare, priority, halfPart, heavyUser, maxStarting, adaptive, policy(queue.StateAware))},
			[]string{},
		},
		"a parent": {
			[]queue.Declaration{declare("root.a", driverShare, priority, halfPart, heavyUser), declare("root.a.b")},
			[]string{
				"root.a defaultPriority: ForLeaves", "root.a maxDriverShare: ForLeaves",
				"root.a users.minSharePercent: ForLeaves", "root.a users.weights: ForLeaves",
			},
		},
		"a queue for children that has none": {
			[]queue.Declaration{declare("root.a", driverShare, forChildren)},
			[]string{"root.a maxDriverShare: ForLeaves"},
		},
		"a parent whose only child is blocked is a leaf": {
			[]queue.Declaration{declare("root.a", driverShare), declare("root.a.b.c")},
			[]string{},
		},
		"the root": {
			[]queue.Declaration{declare("root", driverShare, priority, weighs(2000), guaranteed(cpu(4)),
				states(func(s *queue.Spec) { s.Users.ShareFactor = queue.AtMost(2000) }))},
			[]string{
				"root defaultPriority: ForLeaves", "root guaranteed: WholeCluster", "root maxDriverShare: ForLeaves",
				"root users.shareFactor: ForLeaves", "root weight: NoSiblings",
			},
		},
		"the root with what the schema writes": {[]queue.Declaration{declare("root", weighs(queue.DefaultWeight))}, []string{}},
		"what StateAware uses, under other policies": {
			[]queue.Declaration{
				declare("root.a", maxStarting, strict), declare("root.b", adaptive, strict, policy(queue.FIFO)), declare("root.c", maxStarting, policy(queue.Fair)),
			},
			[]string{
				"root.a maxStarting: ForStateAware DominantResourceFairness", "root.a strict: ForFIFO DominantResourceFairness", "root.b startingTimeout: ForStateAware FIFO",
				"root.c maxStarting: ForStateAware Fair",
			},
		},
		"where StateAware is not allowed, that is the problem": {
			[]queue.Declaration{declare("root.a", maxStarting, policy(queue.StateAware)), declare("root.a.b")}, []string{},
		},
		"what Fair uses, under other policies": {
			[]queue.Declaration{declare("root.a", of("cpu")), declare("root.b", of("cpu"), policy(queue.FIFO)), declare("root.c", of("cpu"), fairMemory)},
			[]string{"root.a fairResource: ForFair DominantResourceFairness", "root.b fairResource: ForFair FIFO"},
		},
		"what Fair uses, below Fair": {
			[]queue.Declaration{declare("root.a", fairMemory), declare("root.a.b", of("memory"))}, []string{},
		},
		"a guarantee of what the parent does not divide": {
			[]queue.Declaration{
				declare("root.a", fairMemory, guaranteed(cpu(4))), declare("root.a.b", guaranteed(cpu(4).Add(memory(4)))),
				declare("root.a.c", guaranteed(memory(4))),
			},
			[]string{"root.a.b guaranteed: ParentDividesOne cpu"},
		},
		"a guarantee of what the calculator does not count": {
			[]queue.Declaration{
				declare("root", states(func(s *queue.Spec) { s.Calculator = queue.MemoryCalculator })), declare("root.a", guaranteed(cpu(4).Add(memory(4)))),
			},
			[]string{"root.a guaranteed: CalculatorCountsOne cpu"},
		},
		"weights of users where none is limited": {
			[]queue.Declaration{declare("root.a", heavyUser), declare("root.b", heavyUser, halfPart)},
			[]string{"root.a users.weights: NoUserLimit"},
		},
		"weights of users of a capacity": {[]queue.Declaration{declare("root.a", heavyUser, byCapacity(queue.Whole))}, []string{}},
		"what placement created among capacities": {
			[]queue.Declaration{
				declare("root.a", byCapacity(queue.Whole)), declare("root.b", createdByPlacement, weighs(3000), guaranteed(cpu(4))),
				declare("root.c", createdByPlacement),
			},
			[]string{"root.b guaranteed: AmongCapacities", "root.b weight: AmongCapacities"},
		},
		"a timeout without a guarantee": {
			[]queue.Declaration{
				declare("root", guaranteeIn), declare("root.a", guaranteeIn), declare("root.b", guaranteeIn, guaranteed(cpu(4))),
				declare("root.c", guaranteeIn), declare("root.c.d", guaranteed(cpu(4))),
			},
			[]string{"root.a preemption.guaranteedTimeout: NoGuarantee"},
		},
		"a default without a guarantee so far, beside one that counts": {
			[]queue.Declaration{declare("root", timeout), declare("root.a", guaranteeIn), declare("root.a.b"), declare("root.c", guaranteeIn)},
			[]string{"root.c preemption.guaranteedTimeout: NoGuarantee"},
		},
		"a default without a guarantee so far, alone": {
			[]queue.Declaration{declare("root", guaranteeIn), declare("root.a")},
			[]string{"root preemption.guaranteedTimeout: NoGuarantee"},
		},
		"a timeout for a capacity is that of its fair share": {
			[]queue.Declaration{declare("root.a", guaranteeIn, byCapacity(queue.Whole))},
			[]string{"root.a preemption.guaranteedTimeout: NoGuarantee"},
		},
		"nothing to observe": {
			[]queue.Declaration{declare("root", observed, states(func(s *queue.Spec) { s.Preemption.TotalPerRound = queue.AtMost(100) })), declare("root.a")},
			[]string{"root preemption.observeOnly: NoTimeout", "root preemption.totalPerRound: NoTimeout"},
		},
		"something to observe": {[]queue.Declaration{declare("root", observed), declare("root.a", timeout)}, []string{}},
		"preemptible below a queue that is not": {
			[]queue.Declaration{
				declare("root.a", preemptible(false)), declare("root.a.b", preemptible(true)), declare("root.a.b.c", preemptible(true)),
				declare("root.d", preemptible(true)), declare("root.d.e", preemptible(false)), declare("root.d.f", preemptible(true)),
			},
			[]string{"root.a.b preemption.preemptible: ProtectedAbove root.a", "root.a.b.c preemption.preemptible: ProtectedAbove root.a"},
		},
		"preemptible with a capacity below a queue that is not": {
			[]queue.Declaration{
				declare("root.a", preemptible(false)), declare("root.a.b", preemptible(true), byCapacity(queue.Whole)), declare("root.a.b.c", preemptible(true)),
			},
			[]string{},
		},
		"a priority above the highest": {
			[]queue.Declaration{
				declare("root", states(func(s *queue.Spec) { s.MaxPriority = queue.AtMost(5) })), declare("root.a", priority),
				declare("root.b", states(func(s *queue.Spec) { s.DefaultPriority = 5 })),
			},
			[]string{"root.a defaultPriority: AboveMaxPriority 5"},
		},
		"a highest priority below the one that is not stated": {
			[]queue.Declaration{declare("root", states(func(s *queue.Spec) { s.MaxPriority = queue.AtMost(-5) })), declare("root.a")}, []string{},
		},
		"a queue that is not in the tree": {[]queue.Declaration{declare("root.a.b", maxStarting)}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ignored(queue.Build(c.declared, nil, resource.List{}))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Reverse(c.declared)
			if diff := cmp.Diff(c.want, ignored(queue.Build(c.declared, nil, resource.List{}))); diff != "" {
				t.Errorf("in another order (-want +got):\n%s", diff)
			}
		})
	}
}
