package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const nominatedKey fwk.StateKey = Name + "/nodesNominatedToOthers"

// nodesNominatedToOthers names the nodes whose free room belongs to other pods, which are nominated to them. Nodes held for a pod group are left out of
// the cycle before it begins: see Ledger.NodesOpenTo.
type nodesNominatedToOthers map[string]bool

// Clone implements fwk.StateData. The map is never written.
func (n nodesNominatedToOthers) Clone() fwk.StateData { return n }

// noteNominated stores in the cycle which nodes its pod may not use since others are nominated to them, and reports whether there are any.
func (p *Plugin) noteNominated(state fwk.CycleState, pod *v1.Pod) bool {
	nodes := p.ledger.NodesNominatedToOthers(ledger.UID(pod.UID))
	state.Write(nominatedKey, nodesNominatedToOthers(nodes))
	return len(nodes) > 0
}

// Filter implements fwk.FilterPlugin: room that preemption makes goes to the claim for which it is made,
// whatever the priority of other pods. The answer is UnschedulableAndUnresolvable because plans decide which
// pods are evicted on that node, so PostFilter must not evict there.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if data, err := state.Read(nominatedKey); err == nil && data.(nodesNominatedToOthers)[node.Node().Name] {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason.NodeNominated)
	}
	return nil
}
