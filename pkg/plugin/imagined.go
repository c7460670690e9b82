package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// imagined stands in for the plugin where planning asks whether a pod would fit: limits and kept room are in the plan already, and what
// they say of a real attempt now is no answer.
type imagined struct{ *Plugin }

// Imagine is the factory of that stand-in.
func (p *Plugin) Imagine(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return imagined{p}, nil
}

// PreFilter has no objection, and has Filter skipped.
func (imagined) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}
