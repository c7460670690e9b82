package preemption

import (
	"cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// second is one in nanoseconds.
const second int64 = 1_000_000_000

// Clock is since when a queue has been below one of its entitlements, and whether it claims that. Times are unix nanoseconds, 0 for never.
type Clock struct {
	// Since is when the queue fell below. It has been below in every look since.
	Since int64
	// Claimed is the Since of the open claim, 0: none is open. A claim outlives its clock: it opens below the threshold and ends at the
	// whole share.
	Claimed int64
	// Declined is when a claim ended because nobody could pay it, and the timeout began again; 0: none did, or one is open again.
	Declined int64
	// AfterEviction: the clock began to run, while no claim was open, just after pods of the queue had been evicted. See Claim.Exempts.
	AfterEviction bool
}

// ClockInput is a queue as one of its clocks sees it.
type ClockInput struct {
	Kind  Kind
	Rule  queue.Rule
	Total resource.List
	// Waiting: the queue has pods that have no node yet.
	Waiting bool
	// Usage is what all charged pods of the queue hold, and what is free on nodes that are held for it. Settled is what the pods hold whose scheduling
	// attempts are over.
	Usage, Settled resource.List
	// Bound is the usage below which the queue is starved, Target the usage at which its claim is paid.
	Bound, Target resource.List
	Timeout       queue.Timeout
	Stored        ClockMemory
	// EvictedAt is when a victim of the queue, or of one below it, was last gone or replaced; 0: never.
	EvictedAt int64
}

// afterEviction: a queue that falls below its share within this time after an eviction is taken to be below because of it. The clock may start late,
// since it does not start while an attempt of the queue is under way.
const afterEviction = 10 * second

// ClockMemory is what the status of the Queue says of a clock of an earlier process. It counts in the first look of this process only.
type ClockMemory struct {
	Since  int64
	Due    int64 // when its timeout passes; later than Since and the timeout if a claim was declined
	Claims bool
}

// Next brings the clock up to date. A running attempt keeps a clock from starting, but ends neither a clock nor a claim: most attempts of a
// starved queue fail, and a failed attempt must not cost the queue its time.
func (c Clock) Next(in ClockInput, now int64) Clock {
	if c.Since == 0 && in.Stored.Since != 0 {
		c.Since = min(in.Stored.Since, now)
		if in.Timeout.InForce() && in.Stored.Due > in.Timeout.After(in.Stored.Since) {
			c.Declined = min(in.Stored.Due-in.Timeout.Nanoseconds, now)
		}
	}
	switch {
	case !in.Waiting || !in.Kind.Below(in.Rule, in.Total, in.Settled, in.Bound):
		c.Since, c.Declined = 0, 0
	case c.Since == 0 && in.Kind.Below(in.Rule, in.Total, in.Usage, in.Bound):
		c.Since = now
		if c.Claimed == 0 {
			c.AfterEviction = in.EvictedAt != 0 && now-in.EvictedAt <= afterEviction
		}
	}
	if in.Stored.Claims && c.Claimed == 0 {
		c.Claimed = cmp.Or(c.Since, now) // the queue may be above the threshold by now, with its claim still open
	}
	if c.Claimed != 0 && (!in.Waiting || !in.Timeout.InForce() || !in.Kind.Below(in.Rule, in.Total, in.Settled, in.Target)) {
		c.Claimed = 0
	}
	c.AfterEviction = c.AfterEviction && (c.Since != 0 || c.Claimed != 0)
	return c
}

// Due is when the clock opens a claim unless something changes; 0: never, or the claim is open.
func (c Clock) Due(timeout queue.Timeout) int64 {
	if c.Claimed != 0 {
		return 0
	}
	return c.Passes(timeout)
}

// Passes is when the timeout passes, or has passed; 0: never, or the clock does not run.
func (c Clock) Passes(timeout queue.Timeout) int64 { return timeout.After(max(c.Since, c.Declined)) }

// Decline ends a claim that nobody can pay: no queue is above its entitlement by more than the part that is ignored
// (MaxIgnoredOverCapacity). The claim opens again after another timeout, if the queue is still starved.
func (c Clock) Decline(now int64) Clock {
	c.Claimed = 0
	if c.Since != 0 {
		c.Declined = now
	}
	return c
}

// Tick opens the claim once the timeout has passed.
func (c Clock) Tick(timeout queue.Timeout, now int64) (next Clock, opened bool) {
	if at := c.Due(timeout); at != 0 && at <= now {
		return Clock{Since: c.Since, Claimed: c.Since, AfterEviction: c.AfterEviction}, true
	}
	return c, false
}

// longestPause bounds the pause after nominations on which claimants did not fit.
const longestPause = 5 * 60 * second

// Pause is a time in which no plan is made for the claims of a queue, because a plan proved wrong: a claimant did not fit on its nominated
// node after all. So such plans do not follow each other closely.
type Pause struct {
	// Failures are nominations in a row on which a claimant did not fit.
	Failures int
	Until    int64
}

// Failed is for a claimant that did not fit: the next pause is longer.
func (p Pause) Failed(now int64) Pause {
	p.Failures++
	p.Until = now + backoff.After(p.Failures+1, longestPause)
	return p
}

// Fitted is for a claimant that did fit. A pause that runs runs on.
func (p Pause) Fitted() Pause {
	p.Failures = 0
	return p
}
