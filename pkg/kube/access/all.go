package access

import (
	"context"
	"errors"

	"k8s.io/client-go/util/workqueue"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Rights is what somebody may do with a queue, and the grants by which; a zero Grant stands for none.
type Rights struct {
	Queue                       queue.Path
	Submit, Reserve, Administer access.Grant
}

// atOnce bounds the reviews of All that are under way.
const atOnce = 16

// All asks what somebody may do with each of the queues. It asks about no grant twice, and about none below one that suffices.
func All(ctx context.Context, s access.Subject, queues []queue.Path, review Review) ([]Rights, error) {
	known := map[access.Grant]access.Answer{}
	of := func(g access.Grant) access.Answer { return known[g] }
	for {
		rights, open := make([]Rights, len(queues)), []access.Grant(nil)
		seen := map[access.Grant]bool{}
		decide := func(verb access.Verb, p queue.Path) access.Grant {
			answer, g := access.Decide(verb, p, of)
			if answer != access.Unknown {
				return g
			}
			if !seen[g] {
				seen[g] = true
				open = append(open, g)
			}
			return access.Grant{}
		}
		for i, p := range queues {
			rights[i] = Rights{
				Queue: p, Submit: decide(access.Submit, p), Reserve: decide(access.Reserve, p), Administer: decide(access.Administer, p),
			}
		}
		if len(open) == 0 {
			return rights, nil
		}
		answers, errs := make([]bool, len(open)), make([]error, len(open))
		workqueue.ParallelizeUntil(ctx, atOnce, len(open), func(i int) { answers[i], errs[i] = review(ctx, s, open[i]) })
		if err := errors.Join(ctx.Err(), first(errs)); err != nil {
			return nil, err
		}
		for i, g := range open {
			known[g] = access.No
			if answers[i] {
				known[g] = access.Yes
			}
		}
	}
}

// first returns the first error: mostly all say the same.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
