package application

import (
	"slices"
	"strings"
	"time"
)

// How long an application may be Starting. What else ends that state is in progress.go.

const second int64 = 1_000_000_000

// Bounds of the starting timeout that a queue learns, in nanoseconds.
const (
	// DefaultStartingTimeout applies where no timeout is stated. A learnt timeout never exceeds it. YuniKorn
	// StateAware: five minutes.
	DefaultStartingTimeout int64 = 5 * 60 * second
	// FirstStartingTimeout applies until something was learnt. A start that takes longer is still measured
	// when it succeeds, so that later starts get more time. With five minutes, each driver that never succeeds
	// would block the gate for that long.
	FirstStartingTimeout int64 = 60 * second
	// leastStartingTimeout is the smallest learnt timeout: shorter ones would measure this scheduler and not
	// the applications.
	leastStartingTimeout int64 = 5 * second
	// RememberedStarts is how many of the last starts are used.
	RememberedStarts = 20
	// startsMultiple times the 95th percentile is the learnt timeout: a start that takes three times as long
	// as nearly all others will hardly succeed.
	startsMultiple = 3
)

// LearntTimeout returns how long an application may be starting, and the 95th percentile of the last starts
// (the smallest duration that at least 95 in 100 do not exceed). The starts may be in any order. learnt is
// false if there are none.
func LearntTimeout(starts []int64) (timeout, percentile int64, learnt bool) {
	if len(starts) == 0 {
		return FirstStartingTimeout, 0, false
	}
	sorted := slices.Sorted(slices.Values(starts))
	percentile = min(max(sorted[(len(sorted)*95+99)/100-1], 0), DefaultStartingTimeout)
	return min(max(startsMultiple*percentile, leastStartingTimeout), DefaultStartingTimeout), percentile, true
}

// Duration spells nanoseconds as a person would: 5m, not 5m0s. It rounds to milliseconds, because nothing is
// measured more finely.
func Duration(nanoseconds int64) string {
	text := time.Duration(nanoseconds).Round(time.Millisecond).String()
	if minutes, whole := strings.CutSuffix(text, "m0s"); whole {
		text = minutes + "m"
	}
	if hours, whole := strings.CutSuffix(text, "h0m"); whole {
		text = hours + "h"
	}
	return text
}
