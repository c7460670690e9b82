package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// SignPod implements fwk.SignPlugin: we score no node, and a node that is proposed since a pod of the same signature got it passes Filter once
// more, so nothing of ours tells two pods apart once both are released.
func (p *Plugin) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return nil, nil }
