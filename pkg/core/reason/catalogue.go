// Package reason names why something is not so: why a pod waits, why a queue is not in force as written.
//
// The list of codes is closed, a reason is plain data that compares with ==, and the sentence of every reason is in
// text.go or a file beside it. Rules return reasons; the status, the events, the kubectl plugin and the tests
// all show the same sentence. The package decides nothing and must not import the rules that do.
package reason

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// Code is the machine-readable part of a reason. Codes appear in conditions, events
// and metrics, so they are never renamed.
type Code string

// Why a pod waits.
const (
	// QueueNameInvalid: what the pod asks for is not a queue path. Queue is what was written, Details are
	// Invalid. Also a problem of a declared queue.
	QueueNameInvalid Code = "QueueNameInvalid"
	// QueueNotFound: there is no such queue.
	QueueNotFound Code = "QueueNotFound"
	// QueueNotLeaf: the queue has child queues, so it takes no pods itself. Details are Child.
	QueueNotLeaf Code = "QueueNotLeaf"
	// QueueNotReady: the queue is declared but not in force, Details are Cause. Also a
	// problem of a declared queue.
	QueueNotReady Code = "QueueNotReady"
	// SubmitForbidden: the user of the pod may not submit to Queue, nor to a queue above it. Details are Submitter.
	SubmitForbidden Code = "SubmitForbidden"
	// SubmitUnchecked: the API server has not answered yet whether the user may. Details are Submitter.
	SubmitUnchecked Code = "SubmitUnchecked"
	// PlacementRejected: no rule of the placement policy gives the pod a queue that can take it. Details are
	// Invalid; or Parent, if Queue cannot be created because of a queue above it.
	PlacementRejected Code = "PlacementRejected"
	// CreatingQueue: the placement policy gives the pod a queue that does not exist yet and is being created.
	CreatingQueue Code = "CreatingQueue"
	// ReservationNotFound: the pod names a reservation that does not exist. Details are Reserved, here and in the next six.
	ReservationNotFound Code = "ReservationNotFound"
	// ReservationPending: it was not decided on yet, or its queue is not reservable.
	ReservationPending Code = "ReservationPending"
	// ReservationRejected: it did not fit.
	ReservationRejected Code = "ReservationRejected"
	// ReservationNotStarted: its allocation, or the next period of it, has not begun.
	ReservationNotStarted Code = "ReservationNotStarted"
	// ReservationEnded: its allocation is over.
	ReservationEnded Code = "ReservationEnded"
	// ReservationCancelled: it was accepted, and cancelled.
	ReservationCancelled Code = "ReservationCancelled"
	// QueueReserved: Queue is for the pods of a reservation that the pod does not name.
	QueueReserved Code = "QueueReserved"
	// Terminating: the pod is being deleted before it got a node, so it will get none.
	Terminating Code = "Terminating"
	// QueueDeleted: the queue is being deleted, or it is gone while its pods still run.
	QueueDeleted Code = "QueueDeleted"
	// QueueStopped: Queue takes no new applications, and that of the pod is new. Details are Stop.
	QueueStopped Code = "QueueStopped"
	// MaxResources: with this pod the usage of Queue would exceed its max. PodGroup is set if the pod can
	// only start together with its group. Limit, Used and Asked are amounts of Resource. Details are MaxCapacity if the queue
	// states one.
	MaxResources Code = "MaxResources"
	// MaxPodResources: the pod is larger than Queue allows a single pod to be.
	// Limit and Asked are amounts of Resource.
	MaxPodResources Code = "MaxPodResources"
	// MaxRunningApplications: the applications that run in Queue have reached its limit. Details are
	// Applications.
	MaxRunningApplications Code = "MaxRunningApplications"
	// UserMaxRunningApplications: the applications of a user have reached the limit per user. Details are
	// Applications; Queue states the limit.
	UserMaxRunningApplications Code = "UserMaxRunningApplications"
	// MaxApplications: Queue has as many applications as it takes in, and refuses more. Details are Applications.
	MaxApplications Code = "MaxApplications"
	// UserMaxApplications: Queue has as many applications of a user as it takes in. Details are Applications.
	UserMaxApplications Code = "UserMaxApplications"
	// MaxDriverShare: with this driver, or with those that start as PodGroup, the drivers in Queue would use
	// more than its part for drivers. Limit, Used and Asked are amounts of Resource.
	MaxDriverShare Code = "MaxDriverShare"
	// UserMaxDriverShare: with this driver its user's drivers would use more of Queue than those of one user may. Limit, Used
	// and Asked are amounts of Resource. Details are UserShare.
	UserMaxDriverShare Code = "UserMaxDriverShare"
	// UserLimit: with this pod its user would use more of Queue than one user may. Limit, Used and Asked are amounts of
	// Resource, Used is what the user uses in Queue. Details are UserShare.
	UserLimit Code = "UserLimit"
	// WaitingForDriver: the driver of the pod's application waits, and no other driver of it holds anything. Details
	// are Driver.
	WaitingForDriver Code = "WaitingForDriver"
	// StateAware: the applications of Queue that are starting have reached its limit. Details are Start.
	StateAware Code = "StateAware"
	// PodGroupNotFound: the pod names a PodGroup that does not exist.
	PodGroupNotFound Code = "PodGroupNotFound"
	// GangIncomplete: PodGroup needs more pods than exist before it can start. Details are Members.
	GangIncomplete Code = "GangIncomplete"
	// GangTooLarge: the nodes could not hold PodGroup even if they were empty. Details are Packing, and its pods
	// together ask for Asked of Resource, if that is set. Or Details are MinResources, which are amounts of
	// Resource: its pods would fit, but the group states that it needs more.
	GangTooLarge Code = "GangTooLarge"
	// GangWaitsForRoom: the pods that PodGroup needs at once do not all fit now. Details are Packing, without
	// Resource, or MinResources as above.
	GangWaitsForRoom Code = "GangWaitsForRoom"
	// BehindGang: PodGroup of Queue waits for room, and pods that came after it wait until it has room. Details
	// are Turn.
	BehindGang Code = "BehindGang"
	// Parked: no node fits this pod or one like it. Details are Answer.
	Parked Code = "Parked"
	// BackOff: the last attempt ended in an error, or PodGroup did not get nodes for all its pods in time.
	BackOff Code = "BackOff"
	// SchedulingGate: another PreEnqueue plugin blocks the pod. Details are Gate.
	SchedulingGate Code = "SchedulingGate"
	// WaitingForRoom: no rule blocks the pod, but no node has room. It asks for Asked of Resource, more than
	// any node has free, as Details (Room) say; if Resource is empty, no node can be used.
	WaitingForRoom Code = "WaitingForRoom"
	// WaitingForPreferredNodes: nothing blocks the pod, but it declines room on other nodes than those it prefers, for now. Details are
	// Preferred.
	WaitingForPreferredNodes Code = "WaitingForPreferredNodes"
	// WaitingTurn: nothing blocks the pod; other pods come first.
	WaitingTurn Code = "WaitingTurn"
	// ApplicationPriorityInvalid: nothing blocks the pod, but the priority that it asks for its application is none and has no effect. Details
	// are Invalid: what it asks for.
	ApplicationPriorityInvalid Code = "ApplicationPriorityInvalid"
)

// Why a queue is not in force as written, or needs attention.
const (
	// ParentMissing: the parent is not declared. Details are Parent.
	ParentMissing Code = "ParentMissing"
	// ParentHasPods: the parent holds pods itself, so it stays without children. Details are Parent.
	ParentHasPods Code = "ParentHasPods"
	// Deleting: the queue is being deleted. Details are Leftovers: what must be gone before it is.
	Deleting Code = "Deleting"
	// PolicyNotAllowed: the policy cannot be used with child queues. Details are Policies.
	PolicyNotAllowed Code = "PolicyNotAllowed"
	// PolicyBelowFair: the parent's policy Fair divides one resource, but the policy of Queue divides all. Details
	// are Policies.
	PolicyBelowFair Code = "PolicyBelowFair"
	// FairResourceNotAllowed: the parent divides Resource by Fair, or the calculator of the root counts nothing else, but the
	// queue states another fairResource. Details are FairResource.
	FairResourceNotAllowed Code = "FairResourceNotAllowed"
	// MaxPodResourcesRaised: a queue above takes only pods of Limit of Resource, and the queue states Asked.
	MaxPodResourcesRaised Code = "MaxPodResourcesRaised"
	// FieldIgnored: the queue is in force, and a field of it has no effect where it stands. Details are Ignored.
	FieldIgnored Code = "FieldIgnored"
	// RunningBelowStopped: the queue states Running, and is stopped by queues above it. Details are Stop.
	RunningBelowStopped Code = "RunningBelowStopped"
	// CapacityMissing: some children of a queue state a capacity, and others do not. Details are Capacities, here and
	// in the next two.
	CapacityMissing Code = "CapacityMissing"
	// CapacitySumInvalid: the capacities of the children of a queue do not sum to 100 percent.
	CapacitySumInvalid Code = "CapacitySumInvalid"
	// MaxCapacityTooLow: a child of a queue may use less of the cluster than its capacity is.
	MaxCapacityTooLow Code = "MaxCapacityTooLow"
	// Overcommitted: the children are guaranteed more of Resource than the queue itself.
	// Details are Guarantees.
	Overcommitted Code = "Overcommitted"
	// OverLimit: usage is above max, for example after max was lowered. Limit and Used are
	// amounts of Resource.
	OverLimit Code = "OverLimit"
	// BelowGuaranteed: Queue uses less (Used) than its guarantee and asks for Asked. Details are Shortfall.
	BelowGuaranteed Code = "BelowGuaranteed"
	// BelowFairShare: the same for its fair share.
	BelowFairShare Code = "BelowFairShare"
	// SpecInvalid: the queue contradicts itself. If Resource is set, its guaranteed (Details are Guarantees)
	// is above its max (Limit); otherwise Details are Invalid.
	SpecInvalid Code = "SpecInvalid"
)

// Codes returns every code, in the order of this file.
func Codes() []Code {
	return []Code{
		QueueNameInvalid, QueueNotFound, QueueNotLeaf, QueueNotReady, SubmitForbidden, SubmitUnchecked, PlacementRejected, CreatingQueue,
		ReservationNotFound, ReservationPending, ReservationRejected, ReservationNotStarted, ReservationEnded, ReservationCancelled, QueueReserved, Terminating,
		QueueDeleted, QueueStopped, MaxResources, MaxPodResources, MaxRunningApplications, UserMaxRunningApplications, MaxApplications,
		UserMaxApplications, MaxDriverShare, UserMaxDriverShare, UserLimit,
		WaitingForDriver, StateAware, PodGroupNotFound, GangIncomplete, GangTooLarge, GangWaitsForRoom, BehindGang, Parked, BackOff, SchedulingGate,
		WaitingForRoom, WaitingForPreferredNodes, WaitingTurn, ApplicationPriorityInvalid,
		ParentMissing, ParentHasPods, Deleting, PolicyNotAllowed, PolicyBelowFair, FairResourceNotAllowed, MaxPodResourcesRaised,
		FieldIgnored, RunningBelowStopped, CapacityMissing, CapacitySumInvalid, MaxCapacityTooLow, Overcommitted, OverLimit,
		BelowGuaranteed, BelowFairShare, SpecInvalid,
	}
}

// Reason is a code with its details. It is comparable with ==: events and condition updates depend on whether
// a reason changed. Each code documents which fields it uses; the others stay zero.
type Reason struct {
	Code     Code
	Queue    string // path of the queue the reason is about
	PodGroup string // namespace/name of the pod group, if it matters
	Resource resource.Name
	Limit    int64   // amount of Resource that there may be at most
	Used     int64   // amount of Resource that Queue uses
	Asked    int64   // amount of Resource that the pod, its pod group or Queue asks for
	Details  Details // what only this code says, of the type that belongs to it; nil for none
}

// Cause is the reason for which a pod waits in the end: that of its driver, if it waits with one.
func (r Reason) Cause() Reason {
	if d, ok := r.Details.(Driver); ok && d.Why.Code != "" {
		return d.Why.Cause()
	}
	return r
}
