package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Starvation is since when a queue has been below what it is entitled to, and when something is done about it. Times are unix nanoseconds,
// 0 for never or not at all.
type Starvation struct {
	BelowFairShareSince, BelowGuaranteedSince int64
	// FairShareDue and GuaranteedDue are when the timeouts pass.
	FairShareDue, GuaranteedDue int64
	// FairShareDeclined and GuaranteedDeclined are when a claim ended because all surplus is ignored; 0: none did, or one is open again.
	FairShareDeclined, GuaranteedDeclined int64
	// Claiming: a claim is open.
	Claiming bool
	// FairShareClaims and GuaranteedClaims: which claims are open. Both may be.
	FairShareClaims, GuaranteedClaims bool
	// Owed is what the open claims still lack, the larger amount of each resource; the others are what each of them lacks.
	Owed, FairShareOwed, GuaranteedOwed resource.List
}

// kinds are those of claims, in the order in which they are paid.
var kinds = [...]preemption.Kind{preemption.BelowGuaranteed, preemption.BelowFairShare}

// starving are the clocks of a queue below the root, by kind of claim, and the pause of its claims.
type starving struct {
	clocks [len(kinds)]preemption.Clock
	pause  preemption.Pause
	// requested: since the last round that looked at its claims, the attempt of one of its pods has failed. See Ledger.Misfit.
	requested bool
}

func (s *starving) claiming() bool {
	return s != nil && (s.clocks[0].Claimed != 0 || s.clocks[1].Claimed != 0)
}

// decline ends a claim, if it is the one that is open.
func (s *starving) decline(k preemption.Kind, since, now int64) {
	if s.clocks[k].Claimed == since {
		s.clocks[k] = s.clocks[k].Decline(now)
	}
}

// below reports whether a clock runs or a claim is open.
func (s *starving) below() bool { return s != nil && s.clocks != [len(kinds)]preemption.Clock{} }

// mayClaim reports whether a claim of the queue is open, or will be unless the queue reaches its share before its timeout.
func (a *queueAccount) mayClaim() bool {
	for _, k := range kinds {
		if s := a.starving; s != nil && (s.clocks[k].Claimed != 0 || s.clocks[k].Since != 0 && a.timeout(k).InForce()) {
			return true
		}
	}
	return false
}

// requestRound makes the next round due sooner if the queue is starved beyond a timeout. Whether it still is decides the next look at its
// clocks.
func (s *starving) requestRound(a *queueAccount, now int64) {
	for _, k := range kinds {
		if at := s.clocks[k].Due(a.timeout(k)); s.clocks[k].Claimed != 0 || at != 0 && at <= now {
			s.requested = true
		}
	}
}

// LookAtStarvation brings the clocks up to date and opens and closes claims. due: a round of preemption is due. next is when one is due
// unless something changes; 0: never. It must be called at least once a second: it does not see a queue that reached its share between two
// calls.
func (l *Ledger) LookAtStarvation(now int64) (due bool, next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lookAtStarvation(now)
}

func (l *plans) lookAtStarvation(now int64) (due bool, next int64) {
	l.now = max(l.now, now)
	if !l.leading {
		return false, 0
	}
	l.settleAll()
	l.countHeld()
	p, settings := &l.rounds, preemption.SettingsOf(l.queues.root.spec.Preemption)
	soonest := func(at int64) {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	if !p.lookedAtClocksAsOf(l.version) {
		l.lookAtClocks(now)
	}
	l.tendNominations(now)
	for _, n := range l.queues.Nodes[1:] {
		a := l.queues.accounts[n.Path]
		s := a.starving
		if !s.below() {
			continue
		}
		for _, k := range kinds {
			var opened bool
			if s.clocks[k], opened = s.clocks[k].Tick(a.timeout(k), now); opened {
				l.evictions.claimOpened()
				p.claimOpens()
				l.version++
			}
			soonest(s.clocks[k].Due(a.timeout(k)))
		}
		if s.claiming() {
			is, at := p.due(settings, s, l.version, now)
			due = due || is
			soonest(at)
		}
	}
	p.looksAtClocks(l.version)
	return due, next
}

// timeout is the timeout in force for a kind of claim.
func (a *queueAccount) timeout(k preemption.Kind) queue.Timeout {
	if k == preemption.BelowGuaranteed {
		return a.preemption.GuaranteedTimeout
	}
	return a.preemption.FairShareTimeout
}

// lookAtClocks brings the clocks of all queues up to date.
func (l *plans) lookAtClocks(now int64) {
	l.books.recheckDrivers(&l.queues)
	held := l.heldBack()
	var tried onTrial
	for _, n := range l.queues.Nodes[1:] {
		a := l.queues.accounts[n.Path]
		before := starving{}
		if a.starving != nil {
			before = *a.starving
		}
		if a.pending == 0 && before == (starving{}) {
			continue // nothing waits, as in most queues
		}
		if a.starving == nil {
			a.starving = &starving{}
		}
		if tried == nil && (before != (starving{}) || !l.rounds.clocksRestored) { // a clock or claim could end
			tried = l.window.released.charges()
		}
		l.lookAtClock(a, a.claimable(held), tried, now)
		if *a.starving != before {
			l.version++
		}
	}
	l.rounds.restoresClocks()
}

// lookAtClock brings the clocks of a queue up to date.
func (l *plans) lookAtClock(a *queueAccount, demand resource.List, tried onTrial, now int64) {
	var stored [len(kinds)]preemption.ClockMemory
	if !l.rounds.clocksRestored {
		stored = l.queues.storedClocks(a.path)
	}
	in := preemption.ClockInput{Rule: a.parent.spec.Rule(), Total: l.shares.total, Waiting: a.pending > 0, Usage: a.withHeld()}
	in.Settled, in.EvictedAt = a.usage.List().Sub(tried[a]), a.evictedAt
	for _, k := range kinds {
		in.Kind, in.Timeout, in.Target, in.Stored = k, a.timeout(k), l.shares.targetOf(a, k, demand), stored[k]
		in.Bound = in.Target
		if k == preemption.BelowFairShare {
			in.Bound = preemption.ThresholdBound(l.shares.of(a), a.preemption.Threshold(), demand)
		}
		a.starving.clocks[k] = a.starving.clocks[k].Next(in, now)
	}
	if !a.starving.claiming() {
		a.starving.pause = preemption.Pause{}
	}
	a.starving.requested = a.starving.requested && a.starving.below()
}

// onTrial is what queues are charged with for released pods.
type onTrial map[*queueAccount]resource.List

func (s roster) charges() onTrial {
	tried := onTrial{}
	for _, r := range s { // sums: order does not matter
		for a := r.leaf; a != nil; a = a.parent {
			tried[a] = tried[a].Add(r.Request)
		}
	}
	return tried
}

// targetOf is the usage up to which a claim of the queue goes.
func (s *shares) targetOf(a *queueAccount, k preemption.Kind, demand resource.List) resource.List {
	if k == preemption.BelowGuaranteed {
		return preemption.GuaranteedTarget(a.parent.spec.Rule(), a.spec.Guaranteed, demand)
	}
	return preemption.Target(s.of(a), demand)
}

// starvation is a queue's Starvation in a snapshot.
func (s *shares) starvation(a *queueAccount, demand resource.List) Starvation {
	starving := a.starving
	if starving == nil {
		return Starvation{}
	}
	const guaranteed, fair = preemption.BelowGuaranteed, preemption.BelowFairShare
	is := Starvation{
		BelowFairShareSince: starving.clocks[fair].Since, BelowGuaranteedSince: starving.clocks[guaranteed].Since,
		FairShareDue: starving.clocks[fair].Passes(a.timeout(fair)), GuaranteedDue: starving.clocks[guaranteed].Passes(a.timeout(guaranteed)),
		FairShareDeclined: starving.clocks[fair].Declined, GuaranteedDeclined: starving.clocks[guaranteed].Declined,
		Claiming: starving.claiming(),
	}
	is.FairShareOwed, is.FairShareClaims = s.claimOf(a, fair, demand)
	is.GuaranteedOwed, is.GuaranteedClaims = s.claimOf(a, guaranteed, demand)
	is.Owed = is.FairShareOwed.Max(is.GuaranteedOwed)
	return is
}

// claimOf says whether a claim is open, and what it still lacks: of resources that it lacks.
func (s *shares) claimOf(a *queueAccount, k preemption.Kind, demand resource.List) (owed resource.List, open bool) {
	if a.starving.clocks[k].Claimed == 0 {
		return resource.List{}, false
	}
	lacks := missing(a.lessHeld(s.targetOf(a, k, demand)), a.usage.List())
	var some []resource.Entry
	for i := range lacks.Len() {
		if e := lacks.At(i); e.Value > 0 {
			some = append(some, e)
		}
	}
	return resource.OfSorted(some), true
}

// missing is what a usage lacks of each resource that the target names.
func missing(target, usage resource.List) resource.List {
	entries := make([]resource.Entry, target.Len())
	for i := range entries {
		e := target.At(i)
		entries[i] = resource.Entry{Name: e.Name, Value: max(resource.SatSub(e.Value, usage.Get(e.Name)), 0)}
	}
	return resource.OfSorted(entries)
}
