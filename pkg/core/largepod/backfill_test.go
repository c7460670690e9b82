package largepod_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/largepod"
)

// Times are seconds after now; 0: nobody knows. All pods ask for 4.
func TestWhenALargePodMayStartAtTheEarliest(t *testing.T) {
	now := 1000 * second
	for name, c := range map[string]struct {
		lacks int64
		ends  []int64
		want  int64 // -1: never
	}{
		"nothing is lacking":              {0, []int64{10}, 0},
		"one pod of two":                  {4, []int64{30, 10}, 10},
		"both":                            {8, []int64{30, 10}, 30},
		"one that may end now":            {4, []int64{30, 0}, 0},
		"one that may, and one that will": {8, []int64{30, 0}, 30},
		"late already":                    {4, []int64{-5}, 0},
		"too little runs":                 {12, []int64{30, 0}, -1},
		"however late":                    {8, []int64{0, 5000}, 5000},
	} {
		var pods []largepod.Running
		for _, in := range c.ends {
			p := largepod.Running{Request: amounts(4, 4)}
			if in != 0 {
				p.Ends = now + in*second
			}
			pods = append(pods, p)
		}
		want := now + c.want*second
		if c.want < 0 {
			want = math.MaxInt64
		}
		if got := largepod.Earliest(amounts(c.lacks, 0), pods, now); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestWhichPodsEndInTime(t *testing.T) {
	for _, c := range []struct {
		lasts, by, now int64
		want           bool
	}{{10, 110, 100, true}, {11, 110, 100, false}, {0, 110, 100, false}, {1, 100, 100, false}, {math.MaxInt64, math.MaxInt64, 100, false}} {
		if got := largepod.EndsInTime(c.lasts, c.by, c.now); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A pod that ends in time changes nothing of when the large one may start.
func TestAPodThatEndsInTimeDelaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := 1000 * second
		var pods []largepod.Running
		for range rapid.IntRange(0, 6).Draw(t, "pods") {
			p := largepod.Running{Request: amounts(rapid.Int64Range(1, 6).Draw(t, "cpu"), rapid.Int64Range(0, 6).Draw(t, "memory"))}
			if rapid.Bool().Draw(t, "known") {
				p.Ends = now + rapid.Int64Range(-3, 400).Draw(t, "ends")*second
			}
			pods = append(pods, p)
		}
		lacks := amounts(rapid.Int64Range(0, 20).Draw(t, "lacks cpu"), rapid.Int64Range(0, 20).Draw(t, "lacks memory"))
		by := largepod.Earliest(lacks, pods, now)
		lasts := rapid.Int64Range(1, 400).Draw(t, "lasts") * second
		if !largepod.EndsInTime(lasts, by, now) {
			return
		}
		with := append(pods, largepod.Running{Request: amounts(1, 1), Since: now, Ends: now + lasts})
		if got := largepod.Earliest(lacks.Add(amounts(1, 1)), with, now); got > by {
			t.Fatalf("%+v: later, from %d to %d", with, by, got)
		}
	})
}
