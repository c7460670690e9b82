// Package evict carries out what preemption decided: it shows pods that they are to go, evicts them through the Eviction API when their time has
// come, tells those that stay after all, and writes for whom the room is.
//
// In: the pending actions of the ledger. Out: conditions, evictions, nominations and events, at a bounded rate; and to the ledger, how each went. It
// decides nothing: it may only fail, and says so. What was not done comes again. A disruption budget that refuses, and an API server that
// fails, hold up that pod alone. Only the process that leads may run it.
package evict
