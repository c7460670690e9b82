package plugin

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// hypothetical replaces the plugin when planning asks whether a pod would fit. The plan already accounts for
// limits and held room; their state in a real attempt now would be the wrong answer.
type hypothetical struct{ *Plugin }

// Hypothetical is the factory of this replacement.
func (p *Plugin) Hypothetical(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return hypothetical{p}, nil
}

// PreFilter never objects, and makes the framework skip Filter.
func (hypothetical) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}
