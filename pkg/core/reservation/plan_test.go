package reservation_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func bytes(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.Memory, Value: n})
}

func one(amount resource.List, arrival, deadline, duration int64) reservation.Definition {
	return reservation.Definition{Arrival: arrival, Deadline: deadline, Requests: []reservation.Request{
		{Pods: 1, Resources: amount, Duration: duration, Concurrency: 1},
	}}
}

// An amount times a window has more than 64 bits. Half of 2^62 over two days are 2^62 for a day, to the second.
func TestAveragesOfHugeAmountsAreExact(t *testing.T) {
	p := reservation.Plan{Capacity: bytes(1 << 62), Policy: reservation.DefaultPolicy()}
	p.Policy.AverageShare, p.Policy.Window = queue.Whole/2, 2*day
	if _, v := p.Submit(0, "a", "ann", one(bytes(1<<62), 0, 3*day, day)); v.Outcome != reservation.Accepted {
		t.Errorf("half a window: %s", v.Refusal.Text())
	}
	if _, v := p.Submit(0, "a", "ann", one(bytes(1<<62), 0, 3*day, day+1)); v.Refusal.Code != reservation.AverageExceeded {
		t.Errorf("a second more: %+v", v)
	}
}

// What does not fit 64 bits does not fit a plan.
func TestAmountsSaturate(t *testing.T) {
	p := reservation.Plan{Capacity: bytes(1 << 62), Policy: reservation.DefaultPolicy()}
	d := one(bytes(1<<62), 0, day, hour)
	d.Requests[0].Pods, d.Requests[0].Concurrency = math.MaxInt64, math.MaxInt64
	if _, v := p.Submit(0, "a", "ann", d); v.Refusal.Code != reservation.GangTooLarge {
		t.Errorf("%+v", v)
	}
	d.Requests[0] = reservation.Request{Pods: 1, Resources: bytes(1), Duration: math.MaxInt64, Concurrency: 1}
	d.Requests = append(d.Requests, d.Requests[0])
	d.Interpreter = reservation.Order
	if _, v := p.Submit(0, "a", "ann", d); v.Refusal.Code != reservation.WindowTooShort || v.Refusal.Fits != 0 {
		t.Errorf("%+v", v)
	}
}

// An allocation is kept in its object, so it has no more than 1000 pieces a week.
func TestAnAllocationHasAtMostAThousandPieces(t *testing.T) {
	p := reservation.Plan{Capacity: cores(1), Policy: reservation.DefaultPolicy()}
	for name, tc := range map[string]struct {
		pods, recurrence int64
		want             reservation.Code
	}{
		"a thousand":            {1000, 0, ""},
		"one more":              {1001, 0, reservation.TooManySteps},
		"every day, 142":        {142, day, ""},
		"every day, 143 pieces": {143, day, reservation.TooManySteps},
	} {
		t.Run(name, func(t *testing.T) {
			d := one(cores(1), 0, day, minute)
			d.Requests[0].Pods, d.Recurrence = tc.pods, tc.recurrence
			if _, v := p.Submit(0, "a", "ann", d); v.Refusal.Code != tc.want {
				t.Errorf("got %q, want %q", v.Refusal.Code, tc.want)
			}
		})
	}
}

// A plan that somebody holds stays as it is, whatever follows from it.
func TestPlansAreValues(t *testing.T) {
	p := reservation.Plan{Capacity: cores(10), Policy: reservation.DefaultPolicy()}
	for _, name := range []string{"a", "b", "c"} {
		p, _ = p.Submit(0, name, "ann", one(cores(3), 0, day, hour))
	}
	want := p.Booked(0, 2*day)
	p.Submit(0, "d", "ann", one(cores(1), 0, day, hour))
	p.Submit(0, "e", "ann", one(cores(7), 0, day, 2*hour))
	p.Cancel(0, "a")
	p.Advance(2 * day)
	small := p
	small.Capacity, small.Policy.EnforcementWindow = cores(3), day
	small.Enforce(0)
	if diff := cmp.Diff(want, p.Booked(0, 2*day), cmp.AllowUnexported(resource.List{})); diff != "" {
		t.Error(diff)
	}
}

func TestPhases(t *testing.T) {
	p := reservation.Plan{Capacity: cores(10), Policy: reservation.DefaultPolicy()}
	gap := one(cores(1), 10*hour, 11*hour, hour)
	p, _ = p.Submit(0, "between", "ann", reservation.Definition{Arrival: 10 * hour, Deadline: 11 * hour, Requests: []reservation.Request{
		{Pods: 1, Resources: cores(10), Duration: hour, Concurrency: 1},
	}})
	gap.Interpreter, gap.Arrival, gap.Deadline = reservation.Order, 9*hour, 12*hour
	gap.Requests = append(gap.Requests, gap.Requests[0])
	p, v := p.Submit(0, "once", "ann", gap)
	again := gap
	again.Recurrence = day
	_, w := p.Submit(0, "daily", "ann", again)
	for _, tc := range []struct {
		at          int64
		once, daily reservation.Phase
		cores       int64
	}{
		{9*hour - 1, reservation.PhaseAccepted, reservation.PhaseAccepted, 0},
		{9 * hour, reservation.PhaseActive, reservation.PhaseActive, 1},
		{10 * hour, reservation.PhaseActive, reservation.PhaseActive, 0}, // in the gap
		{11 * hour, reservation.PhaseActive, reservation.PhaseActive, 1},
		{12 * hour, reservation.PhaseEnded, reservation.PhaseAccepted, 0},
		{day + 9*hour, reservation.PhaseEnded, reservation.PhaseActive, 0},
	} {
		if got := v.Reservation.Phase(tc.at); got != tc.once {
			t.Errorf("once at %d: %d", tc.at, got)
		}
		if got := w.Reservation.Phase(tc.at); got != tc.daily {
			t.Errorf("daily at %d: %d", tc.at, got)
		}
		if got := v.Reservation.At(tc.at); !got.Equal(cores(tc.cores)) {
			t.Errorf("at %d it has %s", tc.at, got)
		}
	}
}
