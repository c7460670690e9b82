package preemption

import (
	"cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

const (
	// exemptFor is how long no plan takes a pod whose eviction disruption budgets refused for too long: see Withdraw.
	exemptFor = 5 * 60 * second
	// longestEvictionBackOff bounds the pause between attempts to evict a victim.
	longestEvictionBackOff = 30 * second
)

// VictimPhase is how far the eviction of a victim has come.
type VictimPhase uint8

const (
	// Chosen means that a plan has chosen the pod, and that the pod does not show it yet.
	Chosen VictimPhase = iota
	// Announced means that the pod shows it, and that the wait before its eviction runs.
	Announced
	// Evicting means that the API server has accepted the eviction. Nothing takes that back.
	Evicting
	// Withdrawn means that the pod stays. It is no victim any more, and its announcement is to be taken back.
	Withdrawn
	// VictimEnded means that the pod runs no more.
	VictimEnded
)

// VictimState is a victim on its way from the plan to its end. Times are unix nanoseconds.
type VictimState struct {
	Phase    VictimPhase
	Due      int64 // when the wait between announcement and eviction is over; as of now, while it is not announced
	Attempts int   // to evict it that failed
	RetryAt  int64 // when the pause after the last of them is over; 0: none failed
	// RefusedSince is since when disruption budgets refuse the eviction; 0: they do not.
	RefusedSince int64
	// Why is the cause for which the pod stays, from the decision on; NotWithdrawn: it goes.
	Why reason.WithdrawnCause
	// ExemptUntil is until when no plan takes the pod again; 0: the next one may.
	ExemptUntil int64
}

// VictimEventKind is what happens to a victim.
type VictimEventKind uint8

const (
	// Looked asks what is to be done by now.
	Looked VictimEventKind = iota
	// AnnouncementWritten means that the pod shows that it is to be evicted.
	AnnouncementWritten
	// EvictionAccepted means that the API server has agreed to evict the pod.
	EvictionAccepted
	// EvictionFailed means that it has not.
	EvictionFailed
	// EvictionRefused means that it has not, because a disruption budget forbids it.
	EvictionRefused
	// Judged means that it was asked again whether the pod goes, and Withdraw said Cause.
	Judged
	// Stays means that the pod stays, for the cause that was decided, or for Cause if none was.
	Stays
	// GroupStays means that the pod stays with its group, and for the Cause of that.
	GroupStays
	// PodEnded means that the pod runs no more.
	PodEnded
)

// VictimEvent is what happens to a victim, with what the rules need to know of it.
type VictimEvent struct {
	Kind VictimEventKind
	// Wait is Settings.MaxWaitBeforeKill, of AnnouncementWritten.
	Wait int64
	// Cause is that of Judged, Stays and GroupStays.
	Cause reason.WithdrawnCause
}

// VictimOutcome is what an event leads to.
type VictimOutcome uint8

const (
	// NothingToDo means that the event changes nothing, and nothing is due.
	NothingToDo VictimOutcome = iota
	// ToAnnounce means that the eviction is to be announced on the pod.
	ToAnnounce
	// ToWait means that the pod is to be evicted at EvictAt.
	ToWait
	// ToEvict means that the pod is to be evicted now.
	ToEvict
	// ToWithdraw means that the pod is to stay.
	ToWithdraw
	// ToPlanAgain means that the pod is to stay, and its claimant gives its node back, so that a plan may find other victims.
	ToPlanAgain
	// Changed means that the state is another one.
	Changed
)

// NewVictimState is a victim that a plan chooses now. If the pod shows an announcement of an earlier process, the wait has run since then;
// announced is 0 if it shows none.
func NewVictimState(announced, wait, now int64) VictimState {
	if announced != 0 {
		return VictimState{Phase: Announced, Due: announced + wait}
	}
	return VictimState{Due: now + wait}
}

// EvictAt is when the victim is evicted at the earliest: its wait is over, and so is the pause after the last attempt.
func (v VictimState) EvictAt() int64 { return max(v.Due, v.RetryAt) }

// MayStay reports whether the victim may stay after all: its eviction is not accepted.
func (v VictimState) MayStay() bool { return v.Phase == Chosen || v.Phase == Announced }

// Next applies an event. Once the eviction is accepted, only the end of the pod counts.
func (v VictimState) Next(e VictimEvent, now int64) (VictimState, VictimOutcome) {
	switch {
	case e.Kind == PodEnded && v.Phase != Withdrawn && v.Phase != VictimEnded:
		v.Phase = VictimEnded
		return v, Changed
	case !v.MayStay():
		return v, NothingToDo
	}
	switch e.Kind {
	case Looked:
		return v, v.due(now)
	case AnnouncementWritten:
		if v.Phase != Chosen {
			return v, NothingToDo
		}
		v.Phase, v.Due = Announced, now+e.Wait
	case EvictionAccepted:
		v.Phase = Evicting
	case EvictionFailed:
		v = v.failed(now)
		v.RefusedSince = 0
	case EvictionRefused:
		v = v.failed(now)
		v.RefusedSince = cmp.Or(v.RefusedSince, now)
	case Judged:
		return v.judged(e.Cause, now)
	case Stays:
		v.Phase, v.Why = Withdrawn, cmp.Or(v.Why, e.Cause)
	case GroupStays:
		v.Phase, v.Why = Withdrawn, e.Cause
	}
	return v, Changed
}

func (v VictimState) due(now int64) VictimOutcome {
	switch {
	case v.Phase == Chosen:
		return ToAnnounce
	case v.EvictAt() > now:
		return ToWait
	}
	return ToEvict
}

func (v VictimState) failed(now int64) VictimState {
	v.Attempts++
	v.RetryAt = now + backoff.After(v.Attempts, longestEvictionBackOff)
	return v
}

// judged takes in what Withdraw said. Where the rules protect a victim whose room its claimant needs, the claimant is planned again.
func (v VictimState) judged(cause reason.WithdrawnCause, now int64) (VictimState, VictimOutcome) {
	switch v.Why = cause; cause {
	case reason.NotWithdrawn:
		return v, NothingToDo
	case reason.BudgetRefuses:
		v.ExemptUntil = now + exemptFor
		return v, ToPlanAgain
	case reason.NotPreemptible, reason.BelowShare, reason.BelowGuarantee:
		return v, ToPlanAgain
	}
	return v, ToWithdraw
}
