package preemption_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// step is an event of a victim, and what is to come of it. at is in seconds.
type step struct {
	at    int64
	event preemption.VictimEvent
	want  preemption.VictimOutcome
	phase preemption.VictimPhase
}

// Each row is a sentence of docs/preemption.md, with the wait of 15 seconds that is the default there.
func TestPhasesOfAVictim(t *testing.T) {
	const wait = 15 * second
	event := func(k preemption.VictimEventKind) preemption.VictimEvent { return preemption.VictimEvent{Kind: k} }
	because := func(k preemption.VictimEventKind, why reason.WithdrawnCause) preemption.VictimEvent {
		return preemption.VictimEvent{Kind: k, Cause: why}
	}
	look, accepted, failed, refused := event(preemption.Looked), event(preemption.EvictionAccepted), event(preemption.EvictionFailed), event(preemption.EvictionRefused)
	ended := event(preemption.PodEnded)
	announced := preemption.VictimEvent{Kind: preemption.AnnouncementWritten, Wait: wait}
	for name, c := range map[string]struct {
		announced int64 // by an earlier process, in seconds; 0: it was not
		steps     []step
		why       reason.WithdrawnCause
		exempt    int64 // until when, in seconds
		refused   int64 // since when, in seconds
	}{
		"victims are announced, evicted after the wait, and then have their grace period": {steps: []step{
			{100, look, preemption.ToAnnounce, preemption.Chosen},
			{103, announced, preemption.Changed, preemption.Announced},
			{117, look, preemption.ToWait, preemption.Announced},
			{118, look, preemption.ToEvict, preemption.Announced},
			{118, accepted, preemption.Changed, preemption.Evicting},
			{140, look, preemption.NothingToDo, preemption.Evicting},
			{148, ended, preemption.Changed, preemption.VictimEnded},
			{149, look, preemption.NothingToDo, preemption.VictimEnded},
		}},
		"only announced pods are evicted": {steps: []step{
			{500, look, preemption.ToAnnounce, preemption.Chosen},
		}},
		"an announcement that is written twice begins one wait": {steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{110, announced, preemption.NothingToDo, preemption.Announced},
			{115, look, preemption.ToEvict, preemption.Announced},
		}},
		"a new leader goes on with announcements": {announced: 90, steps: []step{
			{100, look, preemption.ToWait, preemption.Announced},
			{105, look, preemption.ToEvict, preemption.Announced},
		}},
		"a victim that is still needed goes": {steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{115, because(preemption.Judged, reason.NotWithdrawn), preemption.NothingToDo, preemption.Announced},
			{115, look, preemption.ToEvict, preemption.Announced},
		}},
		"a victim that is no longer needed stays": {why: reason.NotNeeded, steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{115, because(preemption.Judged, reason.NotNeeded), preemption.ToWithdraw, preemption.Announced},
			{115, because(preemption.Stays, reason.NotNeeded), preemption.Changed, preemption.Withdrawn},
			{115, look, preemption.NothingToDo, preemption.Withdrawn},
			{130, ended, preemption.NothingToDo, preemption.Withdrawn},
		}},
		"a victim whose claimant is gone stays": {why: reason.NoClaimant, steps: []step{
			{100, because(preemption.Judged, reason.NoClaimant), preemption.ToWithdraw, preemption.Chosen},
			{100, because(preemption.Stays, reason.NoClaimant), preemption.Changed, preemption.Withdrawn},
		}},
		"a queue that is protected by now pays nothing: a plan looks for another victim": {why: reason.NotPreemptible, steps: []step{
			{100, because(preemption.Judged, reason.NotPreemptible), preemption.ToPlanAgain, preemption.Chosen},
			// Its claimant gives the node back, and so no pod is to have the room. What it is told is why that came to be.
			{100, because(preemption.Stays, reason.NoClaimant), preemption.Changed, preemption.Withdrawn},
		}},
		"so it is with a queue that would be below its share": {why: reason.BelowShare, steps: []step{
			{100, because(preemption.Judged, reason.BelowShare), preemption.ToPlanAgain, preemption.Chosen},
			{100, because(preemption.Stays, reason.BelowShare), preemption.Changed, preemption.Withdrawn},
		}},
		"and with one that would be below its guarantee": {why: reason.BelowGuarantee, steps: []step{
			{100, because(preemption.Judged, reason.BelowGuarantee), preemption.ToPlanAgain, preemption.Chosen},
			{100, because(preemption.Stays, reason.BelowGuarantee), preemption.Changed, preemption.Withdrawn},
		}},
		"a pod that a budget protects is left alone for five minutes": {why: reason.BudgetRefuses, refused: 115, exempt: 145 + 300, steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{115, refused, preemption.Changed, preemption.Announced},
			{116, refused, preemption.Changed, preemption.Announced},
			{145, because(preemption.Judged, reason.BudgetRefuses), preemption.ToPlanAgain, preemption.Announced},
			{145, because(preemption.Stays, reason.BudgetRefuses), preemption.Changed, preemption.Withdrawn},
		}},
		"the pods of a group stay together, for one cause": {why: reason.BelowShare, steps: []step{
			{100, because(preemption.Judged, reason.NoClaimant), preemption.ToWithdraw, preemption.Chosen},
			{100, because(preemption.GroupStays, reason.BelowShare), preemption.Changed, preemption.Withdrawn},
		}},
		"nothing takes an accepted eviction back": {steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{115, accepted, preemption.Changed, preemption.Evicting},
			{116, because(preemption.Judged, reason.NotNeeded), preemption.NothingToDo, preemption.Evicting},
			{116, because(preemption.Stays, reason.NotNeeded), preemption.NothingToDo, preemption.Evicting},
			{116, because(preemption.GroupStays, reason.NotNeeded), preemption.NothingToDo, preemption.Evicting},
			{116, failed, preemption.NothingToDo, preemption.Evicting},
			{116, accepted, preemption.NothingToDo, preemption.Evicting},
		}},
		"an eviction that fails is tried again after one second, two, and so on, at most 30": {steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{115, failed, preemption.Changed, preemption.Announced},
			{115, look, preemption.ToWait, preemption.Announced},
			{116, look, preemption.ToEvict, preemption.Announced},
			{116, failed, preemption.Changed, preemption.Announced},
			{117, look, preemption.ToWait, preemption.Announced},
			{118, refused, preemption.Changed, preemption.Announced}, // 4
			{122, failed, preemption.Changed, preemption.Announced},  // 8
			{130, failed, preemption.Changed, preemption.Announced},  // 16
			{146, failed, preemption.Changed, preemption.Announced},  // 30
			{175, look, preemption.ToWait, preemption.Announced},
			{176, failed, preemption.Changed, preemption.Announced}, // 30
			{205, look, preemption.ToWait, preemption.Announced},
			{206, look, preemption.ToEvict, preemption.Announced},
		}},
		"a budget that refuses again, after another failure, refuses since then": {refused: 118, steps: []step{
			{100, announced, preemption.Changed, preemption.Announced},
			{115, refused, preemption.Changed, preemption.Announced},
			{116, failed, preemption.Changed, preemption.Announced},
			{118, refused, preemption.Changed, preemption.Announced},
		}},
		"a pod that ends by itself is no victim any more": {steps: []step{
			{100, ended, preemption.Changed, preemption.VictimEnded},
			{101, announced, preemption.NothingToDo, preemption.VictimEnded},
			{101, accepted, preemption.NothingToDo, preemption.VictimEnded},
			{101, because(preemption.Stays, reason.NotNeeded), preemption.NothingToDo, preemption.VictimEnded},
		}},
	} {
		v := preemption.NewVictimState(c.announced*second, wait, 100*second)
		for i, s := range c.steps {
			var is preemption.VictimOutcome
			if v, is = v.Next(s.event, s.at*second); is != s.want || v.Phase != s.phase {
				t.Errorf("%s: step %d: outcome %d in phase %d, want %d in %d", name, i+1, is, v.Phase, s.want, s.phase)
			}
		}
		if c.why != "" && v.Why != c.why || v.ExemptUntil != c.exempt*second || v.RefusedSince != c.refused*second {
			t.Errorf("%s: it stays for %q, exempt until %d, refused since %d; want %q, %d s, %d s", name, v.Why, v.ExemptUntil, v.RefusedSince, c.why, c.exempt, c.refused)
		}
	}
}

// victimTwin writes down what happened, and reads the answer off the whole list each time.
type victimTwin struct {
	chosen, wait, announced int64 // announced: by an earlier process
	events                  []preemption.VictimEvent
	at                      []int64
}

// first is where the first event of these kinds stands, or the end of the list.
func (w *victimTwin) first(kinds ...preemption.VictimEventKind) int {
	i := slices.IndexFunc(w.events, func(e preemption.VictimEvent) bool { return slices.Contains(kinds, e.Kind) })
	if i < 0 {
		return len(w.events)
	}
	return i
}

func (w *victimTwin) state() (v preemption.VictimState) {
	accepted, ended := w.first(preemption.EvictionAccepted), w.first(preemption.PodEnded)
	stays := w.first(preemption.Stays, preemption.GroupStays)
	open := min(accepted, stays, ended) // what comes after it decides nothing any more, but that the pod ends
	written := w.first(preemption.AnnouncementWritten)
	switch {
	case w.announced != 0:
		v.Phase, v.Due = preemption.Announced, w.announced+w.wait
	case written < open:
		v.Phase, v.Due = preemption.Announced, w.at[written]+w.wait
	default:
		v.Phase, v.Due = preemption.Chosen, w.chosen+w.wait
	}
	pauses := []int64{1, 2, 4, 8, 16, 30}
	for i, e := range w.events[:open] {
		switch e.Kind {
		case preemption.EvictionFailed, preemption.EvictionRefused:
			v.Attempts++
			v.RetryAt = w.at[i] + pauses[min(v.Attempts, len(pauses))-1]*second
		case preemption.Judged: // the last one counts
			v.Why = e.Cause
			if e.Cause == reason.BudgetRefuses {
				v.ExemptUntil = w.at[i] + 300*second
			}
		}
	}
	for i := open - 1; i >= 0 && w.events[i].Kind != preemption.EvictionFailed; i-- {
		if w.events[i].Kind == preemption.EvictionRefused { // budgets have refused each attempt since
			v.RefusedSince = w.at[i]
		}
	}
	switch {
	case open == len(w.events):
	case open == stays:
		if v.Phase = preemption.Withdrawn; v.Why == reason.NotWithdrawn || w.events[stays].Kind == preemption.GroupStays {
			v.Why = w.events[stays].Cause
		}
	case ended < len(w.events):
		v.Phase = preemption.VictimEnded
	default:
		v.Phase = preemption.Evicting
	}
	return v
}

// outcome is what the next event leads to.
func (w *victimTwin) outcome(e preemption.VictimEvent, now int64) preemption.VictimOutcome {
	v := w.state()
	protected := map[reason.WithdrawnCause]bool{
		reason.NotPreemptible: true, reason.BelowShare: true, reason.BelowGuarantee: true, reason.BudgetRefuses: true,
	}
	waits := now < v.Due || now < v.RetryAt
	going := v.Phase == preemption.Chosen || v.Phase == preemption.Announced
	switch e.Kind {
	case preemption.Looked:
		switch {
		case v.Phase == preemption.Chosen:
			return preemption.ToAnnounce
		case v.Phase == preemption.Announced && waits:
			return preemption.ToWait
		case v.Phase == preemption.Announced:
			return preemption.ToEvict
		}
		return preemption.NothingToDo
	case preemption.Judged:
		switch {
		case !going || e.Cause == reason.NotWithdrawn:
			return preemption.NothingToDo
		case protected[e.Cause]:
			return preemption.ToPlanAgain
		}
		return preemption.ToWithdraw
	case preemption.AnnouncementWritten:
		going = v.Phase == preemption.Chosen
	case preemption.PodEnded:
		going = going || v.Phase == preemption.Evicting
	}
	if going {
		return preemption.Changed
	}
	return preemption.NothingToDo
}

func TestPhasesOfAVictimEqualTheirTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := 100 * second
		twin := victimTwin{chosen: now, wait: rapid.Int64Range(0, 20).Draw(t, "wait") * second}
		if rapid.Bool().Draw(t, "announced before") {
			twin.announced = now - rapid.Int64Range(1, 20).Draw(t, "ago")*second
		}
		v := preemption.NewVictimState(twin.announced, twin.wait, now)
		often := []preemption.VictimEventKind{
			preemption.Looked, preemption.AnnouncementWritten, preemption.EvictionFailed, preemption.EvictionRefused, preemption.EvictionRefused, preemption.Judged,
		}
		rarely := []preemption.VictimEventKind{preemption.EvictionAccepted, preemption.Stays, preemption.GroupStays, preemption.PodEnded}
		causes := []reason.WithdrawnCause{
			reason.NoClaimant, reason.NotPreemptible, reason.BelowShare, reason.BelowGuarantee, reason.NotNeeded, reason.BudgetRefuses,
			reason.NotWithdrawn, reason.NotWithdrawn,
		}
		accepted := false
		for range 25 {
			now += rapid.Int64Range(0, 15).Draw(t, "passed") * second
			kinds := often
			if rapid.IntRange(1, 8).Draw(t, "kind") == 1 {
				kinds = rarely
			}
			e := preemption.VictimEvent{Kind: rapid.SampledFrom(kinds).Draw(t, "event"), Wait: twin.wait, Cause: rapid.SampledFrom(causes).Draw(t, "cause")}
			if (e.Kind == preemption.Stays || e.Kind == preemption.GroupStays) && e.Cause == reason.NotWithdrawn {
				e.Cause = reason.NoClaimant
			}
			before, want := v, twin.outcome(e, now)
			var is preemption.VictimOutcome
			v, is = v.Next(e, now)
			twin.events, twin.at = append(twin.events, e), append(twin.at, now)
			if is != want || v != twin.state() {
				t.Fatalf("%+v after %+v at %d s: outcome %d, %+v; want %d, %+v", before, e, now/second, is, v, want, twin.state())
			}
			if is == preemption.ToEvict && before.Phase != preemption.Announced {
				t.Fatalf("a pod is evicted that was not announced: %+v", before)
			}
			if v.Phase == preemption.Withdrawn && v.Why == reason.NotWithdrawn {
				t.Fatalf("a pod stays and is not told why: %+v", v)
			}
			if accepted = accepted || v.Phase == preemption.Evicting; accepted && v.Phase != preemption.Evicting && v.Phase != preemption.VictimEnded {
				t.Fatalf("an accepted eviction is taken back: %+v", before)
			}
		}
	})
}
