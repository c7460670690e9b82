package preemption

const (
	// idleFor is how long a nomination is kept while its room lies idle, and how long one without a claim is kept while its node has no
	// room.
	idleFor = 60 * second
	// Overstay is how long after its deadline a terminating pod is believed to be leaving. After that its room is not coming.
	Overstay = 30 * second
)

// NominationState is what decides how long a waiting pod stays nominated to a node. The pod's room is taken on the node from the start,
// also while victims are still there.
type NominationState struct {
	// Until ends a nomination without a claim whose room is not there, unix nanoseconds.
	Until int64
	// IdleSince is since when the room has been there, no pod has been leaving, and the pod has not been released; 0: that is not so.
	IdleSince int64
}

// NominationInput is what decides about a nomination.
type NominationInput struct {
	// Attempting: the pod is released; its scheduling attempt decides.
	Attempting bool
	// Waiting: the pod waits in a queue. NodeUsable: its node exists and takes it, and has room for it once all of our pods there have ended.
	Waiting, NodeUsable bool
	// GroupIncomplete: the pod starts with its group only, and too few pods of the group are nominated.
	GroupIncomplete bool
	// Blocked: a rule blocks the pod, other than its back-off. No room would let it start, and no pod that leaves ends that.
	Blocked     bool
	Claim       NominationClaim
	ObserveOnly bool
	// VictimStuck: a victim of the nomination is terminating for longer than its deadline and Overstay.
	VictimStuck bool
	// RoomThere: the node has room for the pod now.
	RoomThere bool
	// NotOwed: the queue of the pod is not owed that room is kept for it: see core/keep. What a claim pays for is owed.
	NotOwed bool
	// Idle: the room is there, the pod could be released, and no pod of the cluster is leaving.
	Idle bool
	// Limited: a limit forbids that the pod starts now. Pods that leave may end that.
	Limited bool
}

// NominationClaim says on whose behalf a pod is nominated.
type NominationClaim uint8

// ByScheduler: no claim's: kube-scheduler or an earlier process nominated the pod. OpenClaim and ClosedClaim: a claim's, which is open or
// not.
const (
	ByScheduler NominationClaim = iota
	OpenClaim
	ClosedClaim
)

// NominationOutcome is what becomes of a nomination.
type NominationOutcome uint8

// The outcomes.
const (
	// Keeps its node.
	Keeps NominationOutcome = iota
	// Ends means that the node is given back.
	Ends
	// Fails means that the node is given back, and the claim pauses, as if the pod had not fitted there.
	Fails
)

// NewNominationState is a nomination that begins now.
func NewNominationState(now int64) NominationState { return NominationState{Until: now + idleFor} }

// Next decides what becomes of the nomination.
func (n NominationState) Next(in NominationInput, now int64) (NominationState, NominationOutcome) {
	switch {
	case !n.valid(in, now), in.Idle && in.Limited:
		return n, Ends
	case !in.Idle:
		n.IdleSince = 0
	case n.IdleSince == 0:
		n.IdleSince = now
	case now >= n.IdleSince+idleFor:
		return n, Fails // something that no rule here knows keeps the pod from being released, and room must not lie idle for good
	}
	return n, Keeps
}

func (n NominationState) valid(in NominationInput, now int64) bool {
	switch {
	case in.Attempting:
		return true
	case !in.Waiting, !in.NodeUsable, in.GroupIncomplete, in.Blocked:
		return false
	case in.Claim == ByScheduler:
		return !in.NotOwed && (now < n.Until || in.RoomThere)
	}
	return in.Claim == OpenClaim && !in.ObserveOnly && !in.VictimStuck
}
