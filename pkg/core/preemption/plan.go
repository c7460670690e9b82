package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Plan is what one round decides.
type Plan struct {
	// Claims are those of the world, in its order, with what became of them.
	Claims []Payment
	// Victims are in the order of the claimants for whom they go.
	Victims []Victim
	// Taken is what the victims hold together.
	Taken resource.List
	// Ideal is what each queue of the world would have, were everybody served as the shares say and nobody had more than it asks for.
	Ideal []resource.List
	// Stopped says why the round was not made at all: "" if it was.
	Stopped Stop
	// StoppedFor is the busiest resource, and StoppedAt how much of it is used, where the utilisation is too low.
	StoppedFor resource.Name
	StoppedAt  int64
}

// Payment is a claim and the places found for it.
type Payment struct {
	Claim
	Owed   resource.List // what the target is above the usage, of each resource
	Places []Place
	// Unpaid says why nothing more was found; "" where the claim is covered.
	Unpaid Unpaid
}

// Place is where a claimant will run once its victims are gone.
type Place struct {
	UID   string
	Queue int
	Node  int
}

// Victim is a pod that is to go.
type Victim struct {
	UID   string
	Queue int // of its leaf
	Node  int
	// For is the claimant that needs its room, ForQueue the queue whose claim that is.
	For      string
	ForQueue int
	// Above is the queue from which it is taken: the one below the claim's and its own common ancestor. Surplus is what that queue has above
	// its entitlement before this pod goes, of Resource, which it uses most of.
	Above    int
	Resource resource.Name
	Surplus  int64
	// With names the group that goes with it, "" where it goes alone.
	With string
}

// Stop is why no round is made.
type Stop string

// The causes.
const (
	// NotBusy: the cluster is not above its utilisation threshold.
	NotBusy Stop = "NotBusy"
)

// Unpaid is why a claim, or what is left of it, is not covered.
type Unpaid string

// The causes, the first that applies.
const (
	// NothingOwed: less than a whole pod is owed.
	NothingOwed Unpaid = "NothingOwed"
	// NoSurplus: no queue from which it could be taken is far enough above its entitlement.
	NoSurplus Unpaid = "NoSurplus"
	// NoPlace: there is surplus, but no node on which a claimant would fit if it were given up.
	NoPlace Unpaid = "NoPlace"
	// LimitForbids: a max above the claim's queue leaves no room.
	LimitForbids Unpaid = "LimitForbids"
	// RoundSpent: the budget of the round is spent, the rest comes in the next.
	RoundSpent Unpaid = "RoundSpent"
)

// Make makes a plan. The same world and the same answers give the same plan.
func Make(w World, f Feasibility) Plan {
	panic("not built yet")
}
