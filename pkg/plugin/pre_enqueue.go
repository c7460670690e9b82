package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// PreEnqueue implements fwk.PreEnqueuePlugin. It is only a guard: a pod that was not released stays out. A
// call for a parked pod also tells us that an event may have made room for the pod's class.
func (p *Plugin) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	admitted, woken := p.ledger.Admitted(ledger.UID(pod.UID))
	if woken {
		p.kick()
	}
	if admitted {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason.NotReleased)
}
