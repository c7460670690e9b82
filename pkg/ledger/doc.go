// Package ledger owns all mutable scheduling state: queues, applications, allocations, order books and the window, behind one
// mutex. In: observations (pods, nodes, Queues, as values) and the steps of a pod's way through kube-scheduler. Out: the next
// pod to release, verdicts with reasons, and immutable snapshots.
//
// A pod is charged to its application, its leaf queue and every ancestor when it is released, and exactly once: every change of
// a pod goes through one function (set), which takes back what the old state put on the accounts and puts on what the new state asks for.
// What follows from a change waits in a queue and is drained before the call returns (see effects). Calls go down: Ledger takes the lock, and what it
// calls is on the floors below (see plans).
//
// The package reads no clock (time is an argument, in nanoseconds since the Unix epoch) and logs nothing. While it holds its lock, it calls nothing
// but two functions that it was given and that must not call it back: Pod.Eligible, which is pure, and Options.Clock, which measures waits
// for the lock. For all else the caller acts on the values returned. Rules stand in pkg/core; here stands what they are asked about.
package ledger
