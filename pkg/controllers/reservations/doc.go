// Package reservations keeps what Reservations promise: it writes their status, and the Queues in which their pods run.
//
// In: Reservations and Queues as informers show them, what the ledger says the reservable queues are entitled to, and the time. Out: the status of
// Reservations, with events; Queues below the reservable ones, with the guarantees of the moment; at the end of a reservation, another queue for its pods, or
// their eviction. Only the process that leads may run it.
//
// What is accepted and who has what at a moment is decided by pkg/reservations. The package does not touch the ledger: a Queue that it has written
// counts once the informer shows it, as any other. It changes only Queues with its label.
package reservations
