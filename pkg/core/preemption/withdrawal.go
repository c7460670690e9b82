package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	// refusedFor is how long disruption budgets may refuse the eviction of a victim before another is looked for.
	refusedFor = 30 * second
	// ExemptFor is how long no plan takes the pod then.
	ExemptFor = 5 * 60 * second
)

// VictimInput is what decides whether a victim that waits for its eviction goes.
type VictimInput struct {
	// Nominated: the claimant for which it goes is nominated still.
	Nominated bool
	Total     resource.List
	// InQueue: the victim is in a queue. From are its leaf queue and those above, up to the one below the claim.
	InQueue bool
	From    []QueueAfter
	// Conflicts: the claimant would not fit beside the victim, whatever room there is (a port, an affinity). InGroup: it goes with its
	// group.
	Conflicts, InGroup bool
	// RoomWithout: the node has room for the claimants although the victim stays.
	RoomWithout bool
	// RefusedSince is since when disruption budgets refuse the eviction, unix nanoseconds; 0: they do not.
	RefusedSince int64
}

// QueueAfter is a queue as the plans leave it: all victims are gone, and all claimants are there.
type QueueAfter struct {
	Rule        queue.Rule // of its parent
	Preemptible bool
	Usage       resource.List
	FairShare   resource.List
}

// Withdraw decides whether a victim stays, and why: shares, usage and nodes have moved since the plan was made.
func Withdraw(v *VictimInput, now int64) reason.WithdrawnCause {
	if !v.Nominated {
		return reason.NoClaimant
	}
	if !v.InQueue {
		return reason.NotPreemptible
	}
	for i := range v.From {
		switch q := &v.From[i]; {
		case !q.Preemptible:
			return reason.NotPreemptible
		case Starved(q.Rule, v.Total, q.Usage, q.FairShare):
			return reason.BelowShare
		}
	}
	switch {
	case v.RoomWithout && !v.Conflicts && !v.InGroup:
		return reason.NotNeeded
	case v.RefusedSince != 0 && now >= v.RefusedSince+refusedFor:
		return reason.BudgetRefuses
	}
	return reason.NotWithdrawn
}
