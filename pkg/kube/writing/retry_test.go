package writing

import (
	"testing"
	"time"
)

func TestPausesDoubleUpToAMinute(t *testing.T) {
	now := time.Unix(1000, 0)
	var r Retry
	if !r.Due(now) {
		t.Error("what has not failed is not due")
	}
	for i, seconds := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60} {
		pause := r.Postpone(now)
		if pause != seconds*time.Second || r.Failures != i+1 || !r.At().Equal(now.Add(pause)) {
			t.Errorf("after %d failures: %v until %v, and %d are counted", i+1, pause, r.At(), r.Failures)
		}
		if r.Due(now.Add(pause - 1)) {
			t.Errorf("after %d failures: due too early", i+1)
		}
		now = now.Add(pause)
		if !r.Due(now) {
			t.Errorf("after %d failures: not due after the pause", i+1)
		}
	}
	r = Retry{}
	if pause := r.Postpone(now); pause != time.Second {
		t.Errorf("the first pause after a success is %v", pause)
	}
}
