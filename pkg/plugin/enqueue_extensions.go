package plugin

import (
	"context"

	fwk "k8s.io/kube-scheduler/framework"
)

// EventsToRegister implements fwk.EnqueueExtensions with no event at all: a pod that we refused is taken out of the scheduling queue
// and comes back as a new one, so kube-scheduler need not walk its queue for our sake.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return nil, nil
}
