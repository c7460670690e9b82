package plugin

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Permit implements fwk.PermitPlugin: the last check of the limits and the gate before the pod is bound. The
// pods of a group wait here until all of them have nodes.
func (p *Plugin) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	permission, why, ok := p.ledger.Permit(ledger.UID(pod.UID), p.now())
	if ok && permission.Wait > 0 {
		return fwk.NewStatus(fwk.Wait, reason.GroupGathers), time.Duration(permission.Wait)
	}
	for _, uid := range permission.Allow {
		p.Allow(uid)
	}
	return status(why, ok), 0
}

// Allow has a pod be bound that waits for its group. It does nothing if the pod does not wait.
func (p *Plugin) Allow(uid ledger.UID) {
	if waiting := p.waiting(uid); waiting != nil {
		waiting.Allow(Name)
	}
}

// Reject ends the attempt of a pod that waits for its group. It does nothing if the pod does not wait.
func (p *Plugin) Reject(uid ledger.UID) {
	if waiting := p.waiting(uid); waiting != nil {
		waiting.Reject(Name, reason.GroupFailed)
	}
}

// waiting finds a pod that waits at Permit. All profiles share the waiting pods, so any handle works.
func (p *Plugin) waiting(uid ledger.UID) fwk.WaitingPod {
	if p.handle == nil {
		return nil
	}
	return p.handle.GetWaitingPod(types.UID(uid))
}
