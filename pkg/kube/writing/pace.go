package writing

import (
	"time"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// NewLimiter allows so many writes a second. Its burst is what one interval may write: a caller that comes once per interval gets the full
// rate, and a backlog after a quiet hour is not written faster at first than later.
func NewLimiter(perSecond int, interval time.Duration, c clock.PassiveClock) flowcontrol.PassiveRateLimiter {
	burst := max(1, int(time.Duration(perSecond)*interval/time.Second))
	return flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(float32(perSecond), burst, c)
}

// While pods flow, a pass writes at most busyWrites objects, and passes are at least busyEvery apart. Each write costs
// an API server more than a bind does: with 100 busy queues, 50 writes a second took a third of its CPU. A few queues
// stay up to date all the same, and the rest follows when fewer pods flow.
const (
	busyWrites = 10
	busyEvery  = 2 * time.Second
)

// Pace says how many writes a pass may make. It is for one goroutine.
type Pace struct {
	limiter flowcontrol.PassiveRateLimiter
	wroteAt time.Time
}

// NewPace allows so many writes a second, and fewer while pods flow.
func NewPace(perSecond int, interval time.Duration, c clock.PassiveClock) *Pace {
	return &Pace{limiter: NewLimiter(perSecond, interval, c)}
}

// Admit returns how many of the writes that are due may go now. busy: pods flow.
func (p *Pace) Admit(due int, busy bool, now time.Time) int {
	if busy {
		if now.Sub(p.wroteAt) < busyEvery {
			return 0
		}
		due = min(due, busyWrites)
	}
	if due > 0 {
		p.wroteAt = now
	}
	n := 0
	for n < due && p.limiter.TryAccept() {
		n++
	}
	return n
}

// AdmitOne reports whether one more write may go now.
func (p *Pace) AdmitOne() bool { return p.limiter.TryAccept() }
