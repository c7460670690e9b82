package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// PreFilter implements fwk.PreFilterPlugin: limits and queues may have changed since the release. It also passes on what the cycle is
// restricted to.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return Restriction(state), status(p.ledger.Recheck(ledger.UID(pod.UID)))
}

// PreFilterExtensions implements fwk.PreFilterPlugin.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// status translates a verdict. UnschedulableAndUnresolvable: no node, and no preemption, helps against a rule of ours.
func status(why reason.Reason, ok bool) *fwk.Status {
	if ok {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, why.Text())
}
