package app

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/optional"
)

// podGroupGates enable upstream's own scheduling of pod groups. Every other gate about groups depends on one
// of them.
var podGroupGates = []featuregate.Feature{features.GangScheduling, features.GenericWorkload}

// checkGates refuses gates that would make kube-scheduler schedule the pods of a group without regard to the
// queues: with GenericWorkload, the first attempt of a pod takes the rest of its group out of the queue and
// schedules all in one cycle, without SchedulePod and without any account; GangScheduling blocks them in a
// Permit of its own.
func checkGates(gates featuregate.FeatureGate) error {
	var on, off []string
	for _, gate := range podGroupGates {
		if gates.Enabled(gate) {
			on, off = append(on, string(gate)), append(off, string(gate)+"=false")
		}
	}
	if on == nil {
		return nil
	}
	return fmt.Errorf("feature gates %s: with them kube-scheduler schedules pod groups in its own way, around the queues, and "+
		"fairway-scheduler starts them together by itself: start it with --feature-gates=%s (in kube-apiserver they may be on)",
		strings.Join(on, ", "), strings.Join(off, ","))
}

// watchOptional feeds pod groups of both kinds to the ledger, and watches the PlacementPolicy and Reservations, as
// soon as the cluster serves them. None of the kinds must exist.
func (s *Scheduler) watchOptional() error {
	s.feed.Unreadable = func(err error) { klog.Background().Error(err, "A pod group is not taken in") }
	var all []*optional.Informer
	for _, kind := range []schema.GroupVersionResource{convert.PodGroups, convert.InTreePodGroups} {
		groups, err := optional.New(s.dynamic, kind, s.feed.PodGroups(), nil)
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.GroupResource(), err)
		}
		s.synced = append(s.synced, groups.HasSynced)
		all = append(all, groups)
	}
	s.podGroups = all[0]
	var err error
	if s.placement, err = optional.New(s.dynamic, v1alpha1.PlacementPolicyResource, s.feed.PlacementPolicies(), nil); err != nil {
		return fmt.Errorf("watching %s: %w", v1alpha1.PlacementPolicyResource.GroupResource(), err)
	}
	if s.booked, err = optional.New(s.dynamic, v1alpha1.ReservationResource, s.feed.Reservations(), nil); err != nil {
		return fmt.Errorf("watching %s: %w", v1alpha1.ReservationResource.GroupResource(), err)
	}
	s.synced = append(s.synced, s.placement.HasSynced, s.booked.HasSynced)
	all = append(all, s.placement, s.booked)
	s.Config.DynInformerFactory = &alsoStarts{DynamicSharedInformerFactory: s.Config.DynInformerFactory, start: func(stop <-chan struct{}) {
		for _, kind := range all {
			go kind.Run(wait.ContextForChannel(stop))
		}
	}}
	return nil
}

// alsoStarts is a factory that starts something besides its informers. Waiting for the informers does not wait
// for it.
type alsoStarts struct {
	dynamicinformer.DynamicSharedInformerFactory
	start func(stop <-chan struct{})
	once  sync.Once // a factory may be started again, for informers that were added
}

func (f *alsoStarts) Start(stop <-chan struct{}) {
	f.DynamicSharedInformerFactory.Start(stop)
	f.once.Do(func() { f.start(stop) })
}
