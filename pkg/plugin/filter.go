package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const closedKey fwk.StateKey = Name + "/closedNodes"

// closedNodes names the nodes whose free room belongs to other pods, which preemption has nominated there. Nodes held for a pod group are left out of
// the cycle before it begins: see Ledger.NodesOpenTo.
type closedNodes map[string]bool

// Clone implements fwk.StateData. The map is never written.
func (k closedNodes) Clone() fwk.StateData { return k }

// noteClosed stores in the cycle which nodes are closed to its pod, and reports whether there are any.
func (p *Plugin) noteClosed(state fwk.CycleState, pod *v1.Pod) bool {
	nodes := p.ledger.NodesNominatedToOthers(ledger.UID(pod.UID))
	state.Write(closedKey, closedNodes(nodes))
	return len(nodes) > 0
}

// Filter implements fwk.FilterPlugin: room that preemption makes goes to the claim for which it is made,
// whatever the priority of other pods. The answer is UnschedulableAndUnresolvable because plans decide which
// pods are evicted on that node, so PostFilter must not evict there.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if data, err := state.Read(closedKey); err == nil && data.(closedNodes)[node.Node().Name] {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason.NodeKept)
	}
	return nil
}
