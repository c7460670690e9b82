package feed

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Rebuild makes a ledger from a set of objects, as informers fill that of a scheduler that begins to lead. Other than
// there, the nodes are held that the statuses of Queues name. schedulers are the schedulerNames that are ours. The order of the objects makes no difference. A pod or Queue without a creation
// time is created now.
func Rebuild(s *objects.Set, schedulers []string, now time.Time, o ledger.Options) *ledger.Ledger {
	f := &Feed{
		Ledger: ledger.New(o), Ours: func(name string) bool { return slices.Contains(schedulers, name) },
		Gate: gateOf, Now: now.UnixNano, Kick: func() {}, Classes: &Classes{Single: o.Extenders},
	}
	at := metav1.NewTime(now)
	for _, q := range s.Queues {
		f.observeQueue(queueAt(q, at))
	}
	if s.PlacementPolicy != nil {
		f.observePlacementPolicy(s.PlacementPolicy)
	}
	for _, g := range s.PodGroups {
		_ = observePodGroup(f.Ledger, g) // its pods say what that means for them
	}
	classes := f.DeviceClasses()
	for _, c := range s.DeviceClasses {
		classes.OnAdd(c, true)
	}
	for _, r := range s.Reservations {
		f.observeReservation(r)
	}
	nodes := f.Nodes()
	for _, n := range s.Nodes {
		nodes.OnAdd(n, true)
	}
	owners := f.Owners()
	for _, o := range s.Owners {
		owners.OnAdd(o, true)
	}
	// Which labels make a class must be known before the first pod gets a class; the scheduler observes its pods again
	// instead when it learns of more labels.
	for _, p := range s.Pods {
		if !ended(p) {
			f.Classes.see(p)
			if f.Ours(p.Spec.SchedulerName) {
				_, role := convert.ApplicationOf(p)
				f.creators.see(p, role)
			}
		}
	}
	f.asked = f.askedIn(s)
	for _, p := range s.Pods {
		if q, says := f.forbidden(p); says {
			f.Ledger.ObserveAccess(q, access.No, now.UnixNano())
		}
	}
	for _, p := range s.Pods {
		f.ObservePod(podAt(p, at))
	}
	f.Ledger.Lead(now.UnixNano())
	f.Ledger.RestoreHolds(now.UnixNano())
	return f.Ledger
}

// queueAt and podAt fill in the creation time of objects that people wrote. They change a copy, because the objects of a
// set are shared.

func queueAt(q *unstructured.Unstructured, at metav1.Time) *unstructured.Unstructured {
	if said, _, err := unstructured.NestedFieldNoCopy(q.Object, "metadata", "creationTimestamp"); said != nil || err != nil {
		return q
	}
	q = q.DeepCopy()
	q.SetCreationTimestamp(at)
	return q
}

func podAt(p *v1.Pod, at metav1.Time) *v1.Pod {
	if !p.CreationTimestamp.IsZero() {
		return p
	}
	c := *p
	c.CreationTimestamp = at
	return &c
}

// gateOf returns the PreEnqueue plugin that would block the pod, as far as the pod shows it. Only the scheduler knows
// whether a claim that the pod names exists, and what plugins of other parties do.
func gateOf(p *v1.Pod) string {
	if len(p.Spec.SchedulingGates) > 0 {
		return "SchedulingGates"
	}
	for i := range p.Spec.ResourceClaims {
		c := &p.Spec.ResourceClaims[i]
		made := func(s v1.PodResourceClaimStatus) bool { return s.Name == c.Name }
		if c.ResourceClaimName == nil && !slices.ContainsFunc(p.Status.ResourceClaimStatuses, made) {
			return "DynamicResources"
		}
	}
	return ""
}
