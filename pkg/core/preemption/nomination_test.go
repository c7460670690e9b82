package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

func TestNominations(t *testing.T) {
	const now = 100 * second
	fresh := preemption.NominationState{Until: now + 60*second}
	expired := preemption.NominationState{Until: now}
	idle := preemption.NominationState{Until: now + 60*second, IdleSince: 40*second + 1}
	idleFor := preemption.NominationState{Until: now + 60*second, IdleSince: 40 * second}
	type change func(*preemption.NominationInput)
	claimed := func(in *preemption.NominationInput) { in.Claim = preemption.OpenClaim }
	room := func(in *preemption.NominationInput) { in.RoomThere = true }
	notOwed := func(in *preemption.NominationInput) { in.NotOwed = true }
	blocked := func(in *preemption.NominationInput) { in.Blocked = true }
	lies := func(in *preemption.NominationInput) { in.RoomThere, in.Idle = true, true }
	for name, c := range map[string]struct {
		from    preemption.NominationState
		changes []change
		want    preemption.NominationOutcome
		idle    int64
	}{
		"it waits for its room":               {fresh, nil, preemption.Keeps, 0},
		"it waited for a minute":              {expired, nil, preemption.Ends, 0},
		"it is not owed its room":             {fresh, []change{notOwed}, preemption.Ends, 0},
		"not owed, and it is there":           {fresh, []change{notOwed, room}, preemption.Ends, 0},
		"a claim stands behind it":            {fresh, []change{notOwed, claimed}, preemption.Keeps, 0},
		"it has its room then":                {expired, []change{room}, preemption.Keeps, 0},
		"a claim waits for as long as needed": {expired, []change{claimed}, preemption.Keeps, 0},
		"the claim is closed": {fresh, []change{func(in *preemption.NominationInput) { in.Claim = preemption.ClosedClaim }},
			preemption.Ends, 0},
		"observe only": {fresh, []change{claimed, func(in *preemption.NominationInput) { in.ObserveOnly = true }}, preemption.Ends, 0},
		"observe only, but no claim's": {fresh, []change{func(in *preemption.NominationInput) { in.ObserveOnly = true }},
			preemption.Keeps, 0},
		"a victim does not end":       {fresh, []change{claimed, func(in *preemption.NominationInput) { in.VictimStuck = true }}, preemption.Ends, 0},
		"the pod does not wait":       {fresh, []change{claimed, func(in *preemption.NominationInput) { in.Waiting = false }}, preemption.Ends, 0},
		"the node is closed":          {fresh, []change{claimed, func(in *preemption.NominationInput) { in.NodeUsable = false }}, preemption.Ends, 0},
		"others of its group lost it": {fresh, []change{claimed, func(in *preemption.NominationInput) { in.GroupIncomplete = true }}, preemption.Ends, 0},
		"its attempt runs, on a closed node": {expired, []change{func(in *preemption.NominationInput) {
			in.Attempting, in.Waiting, in.NodeUsable = true, false, false
		}}, preemption.Keeps, 0},
		"its room lies idle":                     {fresh, []change{claimed, lies}, preemption.Keeps, now},
		"for a while":                            {idle, []change{claimed, lies}, preemption.Keeps, 40*second + 1},
		"for a minute":                           {idleFor, []change{claimed, lies}, preemption.Fails, 40 * second},
		"for a minute, and then somebody leaves": {idleFor, []change{claimed, room}, preemption.Keeps, 0},
		"a limit forbids it": {fresh, []change{claimed, lies, func(in *preemption.NominationInput) { in.Limited = true }},
			preemption.Ends, 0},
		"a limit forbids it while its room is made": {fresh, []change{claimed, room, func(in *preemption.NominationInput) { in.Limited = true }},
			preemption.Keeps, 0},
		"a rule blocks it while its room is made": {fresh, []change{claimed, blocked}, preemption.Ends, 0},
		"a rule blocks it, but it has its room":   {fresh, []change{blocked, room}, preemption.Ends, 0},
		"a rule blocks it while it is tried": {fresh, []change{claimed, blocked, func(in *preemption.NominationInput) {
			in.Attempting, in.Waiting = true, false
		}}, preemption.Keeps, 0},
	} {
		in := preemption.NominationInput{Waiting: true, NodeUsable: true}
		for _, change := range c.changes {
			change(&in)
		}
		got, is := c.from.Next(in, now)
		if want := (preemption.NominationState{Until: c.from.Until, IdleSince: c.idle}); is != c.want || got != want {
			t.Errorf("%s: outcome %d, %+v; want %d, %+v", name, is, got, c.want, want)
		}
	}
	if got := preemption.NewNominationState(now); got != fresh {
		t.Errorf("a new one is %+v", got)
	}
}

// The room of a nomination never lies idle for more than a minute, and a nomination that ends has one of the causes.
func TestNominationsDoNotLieIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const minute = 60 * second
		now := second
		n := preemption.NewNominationState(now)
		began, idleSince := now, int64(0)
		for range 30 {
			now += rapid.Int64Range(1, 20).Draw(t, "passed") * second
			yes := func(what string, of int) bool { return rapid.IntRange(1, of).Draw(t, what) == 1 }
			in := preemption.NominationInput{
				Attempting: yes("attempting", 10), Waiting: !yes("away", 30), NodeUsable: !yes("closed", 30), GroupIncomplete: yes("incomplete", 30),
				Claim:       rapid.SampledFrom([]preemption.NominationClaim{preemption.ByScheduler, preemption.OpenClaim, preemption.OpenClaim}).Draw(t, "claim"),
				VictimStuck: yes("stuck", 30), RoomThere: !yes("no room", 2), Limited: yes("limited", 30), Blocked: yes("blocked", 30),
				NotOwed: yes("not owed", 10),
			}
			in.Idle = in.RoomThere && in.Waiting && !in.Attempting && !yes("leaving", 5)
			var is preemption.NominationOutcome
			n, is = n.Next(in, now)

			// The twin: every cause by itself.
			var ends bool
			if !in.Attempting {
				ends = ends || !in.Waiting || !in.NodeUsable || in.GroupIncomplete || in.Blocked
				ends = ends || in.Claim == preemption.ByScheduler && (!in.RoomThere && now >= began+minute || in.NotOwed)
				ends = ends || in.Claim == preemption.OpenClaim && in.VictimStuck
			}
			ends = ends || in.Idle && in.Limited
			switch {
			case !in.Idle:
				idleSince = 0
			case idleSince == 0:
				idleSince = now
			}
			want := preemption.Keeps
			if ends {
				want = preemption.Ends
			} else if in.Idle && now-idleSince >= minute {
				want = preemption.Fails
			}
			if is != want {
				t.Fatalf("outcome %d, want %d: %+v after %d s", is, want, in, (now-began)/second)
			}
			if is != preemption.Keeps {
				return
			}
		}
	})
}
