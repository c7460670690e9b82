// Package feed carries watches into the ledger: pods (through the turnstile), nodes, Queues, the
// PlacementPolicy, pod groups and owners of pods. In: API objects.
// Out: observations.
//
// Objects are converted one by one, so one that cannot be decoded is reported and blocks no other. The package keeps no scheduling
// state; what it remembers is only which labels matter to filters (see
// Classes), what nodes need not list (see DeviceClasses) and which owners say they have one pod (see Owners).
package feed
