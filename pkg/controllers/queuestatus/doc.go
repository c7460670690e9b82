// Package queuestatus writes the status of every Queue, and makes the Queue root where there is none.
//
// In: snapshots of the ledger, the generations of Queues as the ledger has taken them in, and the Queues as an informer shows them. Out:
// server-side applies of queues/status and the creation of root. A status is written only where it says something new, at a bounded
// rate, the oldest change first. Only the process that leads may run it.
//
// The package decides nothing: every word of a status is the ledger's. It must never write a spec, and never stop over one Queue.
package queuestatus
