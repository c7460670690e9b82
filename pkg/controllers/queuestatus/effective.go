package queuestatus

import (
	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// effective is what is in force of a queue in the tree, and where it comes from.
func effective(q ledger.QueueState) *v1alpha1.QueueEffective {
	if !q.InTree {
		return nil
	}
	is := report.EffectiveOf(q)
	e := &v1alpha1.QueueEffective{
		Policy: text(is.Policy), FairResource: text(is.FairResource), MaxDriverShare: text(is.MaxDriverShare),
		FairShareThreshold: text(is.FairShareThreshold), FairShareTimeout: text(is.FairShareTimeout), GuaranteedTimeout: text(is.GuaranteedTimeout),
		Preemptible: &v1alpha1.EffectiveFlag{Value: is.Preemptible.Value == "true", From: is.Preemptible.From},
	}
	for _, a := range is.MaxPodResources[:min(len(is.MaxPodResources), v1alpha1.MaxEffectiveAmounts)] {
		e.MaxPodResources = append(e.MaxPodResources, v1alpha1.EffectiveAmount{
			Resource: string(a.Resource), Value: resource.Format(a.Resource, a.Value), From: a.From,
		})
	}
	return e
}

func text(s report.Sourced) *v1alpha1.EffectiveText {
	if s.From == "" {
		return nil
	}
	return &v1alpha1.EffectiveText{Value: s.Value, From: s.From}
}

// limits are those that limit something. What is used of them changes with the counts and amounts that the status shows
// anyway, so they cause no writes of their own; but for an application that waits for an entry and a slot both, and gets the
// entry first.
func limits(q ledger.QueueState) *v1alpha1.QueueLimits {
	var l v1alpha1.QueueLimits
	if most := q.Spec.MaxRunningApplications; q.InTree && most.Stated {
		l.RunningApplications = &v1alpha1.CountLimit{Used: count(q.ApplicationsAdmitted), Limit: count(int(most.Most))}
	}
	if most := q.ApplicationLimit; most.Stated {
		l.Applications = &v1alpha1.CountLimit{Used: count(q.ApplicationsTaken), Limit: count(int(most.Most))}
	}
	if q.DriverLimit.Len() > 0 && q.Path != queue.Root {
		l.Drivers = &v1alpha1.AmountsLimit{Used: convert.ResourceList(q.DriversAllocated), Limit: convert.ResourceList(q.DriverLimit)}
	}
	if l == (v1alpha1.QueueLimits{}) {
		return nil
	}
	return &l
}

// sameLimits reports whether two states give the same limits, and the same use of them.
func sameLimits(a, b ledger.QueueState) bool {
	return a.Leaf == b.Leaf && a.ApplicationLimit == b.ApplicationLimit && a.ApplicationsTaken == b.ApplicationsTaken &&
		a.ApplicationsAdmitted == b.ApplicationsAdmitted && a.DriverLimit.Equal(b.DriverLimit) && a.DriversAllocated.Equal(b.DriversAllocated)
}
