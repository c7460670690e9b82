// Package backoff says how long to wait after a failure before the next attempt.
//
// Input is how often something failed in a row; output is a duration in nanoseconds. The package keeps no
// state.
package backoff

const (
	// First is the pause after the first failure.
	First int64 = 1_000_000_000
	// Last is the longest pause of a pod and of its class, kube-scheduler's default.
	Last int64 = 10_000_000_000
)

// After returns the pause after so many failures in a row, at least one. It starts at First and doubles up to
// last.
func After(failures int, last int64) int64 {
	return min(First<<min(max(failures-1, 0), 10), last)
}
