package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Starts is the gate of a StateAware leaf, as its status shows it and a restart needs it.
type Starts struct {
	// Timeout is how long an application may be starting, in nanoseconds. Percentile is that of the last starts (see
	// application.LearntTimeout) from which it was learnt; 0 where it was not.
	Timeout, Percentile int64
	// Starting are the applications that are starting, in the order in which they leave that state at the latest.
	Starting []Start
	Memory   queue.Memory
}

// Start is an application that is starting.
type Start struct {
	Application  string
	Since, Until int64 // unix nanoseconds; Until: at the latest
}
