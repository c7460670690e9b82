package writing

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Trigger runs a loop that looks when it is kicked, and at the time that the last look asked for.
type Trigger chan struct{}

// NewTrigger returns a trigger that was not kicked.
func NewTrigger() Trigger { return make(Trigger, 1) }

// Kick asks for a look. It never blocks.
func (t Trigger) Kick() {
	select {
	case t <- struct{}{}:
	default: // one is asked for already
	}
}

// Run looks at once, again when kicked, and when the time that the last look returned is over, until the context ends. No look begins
// within rest of the end of the one before.
func (t Trigger) Run(ctx context.Context, c clock.WithTicker, rest time.Duration, look func(context.Context) time.Duration) {
	for {
		timer := c.NewTimer(look(ctx))
		if rest > 0 {
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-c.After(rest):
			}
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-t:
			timer.Stop()
		case <-timer.C():
		}
	}
}
