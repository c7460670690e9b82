package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	// refusedFor is how long disruption budgets may refuse the eviction of a victim before another is looked for.
	refusedFor = 30 * second
	// ExemptFor is how long no plan takes the pod then.
	ExemptFor = 5 * 60 * second
)

// Withdrawal is why a victim stays after all.
type Withdrawal string

// The withdrawals. Of several causes the first counts.
const (
	// NoWithdrawal: the victim goes.
	NoWithdrawal Withdrawal = ""
	// NoClaimant: the pod for which the victim was to go is not nominated to the node any more: it is gone, runs elsewhere, or its claim has ended.
	NoClaimant Withdrawal = "NoClaimant"
	// NotPreemptible: the victim's queue was set to preemptible: false, or the victim is in no queue.
	NotPreemptible Withdrawal = "NotPreemptible"
	// BelowShare: without its victims the victim's queue, or one above it, would be below its fair share by now.
	BelowShare Withdrawal = "BelowShare"
	// NotNeeded: the claimant has its room without the victim.
	NotNeeded Withdrawal = "NotNeeded"
	// BudgetRefuses: disruption budgets have refused the eviction for too long.
	BudgetRefuses Withdrawal = "BudgetRefuses"
	// NotPlanned: an earlier process announced the eviction, and no plan of this one takes the pod.
	NotPlanned Withdrawal = "NotPlanned"
)

// Withdrawals are all causes for which a victim stays.
func Withdrawals() []Withdrawal {
	return []Withdrawal{NoClaimant, NotPreemptible, BelowShare, NotNeeded, BudgetRefuses, NotPlanned}
}

// VictimInput is what decides whether a victim that waits for its eviction goes.
type VictimInput struct {
	// Nominated: the claimant for which it goes is nominated still.
	Nominated bool
	Total     resource.List
	// InQueue: the victim is in a queue. From are its leaf queue and those above, up to the one below the claim.
	InQueue bool
	From    []QueueAfter
	// Conflicts: the claimant would not fit beside the victim, whatever room there is (a port, an affinity). InGroup: it goes with its group.
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
func Withdraw(v *VictimInput, now int64) Withdrawal {
	if !v.Nominated {
		return NoClaimant
	}
	if !v.InQueue {
		return NotPreemptible
	}
	for i := range v.From {
		switch q := &v.From[i]; {
		case !q.Preemptible:
			return NotPreemptible
		case Starved(q.Rule, v.Total, q.Usage, q.FairShare):
			return BelowShare
		}
	}
	switch {
	case v.RoomWithout && !v.Conflicts && !v.InGroup:
		return NotNeeded
	case v.RefusedSince != 0 && now >= v.RefusedSince+refusedFor:
		return BudgetRefuses
	}
	return NoWithdrawal
}
