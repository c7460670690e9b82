package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// SignPod implements fwk.SignPlugin. It adds nothing to the signature: we score no nodes, and a node
// proposed because a pod with the same signature got it passes Filter again, so our plugin does not
// distinguish two released pods.
func (p *Plugin) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) { return nil, nil }
