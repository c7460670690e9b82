package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// rounds owns when rounds of preemption are made. It hears of looks at the clocks, of claims that open, of rounds that begin and of plans
// that are adopted. It says whether a round is due, and whether this process knows its victims. Clocks and claims are in the accounts: see
// starving.
//
// A round has four steps: LookAtStarvation says that it is due, Preemption copies what a plan is made from, preemption.Make makes the plan
// without the lock, and Adopt carries it out.
type rounds struct {
	pace        preemption.Pace
	clocksAsOf  uint64 // the version, plus one, at the last look at the clocks; 0: there was none
	plannedAsOf uint64 // the version, plus one, at the last round; 0: none was made since a claim opened
	adopted     bool   // this process has adopted a plan, or would have but for observeOnly
	// clocksRestored: the clocks have taken over what the statuses of Queues say.
	clocksRestored bool
}

// claimOpens makes a round due as soon as the interval allows.
func (r *rounds) claimOpens() { r.plannedAsOf, r.pace.Vain = 0, 0 }

// due says whether a round is due for a queue whose claim is open, and when it will be.
func (r *rounds) due(s preemption.Settings, q *starving, version uint64, now int64) (due bool, next int64) {
	interval, changed := r.pace.Interval(s.Interval), r.plannedAsOf != version+1
	if q.requested && !s.ObserveOnly && !r.pace.Waits { // nobody waits for a plan that is only observed
		interval, changed = r.pace.IntervalOnRequest(s.Interval), true
	}
	return r.pace.Next(interval, q.pause.Until, changed, now)
}

// begins notes a round that begins.
func (r *rounds) begins(version uint64, now int64) {
	r.pace.LastRound, r.plannedAsOf = now, version+1
}

// looksAtAll notes whether a round looks at all pods that claims are for, and not only at the first of them.
func (r *rounds) looksAtAll(all bool) { r.pace.Rest = !all }

// leavesRest: something is left to the next round.
func (r *rounds) leavesRest() { r.pace.Rest = true }

// looksAtClocks notes a look at the clocks.
func (r *rounds) looksAtClocks(version uint64) { r.clocksAsOf = version + 1 }

// lookedAtClocksAsOf: nothing has changed since the last look.
func (r *rounds) lookedAtClocksAsOf(version uint64) bool { return r.clocksAsOf == version+1 }

func (r *rounds) restoresClocks() { r.clocksRestored = true }

// adopts notes that this process adopts a plan, also one that is only observed.
func (r *rounds) adopts() { r.adopted = true }

// carriedOut: what the plan itself has changed makes no round due.
func (r *rounds) carriedOut(version uint64) { r.plannedAsOf = version + 1 }

// planned notes what a plan has found. announced: victims of earlier rounds still run.
func (r *rounds) planned(plan preemption.Plan, announced bool) {
	nominated := slices.ContainsFunc(plan.Claims, func(p preemption.Payment) bool { return len(p.Nominations) > 0 })
	spent := slices.ContainsFunc(plan.Claims, func(p preemption.Payment) bool { return p.Unpaid == reason.RoundSpent })
	r.pace = r.pace.Made(nominated, spent, announced)
}

// judgesAnnouncements reports whether it is known if the announcements of an earlier process still hold: a plan of this process was
// adopted, or no queue may claim. Until then they stay. A round that is under way does not suffice, and neither does it that no claim
// is open: statuses of Queues are written a little later than claims open, so a claim of the earlier process may be open again only
// after its timeout, and its plan may take the very pods that were announced.
func (r *rounds) judgesAnnouncements(t *queueTree) bool {
	switch {
	case r.adopted:
		return true
	case r.clocksAsOf == 0:
		return false
	}
	return !slices.ContainsFunc(t.Nodes, func(n queue.Node) bool { return t.accounts[n.Path].mayClaim() })
}
