// Package demo shows fair sharing on a real control plane: the well-known example of a cluster with a queue that is always busy and one
// that is busy sometimes, in which three quarters of the cluster move from the one to the other as pods end, and not a pod more.
//
// In: where the source tree is, whether to end by itself, and a terminal or a file to write to. Out: text; an error says that the shares
// did not arrive, or what broke. Everything runs on loopback and in a temporary directory, and all of it ends with Run.
//
// What is shown is what the API says: Queue.status and pods. The package must not import the scheduler or compute a share, else the demo
// would agree with itself instead of with the cluster.
package demo
