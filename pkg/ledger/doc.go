// Package ledger owns all mutable scheduling state: queues, applications, allocations, order books and the window, behind one
// mutex. In: observations (pods, nodes, Queues, as values) and the steps of a pod's way through kube-scheduler. Out: the next
// pod to release, verdicts with reasons, and immutable snapshots.
//
// A pod is charged to its application, its leaf queue and every ancestor when it is released, and exactly once: every change of
// a pod goes through one function, which takes back what the old state put on the accounts and puts on what the new state asks for.
//
// The package reads no clock (time is an argument, in nanoseconds since the Unix epoch), logs nothing, and never calls out while
// it holds its lock: whoever asks acts on the values returned.
package ledger
