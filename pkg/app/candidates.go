package app

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/plugin"
)

const (
	// candidates is on how many nodes a pod is filtered and scored first. kube-scheduler samples 5% to 50% of
	// the nodes of a large cluster, and few of those may have room; the ledger knows which do.
	candidates = 32
	// smallCluster is the size up to which kube-scheduler looks at every node, and so does Fairway.
	smallCluster = 100
)

type schedulePodFn = func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (scheduler.ScheduleResult, error)

// schedulePod tries a pod on a few nodes that have room for it and, if it fits none of them, on all nodes in
// the same cycle: a pod never waits although it fits some node because of what only filters know (ports,
// affinity between pods). Nodes held for another group are not among the few, except the one where the pod's room
// is taken. A pod for which room was found on nodes that it prefers is tried on those first.
func (s *Scheduler) schedulePod(upstream schedulePodFn) schedulePodFn {
	return func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		s.metrics.Attempted()
		uid := ledger.UID(info.Pod.UID)
		all := func() (scheduler.ScheduleResult, error) {
			plugin.Unrestrict(state)
			if open, some := s.Ledger.NodesOpenTo(uid); some {
				plugin.Restrict(state, sets.New(open...))
			}
			result, err := upstream(ctx, f, state, info)
			return result, withoutOurs(err, state)
		}
		nodes := s.Ledger.PreferredNodes(uid, candidates)
		switch {
		case len(nodes) > 0 && info.Pod.Status.NominatedNodeName == "":
		case !s.samples(f, info.Pod):
			return all()
		default:
			nodes = s.Ledger.Candidates(uid, candidates, smallCluster)
		}
		if len(nodes) == 0 {
			return all()
		}
		plugin.Restrict(state, sets.New(nodes...))
		result, err := upstream(ctx, f, state, info)
		if misfit := (*framework.FitError)(nil); errors.As(err, &misfit) {
			return all()
		}
		return result, err
	}
}

// withoutOurs removes our plugin from the diagnosis if other plugins refused the pod on other nodes: then the
// events that those plugins wait for wake the pod. If only our Filter refused it, the refusal stays ours: no
// event would wake the pod, and the ledger knows when the room of nominated pods is free again.
func withoutOurs(err error, state fwk.CycleState) error {
	var misfit *framework.FitError
	if errors.As(err, &misfit) && misfit.Diagnosis.UnschedulablePlugins.Len() > 1 && plugin.Restriction(state) == nil {
		misfit.Diagnosis.UnschedulablePlugins.Delete(plugin.Name)
	}
	return err
}

// samples reports whether a sample of nodes is as good for the pod as kube-scheduler's. It is not if an
// administrator configured how many nodes to score, if an extender takes part, or if the pod prefers some
// nodes: then the sample may miss a good node.
func (s *Scheduler) samples(f framework.Framework, pod *v1.Pod) bool {
	return unset(s.Config.ComponentConfig.PercentageOfNodesToScore) && unset(f.PercentageOfNodesToScore()) &&
		len(s.Scheduler.Extenders) == 0 && pod.Status.NominatedNodeName == "" &&
		pod.Spec.Affinity == nil && len(pod.Spec.TopologySpreadConstraints) == 0 && len(pod.Spec.ResourceClaims) == 0 && !hasClaims(pod)
}

func unset(percentage *int32) bool { return percentage == nil || *percentage == 0 }

// hasClaims reports whether the pod uses persistent volumes, which tie it to nodes.
func hasClaims(pod *v1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}
