package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// refusedFor is how long disruption budgets may refuse the eviction of a victim before another is looked for.
const refusedFor = 30 * second

// VictimInput is what decides whether a victim that waits for its eviction goes.
type VictimInput struct {
	// Nominated: the claimant for which it goes is nominated still.
	Nominated bool
	Total     resource.List
	// Pays is what the claimant pays of a guarantee; "" for a claim of a fair share. Request is the victim's.
	Pays    resource.Name
	Request resource.List
	// Preemptible: the victim is in a queue whose pods may be preempted. From are that queue and those above, up to the one below
	// the claim.
	Preemptible bool
	From        []QueueAfter
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
	Rule      queue.Rule // of its parent
	Usage     resource.List
	FairShare resource.List
	// Guaranteed is what its rule counts of its guarantee, as far as it asks for it: see GuaranteedTarget. Only what claims of guarantees take
	// is compared with it.
	Guaranteed resource.List
}

// keepsGuarantee reports whether the queue still has what it is guaranteed of all resources for which a victim asks, up to the one that is paid: what
// planner.keepsGuarantees demands of a plan.
func (q *QueueAfter) keepsGuarantee(pays resource.Name, victim resource.List) bool {
	for i := range q.Guaranteed.Len() {
		if e := q.Guaranteed.At(i); victim.Get(e.Name) > 0 && Precedence(e.Name, pays) <= 0 && q.Usage.Get(e.Name) < e.Value {
			return false
		}
	}
	return true
}

// Withdraw decides whether a victim stays, and why: shares, usage and nodes have moved since the plan was made.
func Withdraw(v *VictimInput, now int64) reason.WithdrawnCause {
	if !v.Nominated {
		return reason.NoClaimant
	}
	if !v.Preemptible {
		return reason.NotPreemptible
	}
	for i := range v.From {
		switch q := &v.From[i]; {
		case Starved(q.Rule, v.Total, q.Usage, q.FairShare):
			return reason.BelowShare
		case v.Pays != "" && !q.keepsGuarantee(v.Pays, v.Request):
			return reason.BelowGuarantee
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
