package queue

// Preemption is what a queue states about preemption for it and from it. For a setting that it leaves open,
// the nearest queue above that states it decides: see Under. The second group of fields is for the root.
type Preemption struct {
	// FairShareThreshold is the part of its fair share below which a queue is starved, in thousandths, 1 to 1000.
	FairShareThreshold Limit
	// FairShareTimeout is how long a queue must have been below the threshold without a break before pods are
	// preempted for it.
	FairShareTimeout Timeout
	// GuaranteedTimeout is the same for its guarantee.
	GuaranteedTimeout Timeout
	// Preemptible is whether pods of the queue, and of those below that state nothing, may be preempted.
	Preemptible Preemptible

	ObserveOnly              bool
	UtilizationThreshold     Limit   // thousandths
	Interval                 Timeout // Never is not used here, nor in the next field
	MaxWaitBeforeKill        Timeout
	TotalPerRound            Limit // thousandths
	MaxIgnoredOverCapacity   Limit // thousandths
	NaturalTerminationFactor Limit // thousandths
}

// Preemptible is whether pods of a queue may be preempted, as far as it says so. A queue that shares by weight cannot undo that
// a queue above says no (YARN FairScheduler: allowPreemptionFrom). One that shares by capacity can (YARN CapacityScheduler:
// disable_preemption).
type Preemptible uint8

// What a queue may state.
const (
	PreemptibleUnstated Preemptible = iota
	PreemptibleYes
	PreemptibleNo
)

// StatedPreemptible is what a queue states with true or false.
func StatedPreemptible(may bool) Preemptible {
	if may {
		return PreemptibleYes
	}
	return PreemptibleNo
}

// Allowed reports whether pods may be preempted, where this is in force.
func (p Preemptible) Allowed() bool { return p != PreemptibleNo }

// Timeout is an optional duration. The zero Timeout is not stated.
type Timeout struct {
	Stated bool
	// Never switches off a timeout that an ancestor states.
	Never       bool
	Nanoseconds int64
}

// DefaultFairShareThreshold applies if none is stated (YARN FairScheduler: fairSharePreemptionThreshold). It is
// in thousandths.
const DefaultFairShareThreshold int64 = 500

// After returns when a clock that began at since runs out; 0 for never.
func (t Timeout) After(since int64) int64 {
	if !t.InForce() || since == 0 {
		return 0
	}
	return since + t.Nanoseconds
}

// InForce reports whether the timeout is stated and not Never.
func (t Timeout) InForce() bool { return t.Stated && !t.Never }

// Threshold returns FairShareThreshold or its default.
func (p Preemption) Threshold() int64 {
	if p.FairShareThreshold.Stated {
		return p.FairShareThreshold.Most
	}
	return DefaultFairShareThreshold
}

// Under returns what is in force for a queue that states p, if parent is in force for the queue above. byCapacity: the queue
// shares by capacity with its siblings.
func (p Preemption) Under(parent Preemption, byCapacity bool) Preemption {
	is := parent
	if p.FairShareThreshold.Stated {
		is.FairShareThreshold = p.FairShareThreshold
	}
	if p.FairShareTimeout.Stated {
		is.FairShareTimeout = p.FairShareTimeout
	}
	if p.GuaranteedTimeout.Stated {
		is.GuaranteedTimeout = p.GuaranteedTimeout
	}
	if p.Preemptible == PreemptibleNo || p.Preemptible == PreemptibleYes && byCapacity {
		is.Preemptible = p.Preemptible
	}
	return is
}
