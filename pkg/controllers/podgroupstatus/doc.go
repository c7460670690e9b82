// Package podgroupstatus writes the status of scheduler-plugins' PodGroups.
//
// In: the gangs of the ledger, the PodGroups as an informer shows them, and, by an informer of its own, what phase their pods are in: ended
// pods are in no ledger. Out: server-side applies of podgroups/status, only where they say something new, at a bounded rate, the oldest change
// first. Only the process that leads may run it.
//
// The phase is also what a restart needs: whether a group had all its pods once (see convert.WasWhole). The package must write to no group
// that none of our pods is in, since another scheduler may do so, and never stop over one group. Kubernetes' own pod groups it leaves alone.
package podgroupstatus
