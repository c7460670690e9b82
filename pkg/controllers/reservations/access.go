package reservations

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	coreaccess "github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// check is what was found out about the user of one spec. It is asked once: what is accepted stays so.
type check struct {
	uid        types.UID
	generation int64
	who        coreaccess.Subject
	answer     coreaccess.Answer
	retry      writing.Retry
}

// check says whether the user of a Reservation that was not decided on yet may reserve in its queue. Until somebody has answered, it waits.
func (c *Controller) check(ctx context.Context, o *reservations.Object, u *unstructured.Unstructured) {
	if c.o.Review == nil || o.Invalid != "" || o.Stored.ObservedGeneration == o.Generation {
		return
	}
	who := convert.Reserver(u)
	k := c.checks[o.Key()]
	if k == nil || k.uid != u.GetUID() || k.generation != o.Generation || k.who != who {
		k = &check{uid: u.GetUID(), generation: o.Generation, who: who}
		c.checks[o.Key()] = k
	}
	now := c.loop.Clock.Now()
	if k.answer == coreaccess.Unknown && k.retry.Due(now) {
		var err error
		if k.answer, err = c.mayReserve(ctx, who, o); err != nil {
			k.retry.Postpone(now)
			c.loop.Complain(ctx, err, "Whether a user may reserve cannot be found out; it is tried again", "reservation", o.Key())
		}
	}
	switch k.answer {
	case coreaccess.Unknown:
		o.Unchecked = true
	case coreaccess.No:
		o.Forbidden = "user " + reason.Name(o.User) + " may not reserve in queue " + string(o.Queue) +
			": this takes the verb reserve or administer on queues.scheduling.fairway.dev, for " + string(o.Queue) + " or a queue above it"
	case coreaccess.Yes:
	}
}

// mayReserve asks about one grant after the other, until one suffices or none does.
func (c *Controller) mayReserve(ctx context.Context, who coreaccess.Subject, o *reservations.Object) (coreaccess.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	known := map[coreaccess.Grant]coreaccess.Answer{}
	for {
		answer, next := coreaccess.Decide(coreaccess.Reserve, o.Queue, func(g coreaccess.Grant) coreaccess.Answer { return known[g] })
		if answer != coreaccess.Unknown {
			return answer, nil
		}
		allowed, err := c.o.Review(ctx, who, next)
		if err != nil {
			return coreaccess.Unknown, err
		}
		known[next] = coreaccess.No
		if allowed {
			known[next] = coreaccess.Yes
		}
	}
}

// forgetChecks forgets those of objects that are gone.
func (c *Controller) forgetChecks(shown map[string]*unstructured.Unstructured) {
	for key := range c.checks { // each for itself: order does not matter
		if shown[key] == nil {
			delete(c.checks, key)
		}
	}
}
