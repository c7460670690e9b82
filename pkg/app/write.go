package app

import "context"

// write starts the writers of what users see: one process writes, the leader's.
func (s *Scheduler) write(ctx context.Context) {
	_ = ctx
}
