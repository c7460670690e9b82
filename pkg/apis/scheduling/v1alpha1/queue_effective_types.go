package v1alpha1

import corev1 "k8s.io/api/core/v1"

// FromDefault is where an effective value comes from that no queue states.
const FromDefault = "default"

// MaxEffectiveAmounts bounds the list of amounts in a status, as the schema has it.
const MaxEffectiveAmounts = 50

// QueueEffective is what is in force of the settings that a queue may take from a queue above it or from a default. Each says where it comes
// from.
type QueueEffective struct {
	// The policy. It differs from spec.policy while that is not allowed where the
	// queue stands; then it is the last good one.
	//
	// +optional
	Policy *EffectiveText `json:"policy,omitempty"`

	// The resource that policy Fair divides. Nothing with other policies.
	//
	// +optional
	FairResource *EffectiveText `json:"fairResource,omitempty"`

	// The part of its fair share that drivers may use. Only of queues without
	// children.
	//
	// +optional
	MaxDriverShare *EffectiveText `json:"maxDriverShare,omitempty"`

	// The largest single pod that the queue takes, for each resource that is
	// limited.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	MaxPodResources []EffectiveAmount `json:"maxPodResources,omitempty"`

	// The part of its fair share below which the queue counts as starved.
	//
	// +optional
	FairShareThreshold *EffectiveText `json:"fairShareThreshold,omitempty"`

	// How long it is below before pods are preempted for it; never if no queue
	// states that.
	//
	// +optional
	FairShareTimeout *EffectiveText `json:"fairShareTimeout,omitempty"`

	// The same for its guarantee.
	//
	// +optional
	GuaranteedTimeout *EffectiveText `json:"guaranteedTimeout,omitempty"`

	// Whether its pods may be preempted for other queues.
	//
	// +optional
	Preemptible *EffectiveFlag `json:"preemptible,omitempty"`
}

// EffectiveText is a value in force, spelled as in a spec.
type EffectiveText struct {
	Value string `json:"value"`

	// The queue that states it, or the word default.
	From string `json:"from"`
}

// EffectiveFlag is true or false in force.
type EffectiveFlag struct {
	Value bool `json:"value"`

	// The queue that states it, or the word default.
	From string `json:"from"`
}

// EffectiveAmount is an amount of one resource in force.
type EffectiveAmount struct {
	Resource string `json:"resource"`
	Value    string `json:"value"`

	// The queue that states it.
	From string `json:"from"`
}

// QueueLimits is what is used of the limits of a queue other than max. What is not limited is not there.
type QueueLimits struct {
	// Applications that run, of maxRunningApplications.
	//
	// +optional
	RunningApplications *CountLimit `json:"runningApplications,omitempty"`

	// Applications that run or wait, of maxApplications: of the number stated, or
	// of the queue's part of that of root.
	//
	// +optional
	Applications *CountLimit `json:"applications,omitempty"`

	// What the drivers hold, of the part of the fair share that maxDriverShare
	// leaves them; while the queue has no work, of the steady fair share.
	//
	// +optional
	Drivers *AmountsLimit `json:"drivers,omitempty"`
}

// CountLimit is how many there are, and how many there may be.
type CountLimit struct {
	Used  int32 `json:"used"`
	Limit int32 `json:"limit"`
}

// AmountsLimit is what is used, and what may be.
type AmountsLimit struct {
	// +optional
	Used corev1.ResourceList `json:"used,omitempty"`

	// +optional
	Limit corev1.ResourceList `json:"limit,omitempty"`
}
