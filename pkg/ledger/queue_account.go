package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// queueAccount is a queue of the tree: what its pods hold and ask for, what it is entitled to, and what competes below it. It has children or, as a leaf,
// applications; beside children only the applications of pods that somebody else has bound. Each block names the type that changes it. What a release
// touches comes first, together: of ten thousand queues, most are not in the processor's cache when their turn comes.
type queueAccount struct {
	// orderBooks: what competes below this queue, and where it competes itself.
	queueOrder book.Order[*queueAccount]      // its children
	appOrder   book.Order[*appAccount]        // its applications, without those at its gate
	gateOrder  book.Order[*appAccount]        // those at its gate
	inOrder    book.Competitor[*queueAccount] // its entry in the order of its parent
	guarantee  *belowGuarantee                // see guarantees.go; nil: neither it nor any of its children has a guarantee

	account

	// startTimers: how far its applications have come, and those of the queues below.
	states [application.Completing + 1]int32

	// What a release reads besides: kids, gated and spec belong to queueTree, kept to moves.
	kids  []*queueAccount // queues directly below it, in path order
	gated bool            // it is a leaf with a gate: see gate.go
	kept  *kept           // see kept_room.go; nil: no room is kept for it
	spec  queue.Spec

	// queueTree: where it is.
	path    queue.Path
	ordinal int // its place in path order, from 1

	// set: its applications and pods.
	apps     map[string]*appAccount
	direct   int // charged pods entered in this very queue
	byOthers int // those of them that somebody else has bound: see leafOfBound

	// set: what the drivers of a leaf have.
	drivers      resource.Sum // their charges
	driverPods   int          // and how many there are
	driverDemand resource.Sum // what they hold and ask for

	// applications: how many it has, with the queues below. How many it may have belongs to queueTree.
	admission  admission.Queue        // those that run
	entries    admission.Queue        // those that are in it
	priorities application.Priorities // what holds for those of its pods

	// shares: what it is entitled to.
	share     share
	wasActive bool // active when shares last noted that

	// orderBooks: what its users may use, and its drivers.
	users       *leafUsers // of a leaf that limits what each user uses: see users.go; nil: it does not
	driversWait bool       // of a leaf: its share keeps drivers from starting

	// queueTree: whether it takes pods and stays, and what follows for it from its spec and those above.
	accepting bool
	// forced: without charged pods in it or below it, the queue would leave the tree. It or an ancestor is undeclared, or an
	// ancestor holds pods itself.
	forced     bool
	maxPod     resource.List    // see size.go
	preemption queue.Preemption // what is in force

	// startTimers: the gate of a leaf.
	gates

	// plans: its clocks. moves: its evictions.
	starving  *starving // see starvation.go; nil: it never was
	evictedAt int64     // see noteEviction; 0: never
}

func newQueueAccount(p queue.Path, parent *queueAccount) *queueAccount {
	a := &queueAccount{account: account{parent: parent}, path: p, apps: map[string]*appAccount{}}
	a.admission.Path, a.entries.Path = p, p
	if parent != nil {
		a.admission.Parent, a.entries.Parent = &parent.admission, &parent.entries
	}
	a.inOrder.Init(a)
	return a
}

// isUnder reports whether the queue is q or below it.
func (a *queueAccount) isUnder(q *queueAccount) bool {
	for ; a != nil; a = a.parent {
		if a == q {
			return true
		}
	}
	return false
}

// holdsPlaced reports whether pods are charged to this very queue that this scheduler placed there. Only such pods shape the tree.
func (a *queueAccount) holdsPlaced() bool { return a.direct > a.byOthers }

// lowestCommonAncestor is the lowest queue that is, or is above, both queues; nil: one of them is in the tree no more.
func (a *queueAccount) lowestCommonAncestor(of *queueAccount) *queueAccount {
	for of != nil && !a.isUnder(of) {
		of = of.parent
	}
	return of
}

// active: at least one application that may run.
func (a *queueAccount) active() bool { return a.admission.Running > 0 }

// cappedDemand is what the queue passes up to its parent: what it asks for within its max, but never less than it uses, since a lowered max stops
// nothing that runs.
func (a *queueAccount) cappedDemand() resource.List {
	capped := a.demand.List().CapBy(a.spec.Max)
	if a.exceedsMax(none) {
		return capped.Max(a.usage.List())
	}
	return capped
}

// exceedsMax reports whether the queue would use more than its max if this request were added.
func (a *queueAccount) exceedsMax(with resource.List) bool {
	return a.spec.Max.Len() > 0 && limit.ExceedsMax(&a.usage, with, a.spec.Max)
}

// passDemand adds what the queue passes up. Without a max that is its exact demand, also past the end of int64, as in addDemand.
func (a *queueAccount) passDemand(up *resource.Sum) {
	if a.spec.Max.Len() == 0 {
		up.AddSum(&a.demand)
		return
	}
	up.Add(a.cappedDemand())
}

// addDemand puts d (sign 1) on the demand of a and its ancestors, or takes it off (sign -1).
func (a *queueAccount) addDemand(d resource.List, sign int) {
	for ; a != nil; a = a.parent {
		if a.spec.Max.Len() == 0 {
			addSigned(&a.demand, d, sign)
			continue
		}
		before := a.cappedDemand()
		addSigned(&a.demand, d, sign)
		d, sign = a.cappedDemand().Sub(before), 1
	}
}

// addDemandSum is addDemand for what may be more than a list holds.
func (a *queueAccount) addDemandSum(s *resource.Sum, sign int) {
	apply := a.demand.AddSum
	if sign < 0 {
		apply = a.demand.SubSum
	}
	if a.spec.Max.Len() > 0 {
		before := a.cappedDemand()
		apply(s)
		if a.parent != nil {
			a.parent.addDemand(a.cappedDemand().Sub(before), 1)
		}
		return
	}
	apply(s)
	if a.parent != nil {
		a.parent.addDemandSum(s, sign)
	}
}

func (a *queueAccount) addUsage(d resource.List, sign int) {
	with := none
	if sign > 0 {
		with = d
	}
	for ; a != nil; a = a.parent {
		if a.parent == nil || !a.exceedsMax(with) {
			addSigned(&a.usage, d, sign)
			continue
		}
		before := a.cappedDemand() // as in addDemand: beyond the max, it follows the usage
		addSigned(&a.usage, d, sign)
		a.parent.addDemand(a.cappedDemand().Sub(before), 1)
	}
}

// rekey recomputes what the parent's order books compare: its order and that of the queues below their guarantees.
func (a *queueAccount) rekey(total resource.List) {
	if a.parent == nil {
		return
	}
	rule := a.parent.spec.Rule()
	s := ordering.Standing{
		Usage: a.standing(), Weight: a.spec.Weight, Name: string(a.path), Ordinal: a.ordinal, ByCapacity: a.spec.Capacity.Stated,
	}
	a.inOrder.KeyUnder(rule.Policy).Set(rule, s, total)
	if a.spec.Guaranteed.Len() > 0 || a.guarantee != nil {
		a.rekeyGuarantee(rule)
	}
}

// maxOn reports whether this request would break the max of this queue, with the reason.
func (a *queueAccount) maxOn(request resource.List) (reason.Reason, bool) {
	return a.maxWith(&a.usage, request)
}

// maxWith is maxOn if the queue used this.
func (a *queueAccount) maxWith(usage *resource.Sum, request resource.List) (reason.Reason, bool) {
	why, over := limit.MaxResources(string(a.path), usage, request, a.spec.Max)
	if over && a.spec.MaxCapacity.Stated && a.spec.Calculator.Counts(why.Resource) {
		why.Details = reason.MaxCapacity{Percent: a.spec.MaxCapacity.Most}
	}
	return why, over
}
