// Package reason names why something is not so: why a pod waits, why a queue is not in force as written.
//
// The list of codes is closed, a reason is plain data that compares with ==, and every English sentence is in
// text.go or a file beside it. Rules return reasons; the status, the events, the kubectl plugin and the tests
// all show the same sentence. The package decides nothing and must not import the rules that do.
package reason

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// Code is the machine-readable part of a reason. Codes appear in conditions, events
// and metrics, so they are never renamed.
type Code string

// Why a pod waits.
const (
	// QueueNameInvalid: what the pod asks for is not a queue path. Queue is what was written, Detail says what
	// is allowed. Also a problem of a declared queue.
	QueueNameInvalid Code = "QueueNameInvalid"
	// QueueNotFound: there is no such queue.
	QueueNotFound Code = "QueueNotFound"
	// QueueNotLeaf: the queue has child queues, so it takes no pods itself.
	// Other may name a child.
	QueueNotLeaf Code = "QueueNotLeaf"
	// QueueNotReady: the queue is declared but not in force, because of queue Other or for the cause in Detail
	// (a sentence about Queue is used unchanged). Also a problem of a declared queue.
	QueueNotReady Code = "QueueNotReady"
	// Terminating: the pod is being deleted before it got a node, so it will get none.
	Terminating Code = "Terminating"
	// QueueDeleted: the queue is being deleted, or it is gone while its pods still run.
	QueueDeleted Code = "QueueDeleted"
	// MaxResources: with this pod the usage of Queue would exceed its max. Other is the pod group if the pod
	// can only start together with it. Limit, Used and Asked are amounts of Resource.
	MaxResources Code = "MaxResources"
	// MaxPodResources: the pod is larger than Queue allows a single pod to be.
	// Limit and Asked are amounts of Resource.
	MaxPodResources Code = "MaxPodResources"
	// MaxRunningApplications: the applications that run in Queue have reached its limit. Numbers are
	// Applications.
	MaxRunningApplications Code = "MaxRunningApplications"
	// UserMaxRunningApplications: the applications that the user Other runs have reached the limit per user.
	// Numbers are Applications; Queue states the limit.
	UserMaxRunningApplications Code = "UserMaxRunningApplications"
	// MaxDriverShare: with this driver, the drivers in Queue would use more than its part
	// for drivers. Limit, Used and Asked are amounts of Resource.
	MaxDriverShare Code = "MaxDriverShare"
	// StateAware: the applications of Queue that are starting have reached its limit. Other is the one that
	// leaves that state next. Numbers are Start.
	StateAware Code = "StateAware"
	// PodGroupNotFound: the pod names the pod group Other, which does not exist.
	PodGroupNotFound Code = "PodGroupNotFound"
	// GangIncomplete: the pod group Other needs more pods than exist before it can start. Numbers are Members.
	GangIncomplete Code = "GangIncomplete"
	// GangTooLarge: the nodes could not hold the pod group Other even if they were empty. Numbers are Packing;
	// if Resource is set, its pods together ask for Asked of it. Or Numbers are MinResources: its pods would
	// fit, but the group states that it needs Asked of Resource.
	GangTooLarge Code = "GangTooLarge"
	// GangWaitsForRoom: the pods that the pod group Other needs at once do not all fit now. Numbers are
	// Packing, or MinResources as above.
	GangWaitsForRoom Code = "GangWaitsForRoom"
	// BehindGang: the pod group Other of Queue waits for room, and pods that came after it wait until it has
	// room. Numbers are Turn.
	BehindGang Code = "BehindGang"
	// Parked: no node fits this pod or one like it. Detail is the scheduler's answer.
	Parked Code = "Parked"
	// BackOff: the last attempt ended in an error, given in Detail, or the pod group Other did not get nodes
	// for all its pods in time.
	BackOff Code = "BackOff"
	// SchedulingGate: another PreEnqueue plugin, named in Other, blocks the pod.
	SchedulingGate Code = "SchedulingGate"
	// WaitingForRoom: no rule blocks the pod, but no node has room. It asks for Asked of Resource, more than
	// any node has free, as Numbers (Room) say; if Resource is empty, no node can be used.
	WaitingForRoom Code = "WaitingForRoom"
	// WaitingTurn: nothing blocks the pod; other pods come first.
	WaitingTurn Code = "WaitingTurn"
)

// Why a queue is not in force as written, or needs attention.
const (
	// ParentMissing: the parent, Other, is not declared.
	ParentMissing Code = "ParentMissing"
	// ParentHasPods: the parent, Other, holds pods itself, so it stays without
	// children.
	ParentHasPods Code = "ParentHasPods"
	// Deleting: the queue is being deleted. Numbers are Leftovers: what must be gone before it is.
	Deleting Code = "Deleting"
	// PolicyNotAllowed: the policy named in Other cannot be used with child queues; the one in Detail is in
	// force.
	PolicyNotAllowed Code = "PolicyNotAllowed"
	// PolicyBelowFair: the parent's policy Fair divides one resource, but the policy named in Other divides
	// all; the one in Detail is in force.
	PolicyBelowFair Code = "PolicyBelowFair"
	// FairResourceNotAllowed: the parent divides Resource by Fair, but the queue states another fairResource,
	// named in Other.
	FairResourceNotAllowed Code = "FairResourceNotAllowed"
	// Overcommitted: the children are guaranteed more of Resource than the queue itself.
	// Numbers are Guarantees.
	Overcommitted Code = "Overcommitted"
	// OverLimit: usage is above max, for example after max was lowered. Limit and Used are
	// amounts of Resource.
	OverLimit Code = "OverLimit"
	// BelowGuaranteed: Queue uses less (Used) than its guarantee and asks for Asked. Numbers are Shortfall.
	BelowGuaranteed Code = "BelowGuaranteed"
	// BelowFairShare: the same for its fair share.
	BelowFairShare Code = "BelowFairShare"
	// SpecInvalid: the queue contradicts itself. If Resource is set, its guaranteed (Numbers are Guarantees)
	// is above its max (Limit); otherwise Detail says what is wrong.
	SpecInvalid Code = "SpecInvalid"
)

// Codes returns every code, in the order of this file.
func Codes() []Code {
	return []Code{
		QueueNameInvalid, QueueNotFound, QueueNotLeaf, QueueNotReady, Terminating, QueueDeleted, MaxResources,
		MaxPodResources, MaxRunningApplications, UserMaxRunningApplications, MaxDriverShare,
		StateAware, PodGroupNotFound, GangIncomplete, GangTooLarge, GangWaitsForRoom, BehindGang, Parked, BackOff, SchedulingGate,
		WaitingForRoom, WaitingTurn,
		ParentMissing, ParentHasPods, Deleting, PolicyNotAllowed, PolicyBelowFair, FairResourceNotAllowed, Overcommitted, OverLimit,
		BelowGuaranteed, BelowFairShare, SpecInvalid,
	}
}

// Reason is a code with its details. It is comparable with ==: events and condition updates depend on whether
// a reason changed. Each code documents which fields it uses; the others stay zero.
type Reason struct {
	Code     Code
	Queue    string // path of the queue the reason is about
	Other    string // a second party: another queue, a plugin, a policy
	Resource resource.Name
	Limit    int64   // amount of Resource that there may be at most
	Used     int64   // amount of Resource that Queue uses
	Asked    int64   // amount of Resource that the pod, its pod group or Queue asks for
	Numbers  Numbers // other numbers, of the type that belongs to the code; nil for none
	Detail   string  // text from elsewhere: an error, an answer of kube-scheduler
}
