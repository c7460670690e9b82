// Package placementstatus writes the status of the PlacementPolicy.
//
// In: the object as an informer shows it; a cluster may lack the kind. Out: server-side applies of placementpolicies/status, only if they
// say something new. Only the leader may run it.
//
// The status is the memory of the last policy that could be used: which policy is in force follows from the object alone
// (convert.PlacementPolicy), so that the scheduler, a new leader and the command line agree. The package must not decide that itself, and
// places no pods.
package placementstatus
