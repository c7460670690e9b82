package preemption_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// shares are those of two queues: root.a has so many cores.
func shares(cores int64) []preemption.Queue {
	return []preemption.Queue{{Path: "root.a", Entitlement: amounts(cores, 0)}, {Path: "root.b", Entitlement: amounts(10, 0)}}
}

func TestWhichVictimANewPodReplaces(t *testing.T) {
	like := preemption.Likeness{Namespace: "team", Queue: "a", Application: "job", Role: application.Executor, Priority: 3}
	for name, c := range map[string]struct {
		change  func(*preemption.Likeness)
		request resource.List
		at      int64
	}{
		"like the victim":        {func(*preemption.Likeness) {}, amounts(1, 4), 7},
		"of another namespace":   {func(l *preemption.Likeness) { l.Namespace = "x" }, amounts(1, 4), 0},
		"of another queue":       {func(l *preemption.Likeness) { l.Queue = "x" }, amounts(1, 4), 0},
		"of another application": {func(l *preemption.Likeness) { l.Application = "x" }, amounts(1, 4), 0},
		"of another role":        {func(l *preemption.Likeness) { l.Role = application.Driver }, amounts(1, 4), 0},
		"of another priority":    {func(l *preemption.Likeness) { l.Priority++ }, amounts(1, 4), 0},
		"of another size":        {func(*preemption.Likeness) {}, amounts(1, 5), 0},
	} {
		var m preemption.EvictionMemory
		m.Leaves(like, amounts(1, 4), 7)
		other := like
		c.change(&other)
		if got := m.Arrives(other, c.request).At; got != c.at {
			t.Errorf("%s: it replaces one that left at %d, want %d", name, got, c.at)
		}
	}
}

func TestAnEvictionIsForgottenWhenAShareHasChangedSince(t *testing.T) {
	var m preemption.EvictionMemory
	like := preemption.Likeness{Application: "job"}
	m.LookAtShares(shares(5))
	m.Leaves(like, amounts(1, 4), 7)
	m.Leaves(like, amounts(2, 8), 8)
	r := m.Arrives(like, amounts(1, 4))
	for range 3 {
		m.LookAtShares(shares(5))
		if m.Forgot(r) || m.Unreplaced() != 1 {
			t.Fatal("it is forgotten, and no share has changed")
		}
	}
	m.LookAtShares(shares(6))
	if !m.Forgot(r) || m.Unreplaced() != 0 {
		t.Error("it is remembered after a share has changed")
	}

	m.Leaves(like, amounts(1, 4), 9)
	m.LookAtShares(shares(7)) // it changed before the eviction or after: nobody knows
	r = m.Arrives(like, amounts(1, 4))
	if r.At != 9 || m.Forgot(r) {
		t.Error("it is forgotten, and the share may have changed before")
	}
	m.LookAtShares(shares(7)[:1]) // a queue is gone
	if !m.Forgot(r) {
		t.Error("it is remembered after a queue has gone")
	}
}

// memoryTwin writes everything down and forgets nothing.
type memoryTwin []memoryEvent

type memoryEvent struct {
	what  string // left, replaced, look
	like  string
	size  int64
	at    int64
	which int // of a replacement: the event in which its victim left
}

// forgot: two looks after the event saw different shares, or the look before it and the second look after it did.
func (m memoryTwin) forgot(left int) bool {
	var looks []int64 // the first look after the eviction, and all later ones
	for i, e := range m {
		if e.what == "look" && i > left {
			looks = append(looks, e.size)
		}
	}
	return len(looks) > 0 && slices.ContainsFunc(looks, func(s int64) bool { return s != looks[0] })
}

func (m memoryTwin) arrives(like string, size int64) int {
	for i, e := range m {
		taken := slices.ContainsFunc(m, func(o memoryEvent) bool { return o.what == "replaced" && o.which == i })
		if e.what == "left" && e.like == like && e.size == size && !taken && !m.forgot(i) {
			return i
		}
	}
	return -1
}

func TestEvictionMemoryEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m preemption.EvictionMemory
		var twin memoryTwin
		replaced := map[int]preemption.Replacement{}
		for at := int64(1); at <= 30; at++ {
			app, size := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "application"), rapid.Int64Range(1, 2).Draw(t, "size")
			like := preemption.Likeness{Application: app}
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				m.Leaves(like, amounts(size, 0), at)
				twin = append(twin, memoryEvent{what: "left", like: app, size: size, at: at})
			case 2, 3:
				got, want := m.Arrives(like, amounts(size, 0)), int64(0)
				if i := twin.arrives(app, size); i >= 0 {
					want = twin[i].at
					twin = append(twin, memoryEvent{what: "replaced", which: i})
					replaced[i] = got
				}
				if got.At != want {
					t.Fatalf("it replaces one that left at %d, want %d; %s", got.At, want, fmt.Sprint(twin))
				}
			default:
				m.LookAtShares(shares(size))
				twin = append(twin, memoryEvent{what: "look", size: size})
			}
			for i, r := range replaced {
				if m.Forgot(r) != twin.forgot(i) {
					t.Fatalf("what left at %d is forgotten: %v; %s", r.At, m.Forgot(r), fmt.Sprint(twin))
				}
			}
		}
	})
}

func TestWithdrawals(t *testing.T) {
	after := func(change func(*preemption.QueueAfter)) []preemption.QueueAfter {
		leaf := preemption.QueueAfter{Rule: queue.Rule{}, Usage: amounts(30, 0), FairShare: amounts(30, 0)}
		above := leaf
		change(&above)
		return []preemption.QueueAfter{leaf, above}
	}
	const now = 100 * second
	for name, c := range map[string]struct {
		change func(*preemption.VictimInput)
		want   reason.WithdrawnCause
	}{
		"nothing has changed":  {func(*preemption.VictimInput) {}, reason.NotWithdrawn},
		"the claimant is gone": {func(v *preemption.VictimInput) { v.Nominated = false }, reason.NoClaimant},
		"preemptible: false":   {func(v *preemption.VictimInput) { v.Preemptible = false }, reason.NotPreemptible},
		"a queue would be below its share": {func(v *preemption.VictimInput) {
			v.From = after(func(q *preemption.QueueAfter) { q.Usage = amounts(29, 0) })
		}, reason.BelowShare},
		"a queue has more than its share": {func(v *preemption.VictimInput) {
			v.From = after(func(q *preemption.QueueAfter) { q.Usage = amounts(31, 0) })
		}, reason.NotWithdrawn},
		"for a guarantee, a queue would lack as much of its own": {func(v *preemption.VictimInput) {
			v.Pays, v.From = resource.CPU, after(func(q *preemption.QueueAfter) { q.Guaranteed = amounts(31, 0) })
		}, reason.BelowGuarantee},
		"for a guarantee, a queue keeps its own": {func(v *preemption.VictimInput) {
			v.Pays, v.From = resource.CPU, after(func(q *preemption.QueueAfter) { q.Guaranteed = amounts(30, 0) })
		}, reason.NotWithdrawn},
		"for a fair share, a guarantee counts in the share alone": {func(v *preemption.VictimInput) {
			v.From = after(func(q *preemption.QueueAfter) { q.Guaranteed = amounts(31, 0) })
		}, reason.NotWithdrawn},
		"for a guarantee of cpu, memory comes after it": {func(v *preemption.VictimInput) {
			v.Pays, v.From = resource.CPU, after(func(q *preemption.QueueAfter) { q.Guaranteed = amounts(0, 1) })
		}, reason.NotWithdrawn},
		"for a guarantee of memory, cpu comes before it": {func(v *preemption.VictimInput) {
			v.Pays, v.From = resource.Memory, after(func(q *preemption.QueueAfter) { q.Guaranteed = amounts(31, 0) })
		}, reason.BelowGuarantee},
		"a queue lacks what the victim does not have": {func(v *preemption.VictimInput) {
			v.Pays, v.From = resource.Memory, after(func(q *preemption.QueueAfter) { q.Guaranteed = amounts(0, 1) })
		}, reason.NotWithdrawn},
		"there is room":                     {func(v *preemption.VictimInput) { v.RoomWithout = true }, reason.NotNeeded},
		"there is room, and its port taken": {func(v *preemption.VictimInput) { v.RoomWithout, v.Conflicts = true, true }, reason.NotWithdrawn},
		"there is room beside its group":    {func(v *preemption.VictimInput) { v.RoomWithout, v.InGroup = true, true }, reason.NotWithdrawn},
		"a budget refuses":                  {func(v *preemption.VictimInput) { v.RefusedSince = 70*second + 1 }, reason.NotWithdrawn},
		"a budget refuses for 30 seconds":   {func(v *preemption.VictimInput) { v.RefusedSince = 70 * second }, reason.BudgetRefuses},
		"not needed, and refused": {func(v *preemption.VictimInput) {
			v.RoomWithout, v.RefusedSince = true, 1
		}, reason.NotNeeded},
		"nobody needs it, and its queue would be below": {func(v *preemption.VictimInput) {
			v.Nominated, v.From = false, after(func(q *preemption.QueueAfter) { q.Usage = amounts(29, 0) })
		}, reason.NoClaimant},
	} {
		v := preemption.VictimInput{Nominated: true, Preemptible: true, Total: amounts(100, 0), Request: amounts(1, 0), From: after(func(*preemption.QueueAfter) {})}
		c.change(&v)
		if got := preemption.Withdraw(&v, now); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
