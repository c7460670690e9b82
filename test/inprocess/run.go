// Package inprocess runs the scheduler in the process of a test, which then sees its ledger.
//
// It must not decide what the test demands of the scheduler.
package inprocess

import (
	"context"

	"github.com/fairway-scheduler/fairway/pkg/app"
)

// Run starts the informers and the scheduler and blocks until ctx ends: what the command does, without servers and leader election.
func Run(ctx context.Context, s *app.Scheduler) {
	s.Config.EventBroadcaster.StartRecordingToSink(ctx.Done())
	defer s.Config.EventBroadcaster.Shutdown()
	s.Config.InformerFactory.Start(ctx.Done())
	s.Config.DynInformerFactory.Start(ctx.Done())
	s.Config.InformerFactory.WaitForCacheSync(ctx.Done())
	s.Config.DynInformerFactory.WaitForCacheSync(ctx.Done())
	if s.Scheduler.WaitForHandlersSync(ctx) == nil {
		s.Scheduler.Run(ctx)
	}
}
