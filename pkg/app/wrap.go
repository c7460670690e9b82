package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

// The sweeper looks for pods that were released longer ago than this and neither reserved nor refunded. An
// attempt takes milliseconds; the pods before it in the window, at worst a few seconds.
const (
	sweepEvery = 5 * time.Second
	sweepAfter = 10 * time.Second
)

// wrap replaces three exported fields of the scheduler. Every failed attempt passes FailureHandler (PostFilter
// does not see errors, missing nodes, or refusals of Reserve or Permit). Only a leader calls NextPod.
func (s *Scheduler) wrap() {
	s.Scheduler.FailureHandler = s.failureHandler(s.Scheduler.FailureHandler)
	s.Scheduler.NextPod = s.nextPod(s.Scheduler.NextPod)
	s.Scheduler.SchedulePod = s.schedulePod(s.Scheduler.SchedulePod)
}

type nextPodFn = func(klog.Logger) (*framework.QueuedPodInfo, error)

// nextPod fills the window before each pod, so that the latest changes count at once. Its first call means
// that this process leads: before that, nothing of ours writes or releases.
func (s *Scheduler) nextPod(upstream nextPodFn) nextPodFn {
	var lead sync.Once
	return func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		lead.Do(func() { s.lead(logger) })
		s.round(now())
		return upstream(logger)
	}
}

// failureHandler refunds the charge of a failed attempt and tells the dispatcher how the attempt ended.
func (s *Scheduler) failureHandler(upstream scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
	return func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, st *fwk.Status, n *fwk.NominatingInfo, start time.Time) {
		uid := ledger.UID(info.Pod.UID)
		failure := judge(st)
		if failure == ledger.Refused {
			s.Scheduler.SchedulingQueue.Done(info.Pod.UID)
			s.dispatcher.Failed(uid, failure, now(), nil)
		} else {
			s.dispatcher.Failed(uid, failure, now(), func() {
				s.planner.Kick() // it may have requested a round, which need not wait for what upstream writes
				upstream(ctx, f, info, st, n, start)
			})
		}
		s.Kick()
	}
}

// judge distinguishes a refusal of ours, no room, and an error. If only an extender refused the pod, or there
// are no nodes, the status names no plugin: no event would wake the pod, so it counts as an error and is tried
// again after a time.
func judge(st *fwk.Status) ledger.Failure {
	var fit *framework.FitError
	switch {
	case st.Plugin() == plugin.Name:
		return ledger.Refused
	case !st.IsRejected() || !errors.As(st.AsError(), &fit):
		return ledger.Errored
	case fit.Diagnosis.UnschedulablePlugins.Has(plugin.Name):
		return ledger.Refused
	case fit.Diagnosis.UnschedulablePlugins.Len()+fit.Diagnosis.PendingPlugins.Len() == 0:
		return ledger.Errored
	}
	return ledger.NoFit
}

// lead starts what only a leader runs, after pods, nodes and Queues are all in the ledger. It runs until the
// scheduler stops: upstream ends the process when leadership is lost.
func (s *Scheduler) lead(logger klog.Logger) {
	stop := s.Scheduler.StopEverything
	if !cache.WaitForCacheSync(stop, s.synced...) {
		return
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	go func() {
		<-stop
		cancel()
	}()
	s.primeAccess(ctx)
	s.Ledger.Lead(now())
	s.metrics.Lead()
	logger.Info("Fairway leads: releasing pods", "profiles", len(s.Scheduler.Profiles))
	s.checkAccess(ctx)
	s.Ledger.LookAtStarvation(now()) // before any release and any status write: it takes over the clocks that statuses kept
	go s.dispatch(ctx)
	s.write(ctx)
}

func (s *Scheduler) round(at int64) (next int64) {
	s.metrics.Round()
	return s.dispatcher.Round(at)
}

// dispatch runs a round when something changed or a back-off ends, and the sweeper.
func (s *Scheduler) dispatch(ctx context.Context) {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			at := now()
			if lost := s.dispatcher.Sweep(at-int64(sweepAfter), at); lost > 0 {
				klog.FromContext(ctx).Info("Released pods were lost in the scheduling queue and put right", "pods", lost, "total", s.Ledger.Repairs())
			}
		case <-s.kick:
		case <-retry.C:
		}
		at := now()
		if next := s.round(at); next != 0 {
			retry.Reset(time.Duration(next - at))
		}
	}
}
