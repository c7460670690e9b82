// Package podcondition shows on a pod that a rule of ours holds it, and why: in its condition fairway.dev/Queued and in an event.
//
// In: what the ledger wants told. Out: patches of that one condition, at a bounded rate, and one event per change. What cannot be written
// goes back to the ledger. Only the process that leads may run it.
//
// The package decides nothing. It must never write PodScheduled: cluster autoscalers act on that one, and no new node lifts a rule.
package podcondition
