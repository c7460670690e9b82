// Package writing holds what the writers of this floor have in common: the name they write under, the loop and its pace, the back-off after a failure,
// and how often a failure is worth a line in the log.
//
// In: options, errors and functions that write. Out: limiters, durations and yes or no. It talks to no server itself, reads no clock but the one it is given, and logs
// nothing itself.
package writing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
)

// FieldManager is the name under which the scheduler owns what it writes.
const FieldManager = "fairway-scheduler"

// Timeout bounds one request. An API server that does not answer within it is treated as one that failed.
const Timeout = 10 * time.Second

// BackOff is how long to wait after so many failures in a row, of which the first is 1: one minute at most.
func BackOff(failures int) time.Duration {
	return time.Duration(backoff.After(failures, int64(time.Minute)))
}

// NewLimiter lets pass so many writes a second. Its burst is what one interval may write: whoever comes once per interval gets the full
// rate, and a backlog after a quiet hour starts no louder than it goes on.
func NewLimiter(perSecond int, interval time.Duration, c clock.PassiveClock) flowcontrol.PassiveRateLimiter {
	burst := max(1, int(time.Duration(perSecond)*interval/time.Second))
	return flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(float32(perSecond), burst, c)
}

// While pods flow, a pass writes at most busyWrites objects, and no pass follows another within busyEvery. Each write costs an apiserver
// more than a bind does: with 100 busy queues at 50 writes a second it was a third of its CPU. A handful of queues stays up to date all
// the same, and the rest follows as soon as there is a breath.
const (
	busyWrites = 10
	busyEvery  = 2 * time.Second
)

// Repeat makes a pass at once and then one per interval, until the context ends. No two passes overlap.
func Repeat(ctx context.Context, c clock.WithTicker, interval time.Duration, pass func(context.Context)) {
	ticker := c.NewTicker(interval)
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

// AtOnce bounds the requests under way.
const AtOnce = 4

// Send makes writes, a few at a time, and then takes note of how each one went, one after the other. Where the context has ended, of none: some were
// not even tried.
func Send[T any](ctx context.Context, due []T, write func(context.Context, T) (*unstructured.Unstructured, error),
	note func(context.Context, T, *unstructured.Unstructured, error)) {
	answers, errs := make([]*unstructured.Unstructured, len(due)), make([]error, len(due))
	workqueue.ParallelizeUntil(ctx, AtOnce, len(due), func(i int) { answers[i], errs[i] = write(ctx, due[i]) })
	if ctx.Err() != nil {
		return
	}
	for i, d := range due {
		note(ctx, d, answers[i], errs[i])
	}
}

// Pace says how many writes a pass may make. It is for one goroutine.
type Pace struct {
	limiter flowcontrol.PassiveRateLimiter
	wroteAt time.Time
}

// NewPace lets pass so many writes a second, and fewer while pods flow.
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

// complaintEvery is how often the same trouble may be mentioned. When an API server is down, thousands of writes fail for one reason.
const complaintEvery = time.Minute

// Complaints says which failures to log: the first for each reason, then at most one a minute. The zero value is ready; it is for one
// goroutine.
type Complaints struct {
	kinds map[metav1.StatusReason]*complaint
}

type complaint struct {
	last  time.Time
	quiet int
}

// Due reports whether to log the failure, and how many of its kind went unmentioned since the last that was logged.
func (c *Complaints) Due(err error, now time.Time) (unmentioned int, due bool) {
	kind := apierrors.ReasonForError(err)
	k := c.kinds[kind]
	if k == nil {
		k = &complaint{last: now.Add(-complaintEvery)}
		if c.kinds == nil {
			c.kinds = map[metav1.StatusReason]*complaint{}
		}
		c.kinds[kind] = k
	}
	if now.Sub(k.last) < complaintEvery {
		k.quiet++
		return 0, false
	}
	unmentioned, k.quiet, k.last = k.quiet, 0, now
	return unmentioned, true
}

// IsForAnother reports whether a patch that states a UID was for another object of the name. The API server answers that a UID cannot be changed.
func IsForAnother(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// cutMark ends a text that was cut.
const cutMark = "..."

// Cut shortens a text to at most limit bytes, whole characters: sentences may quote what a user wrote, and that has no bound.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(cutMark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.TrimRight(text[:end], " ") + cutMark
}
