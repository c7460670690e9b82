package writing

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestLimiterGivesTheRateAndNoLouderStart(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	limiter := NewLimiter(50, 500*time.Millisecond, clock)
	for range 4 {
		n := 0
		for limiter.TryAccept() {
			n++
		}
		if n != 25 {
			t.Errorf("got %d in an interval, want 25", n)
		}
		clock.SetTime(clock.Now().Add(500 * time.Millisecond))
	}
	clock.SetTime(clock.Now().Add(time.Hour))
	n := 0
	for limiter.TryAccept() {
		n++
	}
	if n != 25 {
		t.Errorf("got %d after a quiet hour, want 25", n)
	}
	if !NewLimiter(1, time.Millisecond, clock).TryAccept() {
		t.Error("a slow rate lets nothing pass at all")
	}
}

func TestPaceIsTheLimitersAndSlowerWhilePodsFlow(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := clocktesting.NewFakePassiveClock(now)
	pace := NewPace(50, 500*time.Millisecond, clock)
	for i, step := range []struct {
		due  int
		busy bool
		want int
	}{
		{30, false, 25}, // half a second's worth of 50 a second
		{5, false, 5},
		{30, true, 0}, // it wrote half a second ago, and every two seconds is enough
		{0, true, 0},
		{30, true, 0},
		{30, true, 10},
		{30, false, 25},
		{0, false, 0},
		{3, true, 0}, // a second after the last write: a pass without one does not count
		{3, true, 0},
		{3, true, 3},
	} {
		if got := pace.Admit(step.due, step.busy, now); got != step.want {
			t.Errorf("step %d: %d may go, want %d", i, got, step.want)
		}
		now = now.Add(500 * time.Millisecond)
		clock.SetTime(now)
	}
}
