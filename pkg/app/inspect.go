package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const (
	// inspectionAction is the action field of an event about a violation.
	inspectionAction = "Checking"
	// reasonViolation is the reason of that event. It is on the Queue whose account is wrong, or on the root
	// for a node.
	reasonViolation = "LedgerViolation"
	// saidAtOnce is the most events and log lines of one look.
	saidAtOnce = 5
	// stepsKept is how many of the last steps of pods are searched; stepsSaid is how many of them are logged.
	stepsKept, stepsSaid = 1000, 20
)

// inspector checks the ledger while it is used, one part at a time: see ledger.Inspect. It counts and logs
// violations and reports them as events; the ledger itself stops preemption.
type inspector struct {
	inspect func(cost int) ledger.Inspection
	counted func(violations int, complete bool)
	event   func(queue, reason, note string)
	steps   func(from uint64) []ledger.Entry
	victims func() []ledger.Victim

	stopped bool // at the last look
}

// inspectLedger starts so many checks a second; with 0, none.
func (s *Scheduler) inspectLedger(ctx context.Context, perSecond int) {
	if perSecond <= 0 {
		return
	}
	i := &inspector{
		inspect: s.Ledger.Inspect, counted: s.metrics.Inspected, steps: s.Ledger.Journal, victims: s.Ledger.Victims,
		event: func(queue, reason, note string) {
			s.planner.event(queue, corev1.EventTypeWarning, reason, inspectionAction, note)
		},
	}
	go i.run(klog.NewContext(ctx, klog.FromContext(ctx).WithName("inspection")), time.Second/time.Duration(perSecond))
}

func (i *inspector) run(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			i.look(ctx)
		}
	}
}

// look checks the next part.
func (i *inspector) look(ctx context.Context) {
	is := i.inspect(ledger.LookCost)
	i.counted(len(is.Violations), is.Complete)
	logger := klog.FromContext(ctx)
	for n, v := range is.Violations {
		if n == saidAtOnce {
			logger.Error(nil, "The ledger is wrong in more than this", "more", len(is.Violations)-n)
			break
		}
		logger.Error(nil, "The ledger is wrong, and preemption is stopped", "queue", v.Queue, "violation", v.Text)
		on := v.Queue
		if on == "" {
			on = queue.Root
		}
		i.event(string(on), reasonViolation, reason.AccountsWrong(v.Text))
	}
	if is.Stopped && !i.stopped {
		i.circumstances(logger, is.Violations)
	}
	if i.stopped && !is.Stopped {
		logger.Info("A whole round of checks found nothing wrong, and preemption goes on")
	}
	i.stopped = is.Stopped
}

// circumstances logs what a report needs besides the violation: the last steps of pods in the queues
// concerned, and the victims that stay for now.
func (i *inspector) circumstances(logger klog.Logger, wrong []ledger.Violation) {
	var steps []string
	for _, e := range slices.Backward(i.steps(0)) {
		of := func(v ledger.Violation) bool { return v.Queue == "" || v.Queue.Contains(e.Queue) }
		if len(steps) < stepsSaid && slices.ContainsFunc(wrong, of) {
			steps = append(steps, fmt.Sprintf("%s %s %s", e.Name, e.State, e.Queue))
		}
	}
	var victims []string
	for _, v := range i.victims() {
		victims = append(victims, v.Namespace+"/"+v.Name)
	}
	logger.Info("Preemption is stopped", "lastSteps", steps, "victimsThatStay", victims)
}
