package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Reserve implements fwk.ReservePlugin: it confirms the charge, or refuses.
func (p *Plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return status(p.ledger.Reserve(ledger.UID(pod.UID), node, p.now()))
}

// Unreserve implements fwk.ReservePlugin. It leaves the refund to the failure handler, which handles every
// failed attempt: it knows why the attempt failed, and a single place that refunds cannot refund twice.
func (p *Plugin) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}
