package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// World is what a plan is made from. Its amounts are net: terminating pods and victims of earlier plans count as gone; nominated claimants
// of earlier plans count as there. So a plan never takes again what earlier plans have taken.
type World struct {
	Total  resource.List // what the queues share
	Queues []Queue       // in path order, the root first, parents before children
	Nodes  []Node        // in order of names
	Claims []Claim       // in the order in which they are to be paid: see Order
	// Applications are those that have pods, in order of Queue, then of Name.
	Applications []Application
	// Settings are those of the root.
	Settings Settings
	// Used is what all pods hold now, gross: the cluster must be busier than Settings.UtilizationThreshold.
	Used resource.List
	// Gone are the pods that still run and count as gone in the amounts. Coming are the nominations of pods that do not run yet and count
	// as there. They are for a Feasibility: the rules read neither.
	Gone   []string
	Coming []Nomination
}

// Queue is a queue as preemption sees it.
type Queue struct {
	Path   queue.Path
	Parent int // index into World.Queues, -1 for the root
	// Rule says by which resources the queue is compared with its siblings: its parent's rule; the root has its own.
	Rule queue.Rule
	// Entitlement is what no claim of a sibling takes from the queue: its instantaneous fair share, which is never less than its guarantee. For queues further
	// outside less may count: see covered.go.
	Entitlement resource.List
	// Inside is the queue's own rule: it orders the applications of a leaf.
	Inside queue.Rule
	Usage  resource.List // net: see World
	// Announced is what the victims of earlier rounds that still run hold. Usage is without it.
	Announced   resource.List
	Demand      resource.List // capped by every max on the path
	Max         resource.List // an absent resource is unlimited
	Preemptible bool          // in force: false also where a queue above says so, and this one does not undo it
	// Weight (milli, or the capacity), ByCapacity, Guaranteed and Active are for the ideal of a plan only. Preemption itself looks at
	// Entitlement.
	Weight     int64
	ByCapacity bool
	Guaranteed resource.List
	Active     bool
}

// Node is a node as preemption sees it.
type Node struct {
	Name string
	// Free is what is left beside everything that stays; it may be negative.
	Free resource.List
	// Slots is how many more pods the node takes.
	Slots int
	// Candidates are the pods of ours that run there and are not leaving, in order of UID.
	Candidates []Candidate
}

// Candidate is a pod that may become a victim.
type Candidate struct {
	UID         string
	Queue       int // index into World.Queues of its leaf
	Request     resource.List
	Application string // its name: see World.Applications
	Priority    int32
	Driver      bool
	Bound       int64 // when it got its node, unix nanoseconds
	// Gang is the key of its pod group, "" without one: a group goes whole or not at all.
	Gang string
	// Announced: an earlier process of the scheduler announced its eviction, so it is preferred among equals.
	Announced bool
	// Replaces is when the pod that this one replaces was evicted, unix nanoseconds; 0: it replaces none, or a share has changed since.
	Replaces int64
}

// Application is an application as preemption sees it: what decides its place in the order of its leaf.
type Application struct {
	Queue     int // index into World.Queues of its leaf
	Name      string
	Usage     resource.List // net: see World
	Priority  int32
	Submitted int64 // unix nanoseconds
}

// Calculator says which resources count. All queues have the same.
func (w *World) Calculator() queue.Calculator {
	if len(w.Queues) == 0 {
		return queue.DominantCalculator
	}
	return w.Queues[0].Rule.Calculator
}

// Kind says below what a queue is: its guarantee or its fair share.
type Kind uint8

// The kinds of claims, in the order in which they are paid.
const (
	BelowGuaranteed Kind = iota
	BelowFairShare
)

var kindNames = [...]string{BelowGuaranteed: "Guaranteed", BelowFairShare: "FairShare"}

// String returns the name of the kind as the JSON of a plan and the metrics spell it.
func (k Kind) String() string { return kindNames[k] }

// Claim is what a starved queue is owed, and the pods that are to use it. It stays open until it is paid.
type Claim struct {
	Queue int // index into World.Queues
	Kind  Kind
	Since int64 // when the queue began to be below, unix nanoseconds
	// AfterEviction: it fell below because pods of it were evicted.
	AfterEviction bool
	// Target is the usage up to which the claim goes: min(fair share, demand), or min(guaranteed, demand).
	Target resource.List
	// Coming is what the nominated pods of the queue that do not run yet ask for. They count in its usage.
	Coming resource.List
	// Units are the queue's next pods, in the order in which they would be released: as many as the limits below the queue let run
	// together, as Target has room for, and as the ledger looks at in one round.
	Units []Unit
	// More: the queue has more units than one round looks at. They come in the next round.
	More bool
}

// Exempts reports whether the claim must not take a pod: the pod replaces one that was evicted, no share has changed since, and the queue was starved
// already at that time, or is starved only since pods of its own were evicted. One eviction for one state of the shares.
func (c *Claim) Exempts(v *Candidate) bool {
	return v.Replaces != 0 && (c.AfterEviction || c.Since <= v.Replaces)
}

// Unit is what is nominated together or not at all: a single pod, or as many pods as a group needs to start.
type Unit struct {
	Pods []Claimant
	Gang string // "" for a single pod
	// After is the claimant without which the unit does not start: the driver of its application. "" for none.
	After string
}

// Claimant is a waiting pod of a starved queue.
type Claimant struct {
	UID     string
	Queue   int // of its leaf
	Request resource.List
	Class   string // pods of one class are alike to every filter
	// Nominated is the node to which it is nominated already, "" if none. Among nodes of equal cost it is preferred.
	Nominated string
}

// Feasibility answers what arithmetic does not know. It has a what-if picture of the cluster, which follows the plan as it is made.
type Feasibility interface {
	// Fits reports whether the claimant could run on the node (an index into World.Nodes) if these pods, which run there, were gone, in the
	// picture as committed so far.
	Fits(c *Claimant, node int, gone []string) bool
	// Commit makes that part of the picture. Pods of gone may run on other nodes too: pods of one group are evicted together.
	Commit(c *Claimant, node int, gone []string)
	// Commits is how many commits there are; Rollback takes back all but the first n.
	Commits() int
	Rollback(n int)
	// Budgets returns the disruption budgets that cover a pod, as indices into what Allowed knows; nil: none.
	Budgets(uid string) []int
	// Allowed is how many more pods a budget lets go.
	Allowed(budget int) int
}

// Settings are the preemption settings of the root, without timeouts. See DefaultSettings.
type Settings struct {
	// UtilizationThreshold is in thousandths of the cluster, of the resource that is used most of those that count.
	UtilizationThreshold int64
	ObserveOnly          bool
	Interval             int64 // between two rounds, nanoseconds
	MaxWaitBeforeKill    int64 // between announcement and eviction, nanoseconds
	// TotalPerRound is the part of the cluster that one round may take, in thousandths, before NaturalTerminationFactor applies to it too.
	TotalPerRound int64
	// MaxIgnoredOverCapacity: a leaf that uses no more than its entitlement and this part of it, in thousandths, loses no pod. One that
	// uses more goes down to its ideal.
	MaxIgnoredOverCapacity int64
	// NaturalTerminationFactor is the part of a claim that one round pays, in thousandths. What earlier rounds have paid and has not come
	// yet counts as part of this one.
	NaturalTerminationFactor int64
}

// SettingsOf returns what the root states, with the defaults for what it leaves open.
func SettingsOf(p queue.Preemption) Settings {
	s := DefaultSettings()
	s.ObserveOnly = p.ObserveOnly
	for _, ratio := range []struct {
		stated queue.Limit
		to     *int64
	}{
		{p.UtilizationThreshold, &s.UtilizationThreshold},
		{p.TotalPerRound, &s.TotalPerRound},
		{p.MaxIgnoredOverCapacity, &s.MaxIgnoredOverCapacity},
		{p.NaturalTerminationFactor, &s.NaturalTerminationFactor},
	} {
		if ratio.stated.Stated {
			*ratio.to = ratio.stated.Most
		}
	}
	if p.Interval.Stated {
		s.Interval = p.Interval.Nanoseconds
	}
	if p.MaxWaitBeforeKill.Stated {
		s.MaxWaitBeforeKill = p.MaxWaitBeforeKill.Nanoseconds
	}
	return s
}

// DefaultSettings apply where nothing is stated. The last three put no bound on a round: a claim is owed in full, and its queue has waited
// already.
func DefaultSettings() Settings {
	return Settings{
		UtilizationThreshold: 800, Interval: 3_000_000_000, MaxWaitBeforeKill: 15_000_000_000,
		TotalPerRound: 1000, MaxIgnoredOverCapacity: 0, NaturalTerminationFactor: 1000,
	}
}
