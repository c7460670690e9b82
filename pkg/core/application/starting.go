package application

import (
	"slices"
	"strings"
	"time"
)

const second int64 = 1_000_000_000

// Bounds of what a queue learns of its starts, in nanoseconds.
const (
	// DefaultStartingTimeout holds where nothing is stated. What is learnt never exceeds it. YuniKorn StateAware: five minutes.
	DefaultStartingTimeout int64 = 5 * 60 * second
	// FirstStartingTimeout holds where nothing was learnt yet. A start that takes longer is learnt all the same, when it gets on, and the
	// next ones have their time; five minutes would be lost for each driver that never does.
	FirstStartingTimeout int64 = 60 * second
	// leastStartingTimeout: below it, what is learnt would say more about this scheduler than about the applications.
	leastStartingTimeout int64 = 5 * second
	// RememberedStarts is how many of the last starts count.
	RememberedStarts = 20
	// startsMultiple of the 95th percentile is what is learnt: a start that takes three times as long as nearly all others hardly will be
	// one.
	startsMultiple = 3
)

// LearntTimeout returns how long an application may be starting, by the durations of the last starts in any order, and their 95th
// percentile (the smallest duration that at least 95 in 100 do not exceed). false: there is nothing to learn from.
func LearntTimeout(starts []int64) (timeout, percentile int64, learnt bool) {
	if len(starts) == 0 {
		return FirstStartingTimeout, 0, false
	}
	sorted := slices.Sorted(slices.Values(starts))
	percentile = min(max(sorted[(len(sorted)*95+99)/100-1], 0), DefaultStartingTimeout)
	return min(max(startsMultiple*percentile, leastStartingTimeout), DefaultStartingTimeout), percentile, true
}

// Duration spells nanoseconds as a person would, 5m rather than 5m0s, and to the
// millisecond: finer than that nothing is measured.
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
