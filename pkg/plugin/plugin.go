// Package plugin is Fairway's plugin for kube-scheduler, one file per extension point. Each method converts,
// asks the ledger, and translates the answer; no rule is decided here.
//
// Input is calls of the scheduling framework. Output is statuses. A refusal of ours never reaches the pod: the
// failure handler (package app) recognises it by the plugin's name and returns the pod to Waiting.
package plugin

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Name is the plugin's name in a KubeSchedulerConfiguration.
const Name = "Fairway"

// Plugin implements QueueSort, PreEnqueue, PreFilter, Filter, PostFilter, Reserve and Permit.
type Plugin struct {
	ledger *ledger.Ledger
	now    func() int64
	// kick requests a round of the dispatcher. It must not block: PreEnqueue calls it while the scheduling
	// queue's lock is held.
	kick func()
	// handle is the handle of the first profile.
	handle fwk.Handle
	// byPriority belongs to the instance of one profile: it asks the filters of that profile.
	byPriority *byPriority
}

var (
	_ fwk.QueueSortPlugin   = &Plugin{}
	_ fwk.PreEnqueuePlugin  = &Plugin{}
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.PermitPlugin      = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
)

// New returns the plugin from which the instances of all profiles are made: they share the ledger as they
// share the cluster.
func New(l *ledger.Ledger, now func() int64, kick func()) *Plugin {
	return &Plugin{ledger: l, now: now, kick: kick}
}

// Build is the plugin's factory for a registry.
func (p *Plugin) Build(ctx context.Context, _ runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	if p.handle == nil {
		p.handle = h
	}
	b, err := newByPriority(ctx, h)
	if err != nil {
		return nil, err
	}
	of := *p
	of.byPriority = b
	return &of, nil
}

// Name implements fwk.Plugin.
func (p *Plugin) Name() string { return Name }
