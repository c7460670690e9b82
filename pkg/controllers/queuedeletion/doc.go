// Package queuedeletion keeps a deleted Queue until nothing is left in it: it puts a finalizer on every Queue and takes it off one that is
// being deleted when no pod is charged to it or below it and no Queue is below it.
//
// In: the Queues as an informer shows them, and what the ledger says about those that are being deleted. Out: patches of
// metadata.finalizers, at a bounded rate. Only the process that leads may run it.
//
// The package touches nothing but its own finalizer, and deletes nothing itself.
package queuedeletion
