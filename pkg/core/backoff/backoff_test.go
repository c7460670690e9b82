package backoff_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
)

const second int64 = 1e9

func TestAfter(t *testing.T) {
	for _, c := range []struct {
		last    int64
		seconds []int64 // after one failure, two, ...
	}{
		{backoff.Last, []int64{1, 2, 4, 8, 10, 10}},
		{60 * second, []int64{1, 2, 4, 8, 16, 32, 60, 60}},
		{second / 2, []int64{0, 0}},
	} {
		for i, want := range c.seconds {
			want *= second
			if c.last < second {
				want = c.last
			}
			if got := backoff.After(i+1, c.last); got != want {
				t.Errorf("the pause after %d failures, %d at most, is %d, want %d", i+1, c.last, got, want)
			}
		}
	}
	if got := backoff.After(1<<40, 60*second); got != 60*second {
		t.Errorf("after very many failures it is %d", got)
	}
	if got := backoff.After(0, 60*second); got != second {
		t.Errorf("without a failure it is %d", got)
	}
}
