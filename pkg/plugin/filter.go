package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const keptKey fwk.StateKey = Name + "/kept"

// kept names the nodes whose free room is kept for others than the pod of the cycle.
type kept map[string]bool

// Clone implements fwk.StateData. The map is never written.
func (k kept) Clone() fwk.StateData { return k }

// keep notes for the cycle which nodes are kept from its pod; false: none is.
func (p *Plugin) keep(state fwk.CycleState, pod *v1.Pod) bool {
	nodes := p.ledger.KeptFrom(ledger.UID(pod.UID))
	state.Write(keptKey, kept(nodes))
	return len(nodes) > 0
}

// Filter implements fwk.FilterPlugin: room that preemption makes goes to the claim that it is made for, whatever the priority of others.
// UnschedulableAndUnresolvable: whose pods go next on such a node, planning decides, and no pod for itself.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if data, err := state.Read(keptKey); err == nil && data.(kept)[node.Node().Name] {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) had room that is kept for pods of a queue to which it is owed")
	}
	return nil
}
