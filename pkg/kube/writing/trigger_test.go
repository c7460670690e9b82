package writing

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
)

func TestTriggerRunsLooks(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rest  time.Duration
		kicks []time.Duration // since the start
		want  []time.Duration
	}{
		{"by time", 0, nil, []time.Duration{0, 10, 20, 30}},
		{"by kicks", 0, []time.Duration{3, 4, 15}, []time.Duration{0, 3, 4, 14, 15, 25, 35}},
		{"kicks within the rest are one", 5, []time.Duration{1, 2, 3, 13}, []time.Duration{0, 5, 13, 23, 33}},
		{"a look that is due within the rest waits", 12, nil, []time.Duration{0, 12, 24}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 35500*time.Millisecond)
				defer cancel()
				trigger, start := NewTrigger(), time.Now()
				for _, at := range tc.kicks {
					time.AfterFunc(at*time.Second, trigger.Kick)
				}
				var got []time.Duration
				trigger.Run(ctx, clock.RealClock{}, tc.rest*time.Second, func(context.Context) time.Duration {
					got = append(got, time.Since(start)/time.Second)
					return 10 * time.Second
				})
				if !slices.Equal(got, tc.want) {
					t.Errorf("looked at %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestTriggerKeepsOneKick(t *testing.T) {
	trigger := NewTrigger()
	for range 3 {
		trigger.Kick() // does not block
	}
	if len(trigger) != 1 {
		t.Errorf("%d kicks are kept", len(trigger))
	}
}
