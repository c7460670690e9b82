package writing

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestBackOffDoublesUpToAMinute(t *testing.T) {
	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
	for i, seconds := range want {
		if got := BackOff(i + 1); got != seconds*time.Second {
			t.Errorf("after %d failures: got %v, want %ds", i+1, got, seconds)
		}
	}
	if got := BackOff(1 << 30); got != time.Minute {
		t.Errorf("after very many failures: got %v", got)
	}
}

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

func TestComplaintsAreMadeOncePerReasonAndMinute(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	forbidden := apierrors.NewForbidden(resource, "a", errors.New("no"))
	var c Complaints
	now := time.Unix(0, 0)
	expect := func(err error, unmentioned int, due bool) {
		t.Helper()
		if n, d := c.Due(err, now); n != unmentioned || d != due {
			t.Errorf("at %v: got %d, %v, want %d, %v", now, n, d, unmentioned, due)
		}
	}
	expect(forbidden, 0, true)
	expect(forbidden, 0, false)
	expect(apierrors.NewForbidden(resource, "b", errors.New("no")), 0, false)
	expect(errors.New("connection refused"), 0, true)
	now = now.Add(time.Minute)
	expect(forbidden, 2, true)
	expect(forbidden, 0, false)
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"a sentence", 9, "a sent..."},
		{"a b c d", 5, "a..."},
		{"ééééé", 8, "éé..."},
		{"", 0, ""},
	} {
		got := Cut(tc.text, tc.limit)
		if got != tc.want || !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.text, tc.limit, got, tc.want)
		}
	}
	if got := Cut(strings.Repeat("ü", 5000), 1024); len(got) > 1024 || !utf8.ValidString(got) {
		t.Errorf("got %d bytes", len(got))
	}
}
