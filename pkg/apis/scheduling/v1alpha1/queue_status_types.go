package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// QueueStatus is written only by the scheduler that leads. Amounts count the queue and everything below it.
type QueueStatus struct {
	// The generation of the spec that this status answers to.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Whether the queue is in force (Ready), and what deserves a look
	// (FieldsIgnored, Overcommitted, OverLimit, Starved).
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Running: the queue takes new applications. Draining: it is stopped, by
	// itself or by a queue above it, and applications go on in it or below it.
	// Stopped: none does any more.
	//
	// +optional
	State QueueState `json:"state,omitempty"`

	// Since when the queue has taken no new applications. Nothing while it takes
	// them.
	//
	// +optional
	StoppedSince *metav1.Time `json:"stoppedSince,omitempty"`

	// Of root: the queues that state Stopped below none that does, in path order.
	// By it, the API server refuses new applications of these queues and of those
	// below them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	StoppedQueues []string `json:"stoppedQueues,omitempty"`

	// The policy in force. It differs from spec.policy while that is not allowed
	// where the queue stands.
	//
	// +optional
	Policy QueuePolicy `json:"policy,omitempty"`

	// Of root: the resourceCalculator in force, in all queues.
	//
	// +optional
	ResourceCalculator ResourceCalculator `json:"resourceCalculator,omitempty"`

	// The capacity in force, of a queue that shares with its siblings by capacity.
	// It differs from spec.capacity while the siblings contradict each other.
	//
	// +optional
	Capacity string `json:"capacity,omitempty"`

	// The maxCapacity in force, likewise; "100%" if none is stated.
	//
	// +optional
	MaxCapacity string `json:"maxCapacity,omitempty"`

	// The capacity as a part of the cluster, such as "6.25%".
	//
	// +optional
	AbsoluteCapacity string `json:"absoluteCapacity,omitempty"`

	// What the queue may use at most by maxCapacity, its own and those of the
	// queues above it, as a part of the cluster.
	//
	// +optional
	AbsoluteMaxCapacity string `json:"absoluteMaxCapacity,omitempty"`

	// What is in force of the settings that come from a queue above or from a
	// default, if the queue does not state them, and where each comes from.
	// Nothing while the queue is not in force.
	//
	// +optional
	Effective *QueueEffective `json:"effective,omitempty"`

	// What is used of limits on applications and drivers.
	//
	// +optional
	Limits *QueueLimits `json:"limits,omitempty"`

	// What the queue would get if every queue asked for its share.
	//
	// +optional
	SteadyFairShare corev1.ResourceList `json:"steadyFairShare,omitempty"`

	// What the queue should have now, with the cluster shared among the queues
	// that have applications.
	//
	// +optional
	FairShare corev1.ResourceList `json:"fairShare,omitempty"`

	// The guarantee in force.
	//
	// +optional
	Guaranteed corev1.ResourceList `json:"guaranteed,omitempty"`

	// The limit in force: spec.max, raised to the guarantee where that is more.
	//
	// +optional
	Max corev1.ResourceList `json:"max,omitempty"`

	// What the pods of the queue hold.
	//
	// +optional
	Allocated corev1.ResourceList `json:"allocated,omitempty"`

	// What the queue could use at once: allocated, plus the waiting pods that
	// nothing but room holds back, within the limits.
	//
	// +optional
	Demand corev1.ResourceList `json:"demand,omitempty"`

	// Applications in the queue.
	//
	// +optional
	Applications ApplicationCounts `json:"applications"`

	// Pods in the queue.
	//
	// +optional
	Pods PodCounts `json:"pods"`

	// Of a queue with policy StateAware: what is starting, and what the scheduler
	// has to know about earlier starts when it starts again itself.
	//
	// +optional
	Starts *QueueStarts `json:"starts,omitempty"`

	// Since when the queue has had less than fairShareThreshold of its fair share,
	// although it asks for more. Nothing while it has not.
	//
	// +optional
	BelowFairShareSince *metav1.Time `json:"belowFairShareSince,omitempty"`

	// Since when the queue has had less than its guarantee, although it asks for
	// more. Nothing while it has not.
	//
	// +optional
	BelowGuaranteedSince *metav1.Time `json:"belowGuaranteedSince,omitempty"`

	// Of a queue that is below, and has a timeout in force: when pods of other
	// queues are preempted for it, and what it is owed.
	//
	// +optional
	Preemption *QueuePreemptionStatus `json:"preemption,omitempty"`

	// Nodes that are held for pods of the queue, and for no others.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Holds []NodeHold `json:"holds,omitempty"`

	// The amounts above in a form short enough for the columns of kubectl. For
	// people only: rounded, and cut to cpu, memory and devices.
	//
	// +optional
	Summary QueueSummary `json:"summary,omitzero"`
}

// ApplicationCounts counts applications. Zeros are written out, so that a column shows 0 rather than nothing.
type ApplicationCounts struct {
	// Applications of which no pod holds anything: they are Accepted.
	//
	// +optional
	Pending int32 `json:"pending"`

	// Applications that are Starting: in queues with policy StateAware, and those
	// whose driver waits while other pods run.
	//
	// +optional
	Starting int32 `json:"starting"`

	// Applications of which pods hold something and that are not starting: they
	// are Running or Completing.
	//
	// +optional
	Running int32 `json:"running"`
}

// PodCounts counts pods. Zeros are written out, so that a column shows 0 rather than nothing.
type PodCounts struct {
	// Pods that wait.
	//
	// +optional
	Pending int32 `json:"pending"`

	// Pods that hold resources.
	//
	// +optional
	Running int32 `json:"running"`
}

// QueueStarts is what a queue with policy StateAware remembers. Lists are cut to what a status can hold.
type QueueStarts struct {
	// How long an application may be starting now, such as 5m0s.
	//
	// +optional
	Timeout string `json:"timeout,omitempty"`

	// With startingTimeout adaptive: what 95 in 100 of the last starts did not
	// exceed. Nothing while there were too few to learn from.
	//
	// +optional
	Percentile95 string `json:"percentile95,omitempty"`

	// The applications that are starting.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Applications []StartingApplication `json:"applications,omitempty"`

	// Names of applications that have left Starting although their pods do not
	// show it, such as one whose time was up.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Started []string `json:"started,omitempty"`

	// How long the last starts took, such as 12.5s, the newest last.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	LastStarts []string `json:"lastStarts,omitempty"`
}

// StartingApplication is an application that is starting.
type StartingApplication struct {
	// Its name.
	Name string `json:"name"`

	// Since when.
	//
	// +optional
	Since *metav1.Time `json:"since,omitempty"`

	// Until when at the latest.
	//
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// NodeHold is nodes that are held for one owner.
type NodeHold struct {
	// The object that waits for the nodes: a PodGroup, or the first of several
	// large Pods.
	For HoldReference `json:"for"`

	// The nodes by name, the first 500 of them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Nodes []string `json:"nodes,omitempty"`

	// Since when it waits for room.
	//
	// +optional
	WaitingSince *metav1.Time `json:"waitingSince,omitempty"`

	// Until when at the latest the nodes are held.
	//
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
}

// HoldReference names the object for which nodes are held.
type HoldReference struct {
	// Its API group, such as scheduling.x-k8s.io; nothing for a Pod.
	//
	// +optional
	APIGroup string `json:"apiGroup,omitempty"`

	// Its kind: PodGroup or Pod.
	Kind string `json:"kind"`

	// Its namespace.
	Namespace string `json:"namespace"`

	// Its name.
	Name string `json:"name"`
}

// Bounds of the lists in a status, as the schema has them.
const (
	MaxStartingShown     = 100
	MaxStartedRemembered = 100
	MaxStartsRemembered  = 20
	// MaxStoppedShown bounds stoppedQueues.
	MaxStoppedShown = 500
	// MaxHoldsShown bounds holds, and MaxHeldShown the nodes of one.
	MaxHoldsShown = 10
	MaxHeldShown  = 500
)

// QueueSummary spells amounts such as "50c 200Gi": 50 cores and 200 GiB of memory. The text is meant for the eye and may change.
type QueueSummary struct {
	// +optional
	FairShare string `json:"fairShare,omitempty"`

	// +optional
	SteadyFairShare string `json:"steadyFairShare,omitempty"`

	// +optional
	Allocated string `json:"allocated,omitempty"`

	// +optional
	Demand string `json:"demand,omitempty"`
}
