package plugin

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Permit implements fwk.PermitPlugin: the last look at the limits before the pod is bound.
func (p *Plugin) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	return status(p.ledger.Recheck(ledger.UID(pod.UID))), 0
}
