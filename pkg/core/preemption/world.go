package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// World is what a plan is made from. Its amounts are net: pods that are terminating, and victims of earlier plans, are gone in it; claimants of
// earlier plans that are still to come are there already. So a plan asks for nothing that is on its way.
type World struct {
	Total  resource.List // what the queues share
	Queues []Queue       // in path order, the root first, parents before children
	Nodes  []Node        // in order of names
	Claims []Claim       // in the order in which they are to be paid: see Order
	// Settings are those of the root.
	Settings Settings
	// Used is what all pods hold now, gross: the cluster must be busier than Settings.UtilizationThreshold.
	Used resource.List
	// Gone are the pods that still have nodes and that the amounts take for gone; Coming, those without that have places in the amounts. They
	// are for a Feasibility: the rules read neither.
	Gone   []string
	Coming []Place
}

// Queue is a queue as preemption sees it.
type Queue struct {
	Path   queue.Path
	Parent int // index into World.Queues, -1 for the root
	// Rule says by which resources the queue is compared with its siblings: its parent's rule; the root has its own.
	Rule queue.Rule
	// Entitlement is what no preemption takes from the queue: its instantaneous fair share, which is never less than its guarantee.
	Entitlement resource.List
	Usage       resource.List // net: see World
	Demand      resource.List // capped by every max on the path
	Max         resource.List // an absent resource is unlimited
	Preemptible bool          // in force: false also where a queue above says so
	// Weight (milli), Guaranteed and Active are for the ideal of a plan only: what is entitled says Entitlement.
	Weight     int64
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
	UID      string
	Queue    int // index into World.Queues of its leaf
	Request  resource.List
	Priority int32
	Driver   bool
	Bound    int64 // when it got its node, unix nanoseconds
	// Gang is the key of its pod group, "" without one: a group goes whole or not at all.
	Gang string
	// Announced: an earlier process of the scheduler announced its eviction; it is taken before its equals.
	Announced bool
	// Replaces is when the pod was evicted in whose place this one is, unix nanoseconds; 0: it is in nobody's, or a share has changed since.
	Replaces int64
}

// Kind says what a queue is below.
type Kind uint8

// The kinds of claims, those that are paid first before.
const (
	BelowGuaranteed Kind = iota
	BelowFairShare
)

var kindNames = [...]string{BelowGuaranteed: "Guaranteed", BelowFairShare: "FairShare"}

// String returns the name of the kind as the JSON of a plan and the metrics spell it.
func (k Kind) String() string { return kindNames[k] }

// Claim is what a starved queue is owed, and who is to use it. It stays open until it is paid.
type Claim struct {
	Queue int // index into World.Queues
	Kind  Kind
	Since int64 // when the queue began to be below, unix nanoseconds
	// Target is the usage up to which the claim goes: min(fair share, demand), or min(guaranteed, demand).
	Target resource.List
	// Units are the queue's next pods in the order of the dispatch, as limits below the queue let them run together; not more than Target
	// leaves room for, by count of what one unit asks for, or a bound that the ledger sets.
	Units []Unit
	// More: it has more units than one round looks at; they come in the next.
	More bool
}

// Exempts reports whether the claim must not take a pod: it replaces one that was evicted when the queue was below
// already, and no share has changed since. One eviction for one state of the shares.
func (c *Claim) Exempts(v *Candidate) bool { return v.Replaces != 0 && c.Since <= v.Replaces }

// Unit is what gets its places together or not at all: a single pod, or as many pods as a group needs to start.
type Unit struct {
	Pods []Claimant
	Gang string // "" for a single pod
}

// Claimant is a waiting pod of a starved queue.
type Claimant struct {
	UID     string
	Queue   int // of its leaf
	Request resource.List
	Class   string // pods of one class are alike to every filter
	// Nominated is the node that an earlier plan gave it, "" if none: it goes before other nodes of equal cost.
	Nominated string
}

// Feasibility answers what arithmetic does not know. It holds a what-if picture of the cluster, which follows the plan as it is made.
type Feasibility interface {
	// Fits reports whether the claimant could run on the node (an index into World.Nodes) were these pods, which run there, gone, in
	// the picture as committed so far.
	Fits(c *Claimant, node int, gone []string) bool
	// Commit makes that part of the picture. gone may lie on other nodes too, where a victim's group goes with it.
	Commit(c *Claimant, node int, gone []string)
	// Commits is how many commits stand; Rollback takes back all but the first n.
	Commits() int
	Rollback(n int)
	// Budgets returns the disruption budgets that cover a pod, as indices into what Allowed knows; nil: none.
	Budgets(uid string) []int
	// Allowed is how many more pods a budget lets go.
	Allowed(budget int) int
}

// Settings are what the root's preemption says beside timeouts. See DefaultSettings.
type Settings struct {
	// UtilizationThreshold is in thousandths of the cluster, of the resource that is used most.
	UtilizationThreshold int64
	ObserveOnly          bool
	Interval             int64 // between two rounds, nanoseconds
	MaxWaitBeforeKill    int64 // between announcement and eviction, nanoseconds
	// TotalPerRound is the part of the cluster that one round may take, in thousandths.
	TotalPerRound int64
	// MaxIgnoredOverCapacity: a queue is left alone up to its entitlement and this part of it, in thousandths.
	MaxIgnoredOverCapacity int64
	// NaturalTerminationFactor is the part of a claim that one round pays, in thousandths.
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

// DefaultSettings hold where nothing is stated. The last three change nothing: among weights a claim is what a queue is owed, and it was patient.
func DefaultSettings() Settings {
	return Settings{
		UtilizationThreshold: 800, Interval: 3_000_000_000, MaxWaitBeforeKill: 15_000_000_000,
		TotalPerRound: 1000, MaxIgnoredOverCapacity: 0, NaturalTerminationFactor: 1000,
	}
}
