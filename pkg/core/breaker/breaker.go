// Package breaker bounds how many pods of one class are tried at a time, so that pods that fit no node cost few attempts.
//
// A class is a set of pods that every filter judges alike: one failed attempt speaks for all of them. Input are what becomes of the attempts
// and the time; output is whether a pod of the class may be released. The package knows neither pods nor nodes.
package breaker

import "github.com/fairway-scheduler/fairway/pkg/core/backoff"

// RoomlessAfter is how long a class that has failed waits for room before one of its pods is tried without any, as kube-scheduler retries its
// unschedulable pods after five minutes. What the arithmetic may have missed is found by that attempt.
const RoomlessAfter int64 = 5 * 60 * 1_000_000_000

// Breaker is how the attempts of a class have gone. It is in one of three states:
//
//   - slow start: at most maxInFlight pods are on their way. That starts at 1 and doubles whenever one of them is reserved, so a hopeless class
//     costs one attempt and a class that fits is soon released at full speed.
//   - parked: a pod fitted no node. It stays in kube-scheduler as the probe, and no other is released until an event that may help it.
//   - backing off: an attempt failed with an error that has nothing to do with room. Time ends it.
//
// Apart from that a class that has failed needs room: it is released only while a node is known to have some.
type Breaker struct {
	parked      bool
	failed      bool  // an attempt failed, and a pod of the class shows why
	failures    int   // errors since a pod was reserved
	retryAt     int64 // when the back-off ends
	lastRelease int64
	inFlight    int // released and not yet reserved
	maxInFlight int
}

// New is the breaker of a class that was never tried.
func New() Breaker { return Breaker{maxInFlight: 1} }

// MayRelease reports whether the class is neither parked nor backing off.
func (b *Breaker) MayRelease(now int64) bool { return !b.parked && b.retryAt <= now }

// Parked reports whether the class waits for an event that may help its probe.
func (b *Breaker) Parked() bool { return b.parked }

// Full reports whether the class waits for what becomes of its released pods.
func (b *Breaker) Full() bool { return b.inFlight >= b.maxInFlight }

// InFlight is how many pods of the class are released and not yet reserved.
func (b *Breaker) InFlight() int { return b.inFlight }

// Nodes is what of the cluster decides whether a pod may be tried without a node that is known to have room.
type Nodes struct {
	Extenders bool // they may know of other room
	Held      bool // some are held for a pod group: the only ones with room may be those
}

// MayTryWithoutRoom reports whether a pod of the class may be released although no node is known to have room for it. A class that has not failed
// may: only an attempt shows users and autoscalers why its pods wait.
func (b *Breaker) MayTryWithoutRoom(n Nodes, now int64) bool {
	switch {
	case n.Extenders:
		return true
	case n.Held:
		return false
	}
	return !b.failed || now-b.lastRelease >= RoomlessAfter
}

// NeedsRoom reports whether the class waits for nothing but a node with room, in case there is none.
func (b *Breaker) NeedsRoom(now int64) bool { return b.failed && b.MayRelease(now) }

// NextTry is the first moment after now at which time alone may let a pod be released; 0: never. room: a node is known to have some.
func (b *Breaker) NextTry(room bool, now int64) int64 {
	var at int64
	if b.retryAt > now {
		at = b.retryAt
	}
	if roomless := b.lastRelease + RoomlessAfter; b.failed && !room && roomless > now && (at == 0 || roomless < at) {
		at = roomless
	}
	return at
}

// Release notes that a pod of the class is released now.
func (b *Breaker) Release(now int64) { b.lastRelease = now }

// Enter counts a pod as released, Leave counts it no more: it is reserved or back.
func (b *Breaker) Enter() { b.inFlight++ }

// Leave is the opposite of Enter.
func (b *Breaker) Leave() { b.inFlight-- }

// Reserve notes that a pod found a node: twice as many may be on their way, window at most.
func (b *Breaker) Reserve(window int) {
	b.failures = 0
	b.maxInFlight = min(2*b.maxInFlight, window)
}

// ReserveByPriority notes that a pod found a node since it made room there by its priority. The next pod may do the same, which only an attempt
// shows: it is tried without room, alone.
func (b *Breaker) ReserveByPriority() {
	b.failures, b.failed, b.maxInFlight = 0, false, 1
}

// Park notes that a pod fitted no node. It is the probe from now on.
func (b *Breaker) Park() { b.parked, b.failed, b.maxInFlight = true, true, 1 }

// Reopen notes an event that may help the probe, or that the probe has left the class: one pod is tried again.
func (b *Breaker) Reopen() { b.parked, b.retryAt, b.maxInFlight = false, 0, 1 }

// Error notes that an attempt failed before a node was chosen, and not for lack of room.
func (b *Breaker) Error(now int64) {
	b.failures++
	b.failed, b.maxInFlight = true, 1
	b.retryAt = now + backoff.After(b.failures, backoff.Last)
}

// EndBackOff notes that a node came or changed, which is what most errors lacked.
func (b *Breaker) EndBackOff() { b.retryAt = 0 }

// ForgetFailure notes that the pod that shows why the class waits has left it. Another is to be tried, and to show it.
func (b *Breaker) ForgetFailure() { b.failed = false }
