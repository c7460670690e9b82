package limit_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func of(running, most int64) limit.Level {
	return limit.Level{Running: running, Most: queue.AtMost(most)}
}
func unlimited(running int64) limit.Level {
	return limit.Level{Running: running}
}

func TestMaxRunningApplications(t *testing.T) {
	for name, c := range map[string]struct {
		levels         []limit.Level
		stops, highest int // -1 for none
	}{
		"no limit":                         {[]limit.Level{unlimited(9), unlimited(99)}, -1, -1},
		"one place left":                   {[]limit.Level{of(1, 2), of(5, 6)}, -1, -1},
		"full leaf":                        {[]limit.Level{of(2, 2), of(5, 6)}, 0, 0},
		"full root":                        {[]limit.Level{of(1, 2), unlimited(3), of(6, 6)}, 2, 2},
		"both: stopped first by the leaf":  {[]limit.Level{of(2, 2), unlimited(3), of(6, 6)}, 0, 2},
		"above its limit stops":            {[]limit.Level{of(3, 2)}, 0, -1},
		"above below a full one":           {[]limit.Level{of(3, 2), of(4, 4)}, 0, 1},
		"full below one that is above":     {[]limit.Level{of(2, 2), of(5, 4)}, 0, 0},
		"a limit of 0":                     {[]limit.Level{unlimited(0), of(0, 0)}, 1, 1},
		"a limit that is not stated is no": {[]limit.Level{{Running: 0, Most: queue.Limit{Most: 0}}}, -1, -1},
		"no level":                         {nil, -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.levels {
				c.levels[i].Queue = fmt.Sprint("root.", i)
			}
			why, over := limit.MaxRunningApplications(c.levels)
			var want reason.Reason
			if c.stops >= 0 {
				l := c.levels[c.stops]
				want = reason.Reason{Code: reason.MaxRunningApplications, Queue: fmt.Sprint("root.", c.stops), Details: reason.Applications{Most: l.Most.Most, Running: l.Running}}
			}
			if over != (c.stops >= 0) || why != want {
				t.Errorf("got %+v, %t, want %+v", why, over, want)
			}
			i, full := limit.HighestFull(c.levels)
			if full != (c.highest >= 0) || full && i != c.highest {
				t.Errorf("the highest full one is %d, %t, want %d", i, full, c.highest)
			}
		})
	}
}

// A user's limit counts in all queues, also for a user without a name.
func TestAUsersLimitNamesTheUser(t *testing.T) {
	for _, user := range []string{"ann", ""} {
		levels := []limit.Level{
			{Queue: "root", User: user, OfUser: true, Running: 2, Most: queue.AtMost(2)}, {Queue: "root.a", Running: 5, Most: queue.AtMost(5)},
		}
		want := reason.Reason{Code: reason.UserMaxRunningApplications, Queue: "root", Details: reason.Applications{User: user, Most: 2, Running: 2}}
		if got, over := limit.MaxRunningApplications(levels); !over || got != want {
			t.Errorf("got %+v, %t, want %+v", got, over, want)
		}
	}
}

// An application that ends frees a slot exactly below the highest full level: there, and nowhere else on the
// path, one more application fits afterwards.
func TestASlotIsFreedWhereALevelWasFull(t *testing.T) {
	level := rapid.Custom(func(t *rapid.T) limit.Level {
		return limit.Level{Running: rapid.Int64Range(1, 4).Draw(t, "running"), Most: queue.Limit{Stated: rapid.Bool().Draw(t, "stated"), Most: rapid.Int64Range(0, 4).Draw(t, "most")}}
	})
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SliceOfN(level, 1, 5).Draw(t, "levels")
		highest, full := limit.HighestFull(levels)
		for i, l := range levels {
			_, before := limit.MaxRunningApplications(levels[i : i+1])
			l.Running--
			_, after := limit.MaxRunningApplications([]limit.Level{l})
			freed := before && !after
			if freed && (!full || i > highest) || !freed && full && i == highest {
				t.Fatalf("level %d of %v: freed %v, the highest full one is %d, %v", i, levels, freed, highest, full)
			}
		}
	})
}
