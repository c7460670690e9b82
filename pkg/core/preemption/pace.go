package preemption

// longestInterval is how long an open claim waits for the next round at most. A round sees what the ledger does not: disruption budgets,
// labels of nodes.
const longestInterval = 30 * second

// shortestInterval is the time between two rounds if attempts of pods ask for the second one. It is also the shortest interval that can
// be stated.
const shortestInterval = second

// Pace is when rounds of preemption are made. The zero Pace is that of a process that has made none.
type Pace struct {
	// LastRound is when the last round was made, unix nanoseconds; 0: none was.
	LastRound int64
	// Vain are rounds in a row that nominated nobody. They make the interval longer: while pods come and go, something changes all the
	// time.
	Vain int
	// Rest: the last round left something to the next: more claimants than it looks at, or what its budget did not pay.
	Rest bool
	// Waits: all that the last round may take is taken, and still runs. Until it is gone, a round decides nothing, so attempts do not ask for one.
	Waits bool
}

// Interval is the time between two rounds, where stated is that of Settings.
func (p Pace) Interval(stated int64) int64 {
	return min(stated<<min(p.Vain, 4), max(stated, longestInterval))
}

// IntervalOnRequest is the time between two rounds if an attempt of a pod has asked for the second one: the pod's queue is starved beyond
// its timeout. Such attempts may come by the thousand, so they wait for the whole interval after a round that nominated nobody, and after
// one that left something to the next: what a round may take is meant for an interval.
func (p Pace) IntervalOnRequest(stated int64) int64 {
	if p.Vain > 0 || p.Rest {
		return p.Interval(stated)
	}
	return min(stated, shortestInterval)
}

// Next says whether a round is due for a queue whose claim is open, and when it will be. changed: something has changed since the last
// round. pausedUntil is the end of the queue's Pause.
func (p Pace) Next(interval, pausedUntil int64, changed bool, now int64) (due bool, next int64) {
	latest := p.LastRound + longestInterval
	next = max(latest, now+1)
	if changed || p.Rest || now >= latest {
		at := max(p.LastRound+interval, pausedUntil)
		return at <= now, min(next, max(at, now+1))
	}
	return false, next
}

// Made is a round that has ended. rest: its budget did not pay all. announced: victims of earlier rounds still run. A round that nominated nobody only
// because these take up all of its budget is still under way, and was not in vain.
func (p Pace) Made(nominated, rest, announced bool) Pace {
	if p.Waits = rest && !nominated && announced; p.Waits {
		p.Vain = 0
		return p
	}
	p.Vain++
	if nominated {
		p.Vain = 0
	}
	p.Rest = p.Rest || rest
	return p
}
