package app

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/controllers/placementqueues"
	"github.com/fairway-scheduler/fairway/pkg/controllers/placementstatus"
	"github.com/fairway-scheduler/fairway/pkg/controllers/podcondition"
	"github.com/fairway-scheduler/fairway/pkg/controllers/podgroupstatus"
	"github.com/fairway-scheduler/fairway/pkg/controllers/queuedeletion"
	"github.com/fairway-scheduler/fairway/pkg/controllers/queuestatus"
	"github.com/fairway-scheduler/fairway/pkg/controllers/reservations"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/metrics"
)

// write starts everything that writes to the cluster, except for binds, which are kube-scheduler's. Only the leader writes.
func (s *Scheduler) write(ctx context.Context) {
	recorder := s.Config.EventBroadcaster.NewRecorder(v1alpha1.SchedulerName)
	queues := s.Config.DynInformerFactory.ForResource(v1alpha1.QueueResource).Informer()
	go queuedeletion.New(s.Ledger, queues.GetStore(), s.dynamic, clock.RealClock{}).Run(ctx)
	go queuestatus.New(s.Ledger, s.feed.Generation, s.dynamic, queuestatus.Options{Queues: queues.GetStore(), Recorder: recorder}).Run(ctx)
	if groups, err := podgroupstatus.New(s.Ledger, s.Config.Client, s.dynamic, podgroupstatus.Options{Groups: s.podGroups.GetStore(), Ours: s.ours}); err != nil {
		klog.FromContext(ctx).Error(err, "The status of pod groups is not written")
	} else {
		go groups.Run(ctx)
	}
	go placementqueues.New(s.Ledger, queues.GetStore(), s.dynamic, clock.RealClock{}).Run(ctx)
	go placementstatus.New(s.dynamic, placementstatus.Options{Policies: s.placement.GetStore()}).Run(ctx)
	go s.follower.Run(ctx)
	s.preempt(ctx, recorder)
	s.inspectLedger(ctx, int(*s.args.LedgerChecksPerSecond))
	pods := s.Config.InformerFactory.Core().V1().Pods().Lister()
	go podcondition.New(s.Ledger, s.Config.Client, recorder, podcondition.Options{
		Pods: pods, WritesPerSecond: int(*s.args.PodConditionWritesPerSecond), ShowUnschedulable: *s.args.ShowUnschedulable,
		UnschedulableAfter: max(time.Duration(*s.args.UnschedulableAfterSeconds)*time.Second, 1), // the option treats 0 as its default
	}).Run(ctx)
}

// buildFollower prepares what follows reservations. It hears of Queues from the beginning, and writes once it runs.
func (s *Scheduler) buildFollower() error {
	queues := s.Config.DynInformerFactory.ForResource(v1alpha1.QueueResource).Informer()
	s.follower = reservations.New(s.Ledger, s.Config.Client, s.dynamic, reservations.Options{
		Queues: queues.GetStore(), Reservations: s.booked.GetStore(), Pods: s.Config.InformerFactory.Core().V1().Pods().Lister(),
		Recorder: s.Config.EventBroadcaster.NewRecorder(v1alpha1.SchedulerName), Review: s.review,
		Decided: s.metrics.Decided,
		Observe: func(phases map[string]int, now map[queue.Path]resource.List) {
			s.metrics.Followed(metrics.Reservations{Phases: phases, Now: now})
		},
	})
	registration, err := queues.AddEventHandler(s.follower.Queues())
	if err != nil {
		return fmt.Errorf("watching Queues for reservations: %w", err)
	}
	s.synced = append(s.synced, registration.HasSynced)
	return nil
}
