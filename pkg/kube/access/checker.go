package access

import (
	"cmp"
	"context"
	"slices"
	"time"

	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
)

// Defaults of Options.
const (
	DefaultRecheck = 30 * time.Second
	DefaultExpire  = 10 * time.Minute
	DefaultGrants  = 20_000
)

// RequestsPerSecond bounds the reviews, and Burst those at once: what the client of a Checker should be set to.
const (
	RequestsPerSecond = 50
	Burst             = 100
)

const (
	// In one pass, so many subjects are asked about at most, and so many queues of each. So one user with many queues delays no other.
	subjectsPerPass  = 32
	questionsPerPass = 8
	// A refusal is asked for again after twice the time of the refusal before it, up to so many times Recheck. So many who may submit nowhere take few
	// of the reviews.
	slowest = 4
	// rest is between two passes. Without it a storm of pods would be a storm of passes.
	rest = 10 * time.Millisecond
	// idle is how long a pass sleeps at most: something may have become due that it did not see.
	idle = time.Minute
)

// Ledger is the part of the ledger that needs to know.
type Ledger interface {
	AccessQuestions(since uint64) ([]access.Question, uint64)
	ObserveAccess(q access.Question, a access.Answer, now int64)
	ForgetAccess(q access.Question) bool
}

// Options of a Checker; the zero value is fine.
type Options struct {
	// Recheck is after how long an answer is asked for again, a refusal up to four times that. A grant is shared between questions for half of it.
	Recheck time.Duration
	// Expire is how long an answer is kept while there is no other: the API server gives none, or there is too much to ask.
	Expire time.Duration
	// Grants bounds the answers about grants that are kept.
	Grants int
	// Answered is called after answers were observed. It must not block.
	Answered func()
	// Clock is for tests.
	Clock clock.WithTicker
}

// Checker answers the ledger.
type Checker struct {
	ledger Ledger
	review Review
	Options
	trigger    writing.Trigger
	complaints writing.Complaints
	grants     *utilcache.LRUExpireCache // by grantOf

	// All of this belongs to the goroutine of Run.
	questions map[access.Question]*question
	version   uint64
}

// question is what was done about a question.
type question struct {
	access.Question
	open     bool // pods depend on it
	answer   access.Answer
	due      time.Time // when to ask
	answered time.Time
	refused  time.Duration // how long it waits after refusals in a row
	retry    writing.Retry

	// of the pass under way
	asked bool
	got   access.Answer
	err   error
}

type grantOf struct {
	access.Subject
	access.Grant
}

// New returns a Checker that asks by review.
func New(l Ledger, review Review, o Options) *Checker {
	o.Recheck, o.Expire, o.Grants = cmp.Or(o.Recheck, DefaultRecheck), cmp.Or(o.Expire, DefaultExpire), cmp.Or(o.Grants, DefaultGrants)
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Checker{
		ledger: l, review: review, Options: o, trigger: writing.NewTrigger(), questions: map[access.Question]*question{},
		grants: utilcache.NewLRUExpireCacheWithClock(o.Grants, o.Clock),
	}
}

// Kick asks for a look at what the ledger needs to know. It never blocks.
func (c *Checker) Kick() { c.trigger.Kick() }

// Run asks until the context ends.
func (c *Checker) Run(ctx context.Context) {
	c.trigger.Run(writing.Named(ctx, "access"), c.Clock, rest, c.pass)
}

// Prime asks about everything that is open once, so that a new leader begins with the answers that the one before it had. It gives up when the context
// ends; what was not answered by then is blocked until it is. It must be called before Run.
func (c *Checker) Prime(ctx context.Context) {
	ctx = writing.Named(ctx, "access")
	for c.pass(ctx); ctx.Err() == nil && c.untried(); c.pass(ctx) {
	}
}

func (c *Checker) untried() bool {
	for _, q := range c.questions {
		if q.open && q.answer == access.Unknown && q.retry.Failures == 0 {
			return true
		}
	}
	return false
}

// pass asks what is due, as far as one pass goes, and returns when to come again.
func (c *Checker) pass(ctx context.Context) time.Duration {
	c.follow(c.Clock.Now())
	due := c.due(c.Clock.Now())
	c.askAll(ctx, due)
	if ctx.Err() != nil {
		return idle
	}
	now := c.Clock.Now()
	for _, questions := range due {
		for _, q := range questions {
			if q.asked {
				c.note(ctx, q, now)
			}
		}
	}
	c.expire(now)
	if len(due) > 0 && c.Answered != nil {
		c.Answered()
	}
	return c.next(now)
}

// askAll asks the questions of each subject one after the other, so that no grant is asked about twice. It takes a bounded time, whatever does not
// answer: then, and for a subject whose review has failed, the rest stays due.
func (c *Checker) askAll(ctx context.Context, due [][]*question) {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	workqueue.ParallelizeUntil(context.WithoutCancel(ctx), writing.AtOnce, len(due), func(i int) {
		failed := false
		for _, q := range due[i] {
			if q.asked = !failed && ctx.Err() == nil; q.asked {
				q.got, q.err = c.ask(ctx, q.Question)
				failed = q.err != nil
			}
		}
	})
}

// follow learns on which questions pods depend now. A new one overtakes those that are due on time.
func (c *Checker) follow(now time.Time) {
	open, version := c.ledger.AccessQuestions(c.version)
	if version == c.version {
		return
	}
	c.version = version
	for _, q := range c.questions {
		q.open = false
	}
	for _, k := range open {
		q := c.questions[k]
		if q == nil {
			q = &question{Question: k, due: now.Add(-c.Recheck)}
			c.questions[k] = q
		}
		q.open = true
	}
}

// due returns the questions to ask now, in turns.
func (c *Checker) due(now time.Time) [][]*question {
	var all []*question
	heard := map[access.Subject]bool{}
	for k, q := range c.questions {
		heard[q.Subject] = heard[q.Subject] || !q.answered.IsZero() || q.retry.Failures > 0
		switch {
		case q.due.After(now):
		case q.open:
			all = append(all, q)
		case c.ledger.ForgetAccess(k):
			delete(c.questions, k) // no pod has depended on it since it was answered
		default:
			q.due = now.Add(rest) // one does again: see follow
		}
	}
	slices.SortFunc(all, func(a, b *question) int { return cmp.Or(a.due.Compare(b.due), a.Compare(b.Question)) })
	return turns(all, heard)
}

// turns puts the questions of each subject together, the first first. Every other turn is for a subject that was not heard of, if there is one: nobody waits
// until all others were asked about again, and new subjects, however many, do not keep answers from being renewed.
func turns(all []*question, heard map[access.Subject]bool) [][]*question {
	var groups [2][][]*question // of new subjects, and of the others
	at := map[access.Subject]int{}
	for _, q := range all {
		g := &groups[0]
		if heard[q.Subject] {
			g = &groups[1]
		}
		i, seen := at[q.Subject]
		switch {
		case seen && len((*g)[i]) < questionsPerPass:
			(*g)[i] = append((*g)[i], q)
		case !seen && len(*g) < subjectsPerPass:
			at[q.Subject] = len(*g)
			*g = append(*g, []*question{q})
		}
	}
	var due [][]*question
	for i := range subjectsPerPass {
		for _, g := range groups {
			if i < len(g) && len(due) < subjectsPerPass {
				due = append(due, g[i])
			}
		}
	}
	return due
}

// ask answers one question, by as many reviews as it takes. Each of its grants is asked about once at most.
func (c *Checker) ask(ctx context.Context, q access.Question) (access.Answer, error) {
	known := map[access.Grant]access.Answer{}
	of := func(g access.Grant) access.Answer {
		if a := known[g]; a != access.Unknown {
			return a
		}
		if kept, ok := c.grants.Get(grantOf{q.Subject, g}); ok {
			known[g], _ = kept.(access.Answer)
		}
		return known[g]
	}
	for {
		answer, next := access.Decide(access.Submit, q.Queue, of)
		if answer != access.Unknown {
			return answer, nil
		}
		allowed, err := c.review(ctx, q.Subject, next)
		if err != nil {
			return access.Unknown, err
		}
		known[next] = access.No
		if allowed {
			known[next] = access.Yes
		}
		c.grants.Add(grantOf{q.Subject, next}, known[next], c.Recheck/2)
	}
}

// note tells the ledger what is new.
func (c *Checker) note(ctx context.Context, q *question, now time.Time) {
	if q.err != nil {
		c.complaints.Log(ctx, now, q.err, "Asking who may submit to a queue; this takes create on subjectaccessreviews.authorization.k8s.io",
			"user", q.User, "queue", q.Queue)
		q.due = now.Add(q.retry.Postpone(now))
		return
	}
	if q.got == access.No {
		q.refused = min(max(2*q.refused, c.Recheck), slowest*c.Recheck)
	} else {
		q.refused = 0
	}
	q.retry, q.answered, q.due = writing.Retry{}, now, now.Add(max(q.refused, c.Recheck))
	c.tell(q, q.got, now)
}

// expire takes back the answers that were not renewed for too long.
func (c *Checker) expire(now time.Time) {
	for _, q := range c.questions { // each for itself: order does not matter
		if q.answer != access.Unknown && now.Sub(q.answered) >= c.Expire {
			c.tell(q, access.Unknown, now)
		}
	}
}

func (c *Checker) tell(q *question, a access.Answer, now time.Time) {
	q.answer = a
	c.ledger.ObserveAccess(q.Question, a, now.UnixNano())
}

// next returns how long nothing is due.
func (c *Checker) next(now time.Time) time.Duration {
	wait := idle
	for _, q := range c.questions {
		wait = min(wait, q.due.Sub(now))
	}
	return max(wait, 0)
}
