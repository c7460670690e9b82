// Package podcondition shows on a pod why it waits: that a rule of ours holds it, in its condition fairway.dev/Queued and in an event; that it
// waits for room within its limits, in PodScheduled=False with reason Unschedulable, which cluster autoscalers act on.
//
// In: what the ledger wants told, and its backlog. Out: patches of these two conditions, at one bounded rate, and one event per change of the
// first. What a pod should show and does not is found again at the next look. Only the process that leads may run it.
//
// The package decides nothing. It must never write PodScheduled on a pod that is bound, in kube-scheduler's hands, or held by a rule (except
// to take it away): no new node lifts a rule.
package podcondition
