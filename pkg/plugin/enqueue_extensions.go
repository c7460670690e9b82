package plugin

import (
	"context"

	fwk "k8s.io/kube-scheduler/framework"
)

// EventsToRegister implements fwk.EnqueueExtensions. It registers no event: a pod that we refused leaves the
// scheduling queue and comes back as a new one, so kube-scheduler need not walk its queue for us.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return nil, nil
}
