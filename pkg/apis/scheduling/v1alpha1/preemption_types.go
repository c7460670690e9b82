package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TimeoutNever is the timeout that switches off what a queue above switched on.
const TimeoutNever = "never"

// QueuePreemption says when the queue gets back what it is entitled to at the cost of pods that run in other queues. Nothing is preempted
// for a queue until it, or a queue above it, states a timeout.
type QueuePreemption struct {
	// The part of its fair share below which the queue counts as starved while it
	// asks for more: above 0, up to 1, in steps of 0.001, such as "0.5". Not
	// stated, it is that of the nearest queue above that states it, and 0.5 if
	// none does.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$')",message="must be a number above 0, up to 1, with at most three decimals, such as \"0.5\" or 500m"
	// +kubebuilder:validation:XValidation:rule="!string(self).matches('^(0{1,3}([.]0{1,3})?|[.]0{1,3})m?$')",message="a queue is never below 0 of its fair share; to switch preemption off for a queue, leave fairShareTimeout unset or set it to never"
	FairShareThreshold *resource.Quantity `json:"fairShareThreshold,omitempty"`

	// How long the queue must have been below fairShareThreshold without a break
	// before pods of other queues are preempted, so that it gets its whole fair
	// share: from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or
	// 1h30m. Or the word never, which switches off what a queue above switched on.
	// Not stated, it is that of the nearest queue above that states it; if none
	// does, nothing is preempted for a fair share.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == 'never' || self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, or the word never"
	FairShareTimeout string `json:"fairShareTimeout,omitempty"`

	// How long the queue must have had less than its guarantee, while it asks for
	// more, before pods of other queues are preempted for it. As fairShareTimeout
	// otherwise, and usually shorter.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == 'never' || self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, or the word never"
	GuaranteedTimeout string `json:"guaranteedTimeout,omitempty"`

	// Whether pods of the queue may be preempted for other queues; true if not
	// stated. With false none is, in the queue and in all queues below it. True
	// further down counts only where a queue states capacity: for that queue and
	// those below it. Elsewhere condition FieldsIgnored says so.
	//
	// +optional
	Preemptible *bool `json:"preemptible,omitempty"`

	// With true, preemption is planned and shown, and no pod is evicted. For the
	// queue root.
	//
	// +optional
	ObserveOnly *bool `json:"observeOnly,omitempty"`

	// The part of the cluster that must be in use, and exceeded, before anything
	// is preempted, counted in the resource that is used most: between 0 and 1 in
	// steps of 0.001; 0.8 if not stated. For the queue root.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$')",message="must be a number from 0 to 1 with at most three decimals, such as \"0.8\" or 800m"
	UtilizationThreshold *resource.Quantity `json:"utilizationThreshold,omitempty"`

	// The time between two rounds of preemption at least: from 1s to 1h; 3s if not
	// stated. For the queue root.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="must be a duration from 1s to 1h in hours, minutes and seconds, such as 3s or 1m30s"
	Interval string `json:"interval,omitempty"`

	// The time between the announcement that a pod will be preempted and its
	// eviction: from 0s to 1h; 15s if not stated. The pod's own grace period comes
	// on top. For the queue root.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) <= duration('1h')",message="must be a duration from 0s to 1h in hours, minutes and seconds, such as 15s or 1m30s"
	MaxWaitBeforeKill string `json:"maxWaitBeforeKill,omitempty"`

	// The most that one round preempts, as a part of the cluster: above 0, up to
	// 1, in steps of 0.001; 1 if not stated. naturalTerminationFactor applies to
	// it, too, and pods that are announced and still run count. For the queue
	// root.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$') && !string(self).matches('^(0{1,3}([.]0{1,3})?|[.]0{1,3})m?$')",message="must be a number above 0, up to 1, with at most three decimals, such as \"0.1\" or 100m"
	TotalPerRound *resource.Quantity `json:"totalPerRound,omitempty"`

	// How far above its fair share a leaf queue is left alone, as a part of that
	// share: between 0 and 1 in steps of 0.001; 0 if not stated. A leaf that is
	// further above goes down to its ideal. For the queue root.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$')",message="must be a number from 0 to 1 with at most three decimals, such as \"0.1\" or 100m"
	MaxIgnoredOverCapacity *resource.Quantity `json:"maxIgnoredOverCapacity,omitempty"`

	// The part of what is owed that one round preempts, so that pods which end by
	// themselves can make up for the rest: above 0, up to 1, in steps of 0.001; 1
	// if not stated. The next part follows when the pods of the last are gone. For
	// the queue root.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$') && !string(self).matches('^(0{1,3}([.]0{1,3})?|[.]0{1,3})m?$')",message="must be a number above 0, up to 1, with at most three decimals, such as \"0.2\" or 200m"
	NaturalTerminationFactor *resource.Quantity `json:"naturalTerminationFactor,omitempty"`
}

// QueuePreemptionStatus is what comes of a queue's starvation.
type QueuePreemptionStatus struct {
	// When pods of other queues are preempted for the fair share, if the queue is
	// below until then. Nothing while no fairShareTimeout is in force.
	//
	// +optional
	FairShareDue *metav1.Time `json:"fairShareDue,omitempty"`

	// The same for the guarantee.
	//
	// +optional
	GuaranteedDue *metav1.Time `json:"guaranteedDue,omitempty"`

	// Whether a claim is open: the timeout has passed, and pods of other queues
	// are preempted until the queue has what it is owed or asks for no more.
	//
	// +optional
	ClaimOpen bool `json:"claimOpen,omitempty"`

	// What the claim still lacks.
	//
	// +optional
	Owed corev1.ResourceList `json:"owed,omitempty"`
}
