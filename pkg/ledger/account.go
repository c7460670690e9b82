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

// account is one competitor of the tree: a queue among its siblings, or an application in its leaf. Each block names the type that
// changes it. What a release touches comes first, together: of ten thousand queues, most are not in the processor's cache when
// their turn comes.
type account struct {
	// orderBooks: which accounts compete below this one, and where it competes itself.
	order     book.Order[*account] // of a queue: its children, or its applications
	podQueues []podQueue           // of an application: its waiting pods
	parent    *account
	inOrder   book.Competitor[*account] // this account's entry in its parent's order book

	guarantee *belowGuarantee // of a queue: see guarantees.go; nil: neither it nor any of its children has a guarantee

	// startTimers: how far applications have come.
	states [application.Completing + 1]int32 // applications of the subtree
	stage                                    // of an application: see gate.go

	// What a release reads besides: lanes and gate belong to orderBooks, usage to set, spec to queueTree, slot to applications.
	lanes    book.Lanes          // of an application: those of its pod queues
	apps     map[string]*account // of a queue: its applications; nil for an application
	usage    resource.Sum        // charges: released, reserved and bound pods, of the whole subtree
	kept     *kept               // of a queue: see kept_room.go; nil: no room is kept for it
	spec     queue.Spec
	gate     book.Order[*account]  // of a StateAware leaf: those of its applications that are at its gate; order has the others
	slot     admission.Application // of an application
	priority int32                 // of an application: see seniority

	// queueTree: where the account is.
	path    queue.Path // the queue; for an application its leaf
	ordinal int        // of a queue: its place in path order, from 1

	// set: what the pods below ask for, and which pods an application has.
	//
	// demand is usage plus the waiting pods that nothing but room holds back. What a child passes up is capped by its max,
	// so this is the sum over the children's capped demands, not over the pods.
	demand  resource.Sum
	members []appEntry // of an application: all its pods, as a heap

	// set: what applications are told of the pods. The numbers of slots belong to applications.
	wanting, limited int             // of an application: pods that want it to run; those of them that a limit on applications blocks
	outstanding      int             // of an application: pods that count as demand and hold nothing
	admission        admission.Queue // of a queue: the applications that run there
	entries          admission.Queue // of a queue: those that are in it
	wasActive        bool            // of a queue: active when shares last noted that

	// shares and queueTree: what the queue is entitled to, and what its drivers have.
	maxPod      resource.List // of a queue: see size.go
	share       share
	kids        []*account   // queues directly below it, in path order
	drivers     resource.Sum // of a leaf: charges of drivers
	driverPods  int          // and how many there are
	driversWait bool         // of a leaf: its share keeps drivers from starting

	// applications: what holds for priorities in a queue.
	priorities application.Priorities

	// orderBooks: what its users may use.
	users  *leafUsers // of a leaf that limits what each user uses: see users.go; nil: it does not
	user   *leafUser  // of an application in such a leaf
	inUser int        // of an application: its place among those of its user
	asks   bool       // of an application: counted among those that ask for something

	// Notes of effects, queueTree and inspection.
	unsettled bool // of an application: see effects
	accepting bool // of a queue: it takes pods
	// forced: without charged pods in it or below it, the queue would leave the tree. It or an ancestor is undeclared, or an
	// ancestor holds pods itself.
	forced  bool
	addedIn uint32 // of an application: the last addition of inspect.go that came to it

	// set: counts of pods.
	pending, running int // pods of the subtree that are entered here: not bound, bound
	direct           int // charged pods entered in this very queue
	byOthers         int // those of them that somebody else has bound: see leafOfBound

	// startTimers: gates and starts.
	gates      // of a leaf: see gate.go
	beginning  // of an application
	appDrivers // of an application: see with_driver.go

	// What no release reads.
	entry admission.Application // of an application: that it is in its queue; belongs to applications
	// driverDemand is of a leaf: what its drivers hold and ask for.
	driverDemand resource.Sum
	preemption   queue.Preemption // of a queue: what is in force
	starving     *starving        // of a queue: see starvation.go; nil: it never was
	evictedAt    int64            // of a queue: see noteEviction; 0: never
	missed       missed           // of an application: see delays.go
}

func (a *account) isApplication() bool { return a.apps == nil }

// isUnder reports whether the account is q or below it.
func (a *account) isUnder(q *account) bool {
	for ; a != nil; a = a.parent {
		if a == q {
			return true
		}
	}
	return false
}

// holdsPlaced reports whether pods are charged to this very queue that this scheduler placed there. Only such pods shape the tree.
func (a *account) holdsPlaced() bool { return a.direct > a.byOthers }

// lowestCommonAncestor is the lowest queue that is, or is above, both queues; nil: one of them is in the tree no more.
func (a *account) lowestCommonAncestor(of *account) *account {
	for of != nil && !a.isUnder(of) {
		of = of.parent
	}
	return of
}

// active: at least one application that may run.
func (a *account) active() bool { return a.admission.Running > 0 }

// cappedDemand is what the account passes up to its parent: what it asks for within its max, but never less than it uses, since a lowered max stops
// nothing that runs.
func (a *account) cappedDemand() resource.List {
	capped := a.demand.List().CapBy(a.spec.Max)
	if a.exceedsMax(none) {
		return capped.Max(a.usage.List())
	}
	return capped
}

// exceedsMax reports whether the account would use more than its max if this request were added.
func (a *account) exceedsMax(with resource.List) bool {
	return a.spec.Max.Len() > 0 && limit.ExceedsMax(&a.usage, with, a.spec.Max)
}

// passDemand adds what the account passes up. Without a max that is its exact demand, also past the end of int64, as in addDemand.
func (a *account) passDemand(up *resource.Sum) {
	if a.spec.Max.Len() == 0 {
		up.AddSum(&a.demand)
		return
	}
	up.Add(a.cappedDemand())
}

// addDemand puts d (sign 1) on the demand of a and its ancestors, or takes it off (sign -1).
func (a *account) addDemand(d resource.List, sign int) {
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
func (a *account) addDemandSum(s *resource.Sum, sign int) {
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

// charge puts a pod on the usage of an application and of its queues (sign 1), or takes it off (sign -1). What an application uses is part of the
// demand of its queues also while the rest of its demand is not.
func (a *account) charge(d resource.List, sign int) {
	a.addUsage(d, sign)
	if a.user != nil {
		addSigned(&a.user.usage, d, sign)
	}
	if !a.counted {
		a.demandOfUser(d, sign)
		a.parent.addDemand(d, sign)
	}
}

// demandOfUser counts what an application asks for in the demand of its user, if its leaf limits what they use.
func (a *account) demandOfUser(d resource.List, sign int) {
	if a.user != nil {
		addSigned(&a.user.demand, d, sign)
	}
}

func (a *account) addUsage(d resource.List, sign int) {
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

func addSigned(s *resource.Sum, d resource.List, sign int) {
	if sign > 0 {
		s.Add(d)
	} else {
		s.Sub(d)
	}
}

func sign(up bool) int {
	if up {
		return 1
	}
	return -1
}

// rekey recomputes what the parent's order books compare.
func (a *account) rekey(total resource.List) {
	if a.parent == nil {
		return
	}
	s := ordering.Standing{Usage: a.standing(), Weight: a.spec.Weight, Name: string(a.path)}
	if a.isApplication() {
		s.Name, s.Priority, s.Submitted = a.slot.Name, a.priority, a.slot.Submitted
	} else {
		s.Ordinal, s.ByCapacity = a.ordinal, a.spec.Capacity.Stated
	}
	rule := a.parent.spec.Rule()
	a.inOrder.KeyUnder(rule.Policy).Set(rule, s, total)
	if a.spec.Guaranteed.Len() > 0 || a.guarantee != nil {
		a.rekeyGuarantee(rule)
	}
}

// maxOn reports whether this request would break the max of this account, with the reason.
func (a *account) maxOn(request resource.List) (reason.Reason, bool) {
	return a.maxWith(&a.usage, request)
}

// maxWith is maxOn if the account used this.
func (a *account) maxWith(usage *resource.Sum, request resource.List) (reason.Reason, bool) {
	why, over := limit.MaxResources(string(a.path), usage, request, a.spec.Max)
	if over && a.spec.MaxCapacity.Stated && a.spec.Calculator.Counts(why.Resource) {
		why.Details = reason.MaxCapacity{Percent: a.spec.MaxCapacity.Most}
	}
	return why, over
}
