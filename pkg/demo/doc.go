// Package demo shows fair sharing on a real control plane: the well-known example of one queue that is always
// busy and one that is busy sometimes. Three quarters of the cluster move from the first to the second as pods
// end, and not a pod more. Other shows are a storm of drivers, preemption, and what the users of two teams may do.
//
// Input is where the source tree is, whether to end by itself, and a terminal or a file to write to. Output is
// text; an error says that the shares did not arrive, or what broke. Everything runs on loopback and in a
// temporary directory, and ends with Run.
//
// The demo shows what the API shows: Queue.status and pods. The package must not import the scheduler or
// compute a share, or the demo would only confirm itself.
package demo
