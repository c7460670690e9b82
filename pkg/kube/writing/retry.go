package writing

import (
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
)

// longestPause is what the pauses between attempts grow to.
const longestPause = time.Minute

// Retry says when to try again what has failed. The zero value has not failed and may be tried at once.
type Retry struct {
	Failures int // in a row
	at       time.Time
}

// Postpone notes a failure, and returns how long to wait.
func (r *Retry) Postpone(now time.Time) time.Duration {
	r.Failures++
	pause := time.Duration(backoff.After(r.Failures, int64(longestPause)))
	r.at = now.Add(pause)
	return pause
}

// Due reports whether the pause is over.
func (r *Retry) Due(now time.Time) bool { return !now.Before(r.at) }

// At is when the pause ends, a time long past if nothing has failed.
func (r *Retry) At() time.Time { return r.at }
