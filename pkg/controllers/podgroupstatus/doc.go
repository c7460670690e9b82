// Package podgroupstatus writes the status of scheduler-plugins' PodGroups.
//
// In: the gangs of the ledger, the PodGroups as an informer shows them, and the phases of their pods from an informer of
// its own (the ledger has no pods that ended). Out: server-side applies of podgroups/status, only if they say something
// new, at a bounded rate, the oldest change first. Only the leader may run it.
//
// A restart also needs the phase: it tells whether a group was whole (see convert.WasWhole). The package must not write
// to a group that has none of our pods, since another scheduler may do so, and must never stop over one group. It does
// not write Kubernetes' own pod groups.
package podgroupstatus
