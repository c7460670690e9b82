// Package podcondition shows on a pod why it waits. If a rule of ours blocks it, the condition fairway.dev/Queued and an
// event say so. If it waits for room within its limits, PodScheduled=False with reason Unschedulable says so; cluster
// autoscalers act on that.
//
// In: the condition updates of the ledger, and its backlog. Out: patches of these two conditions at one bounded rate,
// and one event per change of the first. If a pod does not show what it should, the next look finds that again. Only the
// leader may run it.
//
// The package decides nothing. It must never write PodScheduled on a pod that is bound, in kube-scheduler's hands, or
// blocked by a rule (except to remove it): no new node lifts a rule.
package podcondition
