package app

import (
	"slices"
	"sync/atomic"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// waitingPods is how many pods wait, by what they wait for.
var waitingPods = metrics.NewDesc("fairway_waiting_pods",
	"Pods of this scheduler that are neither released to kube-scheduler nor parked there, by what they wait for.",
	[]string{"reason"}, nil, metrics.ALPHA, "")

// collector counts when it is asked to, so that counting costs nothing in between. The registry belongs to the process and takes a
// collector once, while tests run several schedulers in one process: the one that was set up last is counted.
type collector struct {
	metrics.BaseStableCollector
	ledger atomic.Pointer[ledger.Ledger]
}

var theCollector = func() *collector {
	c := &collector{}
	legacyregistry.CustomMustRegister(c)
	return c
}()

// DescribeWithStability implements metrics.StableCollector.
func (c *collector) DescribeWithStability(ch chan<- *metrics.Desc) { ch <- waitingPods }

// CollectWithStability implements metrics.StableCollector.
func (c *collector) CollectWithStability(ch chan<- metrics.Metric) {
	l := c.ledger.Load()
	if l == nil {
		return
	}
	waiting := l.WaitingPods()
	for _, code := range reason.Codes() {
		if n, some := waiting[code]; some || slices.Contains(alwaysShown, code) {
			ch <- metrics.NewLazyConstMetric(waitingPods, metrics.GaugeValue, float64(n), string(code))
		}
	}
}

// alwaysShown are the reasons of limits and of the turn: a dashboard must be able to tell none from unknown.
var alwaysShown = []reason.Code{
	reason.MaxResources, reason.MaxPodResources, reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.MaxDriverShare,
	reason.WaitingTurn,
}
