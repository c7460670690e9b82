package application

import (
	"fmt"
	"testing"
)

func TestStateOf(t *testing.T) {
	gated := Start{Gated: true}
	for name, c := range map[string]struct {
		pods  Pods
		start Start
		want  State
	}{
		"all wait":                              {Pods{Waiting: 3}, gated, Accepted},
		"a driver is on its way":                {Pods{Holding: 1, Drivers: 1}, gated, Starting},
		"a driver has a node":                   {Pods{Holding: 1, Bound: 1, BoundDrivers: 1, Drivers: 1}, gated, Starting},
		"two drivers and nobody else":           {Pods{Holding: 2, Bound: 2, BoundDrivers: 2, Drivers: 2}, gated, Starting},
		"an executor is on its way":             {Pods{Holding: 2, Bound: 1, BoundDrivers: 1, Drivers: 1}, gated, Starting},
		"an executor has a node":                {Pods{Holding: 2, Bound: 2, BoundDrivers: 1, Drivers: 1}, gated, Running},
		"a worker has a node, its driver waits": {Pods{Waiting: 1, Holding: 1, Bound: 1, Drivers: 1, WaitingDrivers: 1}, gated, Running},
		"no gate: a worker, its driver waits":   {Pods{Waiting: 1, Holding: 1, Bound: 1, Drivers: 1, WaitingDrivers: 1}, Start{}, Starting},
		"its driver ran, and a new one waits":   {Pods{Waiting: 1, Holding: 1, Bound: 1, Drivers: 1, WaitingDrivers: 1}, Start{Gated: true, Started: true}, Running},
		"workers, one driver runs, one waits": {
			Pods{Waiting: 1, Holding: 2, Bound: 2, BoundDrivers: 1, Drivers: 2, HoldingDrivers: 1, WaitingDrivers: 1}, gated, Running},
		"an executor whose driver runs elsewhere":  {Pods{Holding: 1, Bound: 1, BoundExecutors: 1}, gated, Running},
		"one pod without a role":                   {Pods{Holding: 1, Bound: 1}, gated, Starting},
		"a second one is on its way":               {Pods{Holding: 2, Bound: 1}, gated, Starting},
		"two pods without a role":                  {Pods{Holding: 2, Bound: 2}, gated, Running},
		"known to be one pod":                      {Pods{Holding: 1, Bound: 1}, Start{Gated: true, Single: true}, Running},
		"has left Starting before":                 {Pods{Holding: 1, Bound: 1, BoundDrivers: 1, Drivers: 1}, Start{Gated: true, Started: true}, Running},
		"its driver was evicted, executors wait":   {Pods{Waiting: 2, Leaving: 1, Drivers: 1}, gated, Accepted},
		"its driver was evicted, and nothing else": {Pods{Leaving: 1, Drivers: 1}, gated, Completing},
		"no gate: a driver":                        {Pods{Holding: 1, Bound: 1, BoundDrivers: 1, Drivers: 1}, Start{}, Running},
		"no gate: others wait while one leaves":    {Pods{Waiting: 1, Leaving: 1}, Start{}, Running},
		"no gate: all leave":                       {Pods{Leaving: 2}, Start{}, Completing},
		"no gate: all wait":                        {Pods{Waiting: 1}, Start{}, Accepted},
	} {
		if got := StateOf(c.pods, c.start); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := fmt.Sprint(Accepted, Starting, Running, Completing, State(9)); got != "Accepted Starting Running Completing State(9)" {
		t.Errorf("states print as %s", got)
	}
}

func TestWaitsForDriver(t *testing.T) {
	for name, c := range map[string]struct {
		pods Pods
		want bool
	}{
		"nothing":                             {Pods{}, false},
		"no driver is known":                  {Pods{Waiting: 3}, false},
		"the driver waits":                    {Pods{Waiting: 4, Drivers: 1, WaitingDrivers: 1}, true},
		"the driver holds":                    {Pods{Waiting: 3, Holding: 1, Drivers: 1, HoldingDrivers: 1}, false},
		"one of two drivers holds":            {Pods{Waiting: 4, Holding: 1, Drivers: 2, HoldingDrivers: 1, WaitingDrivers: 1}, false},
		"the driver leaves":                   {Pods{Waiting: 3, Leaving: 1, Drivers: 1}, false},
		"the driver leaves, a new one waits":  {Pods{Waiting: 4, Leaving: 1, Drivers: 2, WaitingDrivers: 1}, true},
		"workers hold while the driver waits": {Pods{Waiting: 1, Holding: 3, Drivers: 1, WaitingDrivers: 1}, true},
	} {
		if got := c.pods.WaitsForDriver(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestLearntTimeout(t *testing.T) {
	const s = int64(1e9)
	fill := func(n int, d int64, more ...int64) []int64 {
		for range n {
			more = append(more, d)
		}
		return more
	}
	for name, c := range map[string]struct {
		starts              []int64
		timeout, percentile int64
		learnt              bool
	}{
		"nothing":                         {nil, 60 * s, 0, false},
		"a single one":                    {fill(1, 4*s), 12 * s, 4 * s, true},
		"three times the slowest of 5":    {fill(4, 2*s, 10*s), 30 * s, 10 * s, true},
		"of 20 the slowest is left out":   {fill(19, 4*s, 200*s), 12 * s, 4 * s, true},
		"of 20 the second slowest counts": {fill(18, 4*s, 20*s, 200*s), 60 * s, 20 * s, true},
		"at least five seconds":           {fill(5, s/10), 5 * s, s / 10, true},
		"at most five minutes":            {fill(5, 120*s), 300 * s, 120 * s, true},
		"a clock that went back":          {fill(5, -s), 5 * s, 0, true},
		"one that went on for years":      {fill(5, 1<<62), 300 * s, 300 * s, true},
	} {
		timeout, percentile, learnt := LearntTimeout(c.starts)
		if timeout != c.timeout || percentile != c.percentile || learnt != c.learnt {
			t.Errorf("%s: %d %d %v, want %d %d %v", name, timeout, percentile, learnt, c.timeout, c.percentile, c.learnt)
		}
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0s", 12_499_600_000: "12.5s", 300e9: "5m", 310e9: "5m10s", 3600e9: "1h", 5400e9: "1h30m", 3605e9: "1h0m5s", 36_000e9: "10h", 600e9: "10m", 10e9: "10s",
	} {
		if got := Duration(in); got != want {
			t.Errorf("%d: %s, want %s", in, got, want)
		}
	}
}
