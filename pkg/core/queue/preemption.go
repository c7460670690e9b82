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
	// NotPreemptible: no pod in the queue or below it may be preempted. Queues below cannot undo it (YARN
	// FairScheduler: allowPreemptionFrom).
	NotPreemptible bool

	ObserveOnly              bool
	UtilizationThreshold     Limit   // thousandths
	Interval                 Timeout // Never is not used here, nor in the next field
	MaxWaitBeforeKill        Timeout
	TotalPerRound            Limit // thousandths
	MaxIgnoredOverCapacity   Limit // thousandths
	NaturalTerminationFactor Limit // thousandths
}

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

// Under returns what is in force for a queue that states p, if parent is in force for the queue above.
func (p Preemption) Under(parent Preemption) Preemption {
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
	is.NotPreemptible = p.NotPreemptible || parent.NotPreemptible
	return is
}
