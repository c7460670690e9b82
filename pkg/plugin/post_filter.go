package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// byPriority is upstream's preemption by priority, with its defaults, restricted to the victims in outranked.
//
// It evicts in the scheduling cycle itself. Upstream's asynchronous way blocks the pod by PreEnqueue meanwhile
// and relies on events to let it back in, but we treat a pod that PreEnqueue blocks as lost.
type byPriority struct {
	*defaultpreemption.DefaultPreemption
	outranked map[ledger.UID]bool // for the pod of the current cycle; cycles run one at a time
}

func newByPriority(ctx context.Context, h fwk.Handle) (*byPriority, error) {
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	features.EnableAsyncPreemption = false
	upstream, err := defaultpreemption.New(ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}, h, features)
	if err != nil {
		return nil, err
	}
	b := &byPriority{DefaultPreemption: upstream}
	upstream.IsEligiblePod = func(_ fwk.NodeInfo, victim fwk.PodInfo, _ *v1.Pod) bool {
		return b.outranked[ledger.UID(victim.GetPod().UID)]
	}
	return b, nil
}

// PostFilter implements fwk.PostFilterPlugin. Between queues, planning decides, in a goroutine of its own: a pod
// for which a plan makes room is answered with its nomination, and a pod of a starved queue requests a round.
// Inside its leaf queue, and only there, a pod may preempt pods of lower priority.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	uid := ledger.UID(pod.UID)
	switch node := p.ledger.Misfit(uid); {
	case node != "":
		return framework.NewPostFilterResultWithNominatedNode(node), nil
	case p.ledger.NominatedTo(uid) != "":
		return nominateNone, fwk.NewStatus(fwk.Unschedulable) // it did not fit where room was made for it
	}
	result, status := nominateNone, fwk.NewStatus(fwk.Unschedulable)
	if p.byPriority.outranked = p.ledger.Outranked(uid); len(p.byPriority.outranked) > 0 {
		result, status = p.byPriority.PostFilter(ctx, state, pod, nodes)
	}
	if result != nil && result.NominatingInfo != nil && result.Mode() == fwk.ModeOverride {
		p.ledger.MadeRoom(uid, result.NominatedNodeName)
	}
	return result, status
}

// nominateNone removes an earlier nomination, as upstream does when it preempts nothing.
var nominateNone = &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride}}
