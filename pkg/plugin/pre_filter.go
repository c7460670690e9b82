package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// PreFilter implements fwk.PreFilterPlugin: limits and queues may have changed since the release. It also
// returns the nodes to which the cycle is restricted, and stores which nodes are closed because other pods are
// nominated there. Skip: Filter has nothing to check, which is the usual case.
func (p *Plugin) PreFilter(_ context.Context, state fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if refusal := status(p.ledger.Recheck(ledger.UID(pod.UID))); refusal != nil {
		return nil, refusal
	}
	restriction := Restriction(state)
	if !p.noteNominated(state, pod) && restriction == nil {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	return restriction, nil
}

// PreFilterExtensions implements fwk.PreFilterPlugin.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// status translates a verdict. UnschedulableAndUnresolvable: neither another node nor preemption helps against
// a rule of ours.
func status(why reason.Reason, ok bool) *fwk.Status {
	if ok {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, why.Text())
}
