package v1alpha1

// Conditions of a Queue. Their messages are whole sentences for people; programs look at type, status and reason. Where a condition is the
// answer of a rule, its reason is the rule's code as listed in pkg/core/reason (ParentMissing, ParentHasPods, ...): one list of reasons
// serves conditions, events, metrics and the command line.
const (
	// ConditionReady is True while the queue is in force: it is part of the tree, gets a share, and shares and orders as its spec says.
	// It is False with the code of what stands in the way, e.g. ParentMissing, ParentHasPods, QueueNotReady, PolicyNotAllowed,
	// SpecInvalid, or Deleting while pods or child queues keep a deleted queue. False does not stop pods that run, nor a queue whose last good settings can stay in force; the message says which.
	ConditionReady = "Ready"

	// ConditionFieldsIgnored is True on a queue that states a field which has no effect where it stands, or in whose place the value of a
	// queue above is in force (FieldIgnored, FairResourceNotAllowed, MaxPodResourcesRaised, RunningBelowStopped). The queue works; its
	// message names the fields and says what to do.
	ConditionFieldsIgnored = "FieldsIgnored"

	// ConditionOvercommitted is True on a queue whose children are guaranteed more, in sum, than the queue is itself, or than its steady
	// share where it states no guarantee; for the root that is the cluster. Every child keeps
	// its guarantee in the computation of shares, but not all of them can be honoured at the same time.
	ConditionOvercommitted = "Overcommitted"

	// ConditionOverLimit is True while the queue's pods hold more than its max allows, as after a max was lowered or a pod was resized.
	// Nothing is killed for that; no further pod starts in the queue until usage has fallen.
	ConditionOverLimit = "OverLimit"

	// ConditionStarved is True while the queue has less than it is entitled to although it asks for more: less than its guarantee
	// (BelowGuaranteed) or than fairShareThreshold of its fair share (BelowFairShare). Its message says since when, and when that is
	// made good by preemption.
	ConditionStarved = "Starved"
)

// ReasonRulesInvalid is the reason of Ready=False of a PlacementPolicy that contradicts itself or that cannot be read.
const ReasonRulesInvalid = "RulesInvalid"

// Reasons of conditions for the case that nothing is wrong; everything else comes from pkg/core/reason.
const (
	// ReasonInForce is the reason of Ready=True: the spec as written is in force.
	ReasonInForce = "InForce"

	// ReasonAllFieldsCount is the reason of FieldsIgnored=False.
	ReasonAllFieldsCount = "AllFieldsCount"

	// ReasonGuaranteesFit is the reason of Overcommitted=False.
	ReasonGuaranteesFit = "GuaranteesFit"

	// ReasonWithinLimits is the reason of OverLimit=False.
	ReasonWithinLimits = "WithinLimits"

	// ReasonServed is the reason of Starved=False: the queue has what it is entitled to, or all that it asks for.
	ReasonServed = "Served"
)

// ConditionAccepted of a Reservation is True while its spec is what is reserved, and False with the reason why it is not.
const ConditionAccepted = "Accepted"

// ReasonReserved is the reason of Accepted=True.
const ReasonReserved = "Reserved"
