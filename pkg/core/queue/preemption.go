package queue

// Preemption is what a queue states about giving shares back. What it leaves open, the nearest queue above decides that
// states it: see Under. The second group is for the root.
type Preemption struct {
	// FairShareThreshold is the part of its fair share below which a queue is starved, in thousandths, 1 to 1000.
	FairShareThreshold Limit
	// FairShareTimeout is how long a queue must have been below without a break before preemption is due.
	FairShareTimeout Timeout
	// GuaranteedTimeout is the same for its guarantee.
	GuaranteedTimeout Timeout
	// NotPreemptible: no pod in the queue or below it is taken. It cannot be undone below (YARN FairScheduler:
	// allowPreemptionFrom).
	NotPreemptible bool

	ObserveOnly              bool
	UtilizationThreshold     Limit   // thousandths
	Interval                 Timeout // Never is not used here, nor in the next
	MaxWaitBeforeKill        Timeout
	TotalPerRound            Limit // thousandths
	MaxIgnoredOverCapacity   Limit // thousandths
	NaturalTerminationFactor Limit // thousandths
}

// Timeout is a duration that need not be stated. The zero Timeout is not.
type Timeout struct {
	Stated bool
	// Never switches off what an ancestor switched on.
	Never       bool
	Nanoseconds int64
}

// DefaultFairShareThreshold holds where nothing is stated (YARN FairScheduler: fairSharePreemptionThreshold), in thousandths.
const DefaultFairShareThreshold int64 = 500

// After is when a clock that began at since runs out; 0: never.
func (t Timeout) After(since int64) int64 {
	if !t.InForce() || since == 0 {
		return 0
	}
	return since + t.Nanoseconds
}

// InForce: the timeout is stated, and is not never.
func (t Timeout) InForce() bool { return t.Stated && !t.Never }

// Threshold is FairShareThreshold or its default.
func (p Preemption) Threshold() int64 {
	if p.FairShareThreshold.Stated {
		return p.FairShareThreshold.Most
	}
	return DefaultFairShareThreshold
}

// Under returns what is in force for a queue that states p, where parent is in force for the queue above.
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
