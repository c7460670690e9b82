// Package convert translates between API objects and the values of the core, in both directions.
//
// In: Queues, pods and nodes as the API server hands them out. Out: declarations, resource lists, application names and node facts; and, for
// the status of a Queue, resource lists as Kubernetes spells them. Every function is pure: no client, no clock, no state.
//
// A bad object gives an error that names the object and the field, or, where a pod is concerned, a value that a rule will answer to; never a
// panic. Amounts too large for 64 bits saturate. The package takes no decision: whether a request is granted, or a queue exists, is for the
// rules.
package convert
