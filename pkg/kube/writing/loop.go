package writing

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Interval is the time between two passes of a loop.
const Interval = 500 * time.Millisecond

// Loop makes the passes of a writer. In each pass the writer compares what all objects should say with what they say. A
// workqueue does not serve such a writer: the writes follow from one snapshot of the ledger, the oldest or most urgent
// difference goes first, and the number of writes depends on how busy the cluster is. A Loop is for one goroutine.
type Loop struct {
	Clock clock.WithTicker
	*Pace
	complaints Complaints
}

// NewLoop returns a loop that allows so many writes a second. If c is nil, it uses the real clock.
func NewLoop(perSecond int, c clock.WithTicker) *Loop {
	if c == nil {
		c = clock.RealClock{}
	}
	return &Loop{Clock: c, Pace: NewPace(perSecond, Interval, c)}
}

// Run makes a pass at once and then one per Interval, until the context ends. No two passes overlap.
func (l *Loop) Run(ctx context.Context, pass func(context.Context)) {
	ticker := l.Clock.NewTicker(Interval)
	defer ticker.Stop()
	for {
		pass(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// Complain logs a failure unless one for the same reason was logged within a minute. pairs name the object.
func (l *Loop) Complain(ctx context.Context, err error, what string, pairs ...any) {
	l.complaints.Log(ctx, l.Clock.Now(), err, what, pairs...)
}
