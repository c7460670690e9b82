package app

import (
	"context"
	"time"

	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	coreaccess "github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/access"
)

// primeWithin bounds how long a new leader waits for answers about access before it begins. Pods of whose users nothing is known then wait on,
// and their queues ask for less than they did under the leader before.
const primeWithin = 10 * time.Second

// buildAccess prepares the checks of who may submit, if the configuration asks for them. Reviews have a client of their own, whose rate bounds them. A
// process that does not lead sends none: a review is a request that creates something.
func (s *Scheduler) buildAccess(recheck time.Duration) error {
	if !*s.args.CheckAccess {
		return nil
	}
	config := fenced(s.Config.KubeConfig, s.leadership)
	config.QPS, config.Burst = access.RequestsPerSecond, access.Burst
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return err
	}
	s.feed.Access = true
	review := access.Reviews(client)
	counted := func(ctx context.Context, who coreaccess.Subject, what coreaccess.Grant) (bool, error) {
		allowed, err := review(ctx, who, what)
		s.metrics.Reviewed(allowed, err)
		return allowed, err
	}
	s.review = counted
	s.access = access.New(s.Ledger, counted, access.Options{Answered: s.Kick, Recheck: recheck})
	return nil
}

// primeAccess asks what has to be known of the pods that wait, before the ledger leads.
func (s *Scheduler) primeAccess(ctx context.Context) {
	if s.access == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, primeWithin)
	defer cancel()
	s.access.Prime(ctx)
}

// checkAccess answers what the ledger needs to know, until the context ends.
func (s *Scheduler) checkAccess(ctx context.Context) {
	if s.access != nil {
		go s.access.Run(ctx)
	}
}
