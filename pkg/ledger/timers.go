package ledger

import "slices"

// What time alone brings about: back-offs that end, applications that count as started, nodes that were held for long enough.

// expire lets the pods go whose back-off is over.
func (l *releases) expire(now int64) {
	l.endStarts(now)
	l.endHoldInTime(now)
	for r := l.backOffs.over(now); r != nil; r = l.backOffs.over(now) {
		r.retryAt = 0
		l.wait(r, now)
		l.drain()
	}
}

// NextRetry is the earliest time at which waiting alone can make something releasable; false: never.
func (l *Ledger) NextRetry(now int64) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var at int64
	soonest := func(t int64) {
		if t > now && (at == 0 || t < at) {
			at = t
		}
	}
	soonest(l.nodeHolds.NextChange())
	if l.nodeHolds.Held() && l.nodeHolds.asOf != l.version {
		soonest(l.nodeHolds.NextReview())
	}
	if len(l.groupRelease.toReject) > 0 || slices.ContainsFunc(l.groupRelease.waiting, (*record).waitsInVain) {
		soonest(now + rejectAgain)
	}
	if len(l.startTimers.timers) > 0 {
		soonest(max(l.startTimers.timers[0].until, now+1))
	}
	if len(l.backOffs) > 0 {
		soonest(max(l.backOffs[0].retryAt, now+1))
	}
	for _, c := range l.classes.queued {
		soonest(c.NextTry(c.fitNode != nil, now))
	}
	return at, at != 0
}
