package ledger

import "sync"

// lock is the ledger's one lock, which measures how long its callers wait for it. While it is free that costs nothing: only a caller
// that has to wait reads the clock.
type lock struct {
	sync.Mutex
	clock func() int64 // monotonic, in nanoseconds; nil: nothing is measured

	// Guarded by the mutex.
	waits uint64
	nanos int64
}

// Lock shadows the mutex's own.
func (k *lock) Lock() {
	if !k.TryLock() {
		k.wait()
	}
}

func (k *lock) wait() {
	if k.clock == nil {
		k.Mutex.Lock()
		return
	}
	began := k.clock()
	k.Mutex.Lock()
	k.waits++
	k.nanos += max(k.clock()-began, 0)
}

// LockWaits is how often a caller had to wait for the ledger's lock, and for how many nanoseconds in all. Without Options.Clock it is 0.
func (l *Ledger) LockWaits() (n uint64, ns int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.waits, l.mu.nanos
}
