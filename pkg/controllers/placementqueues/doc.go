// Package placementqueues creates the Queues that the placement policy gives to pods and that do not exist yet, and deletes those of them that are not
// needed any more.
//
// In: what the ledger says is to be done, and the Queues as an informer shows them. Out: creations and deletions of Queues, at a bounded rate. Only the
// process that leads may run it.
//
// The package decides nothing but the first spec of a Queue. It never changes a Queue that exists, so a Queue of a user that came first under a name stays
// as it is; and it deletes only the very version of a Queue that it has seen, with the label that says that placement created it.
package placementqueues
