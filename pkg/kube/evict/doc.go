// Package evict carries out what preemption decided: it announces evictions, evicts pods through the Eviction API when
// they are due, tells the pods that stay after all, and writes the nominations of claimants.
//
// In: the pending actions of the ledger. Out: conditions, evictions, nominations and events, at a bounded rate; and the
// result of each, to the ledger. It decides nothing. An action that fails is due again. A disruption budget that
// refuses, or an API server that fails, delays only that pod. Only the leader may run it. pkg/ledger/evictions.go lists the
// steps from a plan to the start of its claimant.
package evict
