// Package simulator runs the real ledger and the real dispatcher against a model of kube-scheduler, of the API server's watches and of
// users, on a virtual clock.
//
// In: a seed and options. Out: the order in which pods were reserved, and sentences that say what went wrong, none in a sound run. The
// same seed gives the same run, step for step, on every machine.
//
// What it models is what can go wrong around the ledger: watches that lag, each kind of object for itself; attempts that take time
// while the world moves on; binds that fail, are late, or succeed although they were said to fail; pods, queues and nodes that come,
// change and go at any moment. It keeps its own books in its own arithmetic, from the calls it sees and not from the ledger's state:
// a simulator that asked the ledger what is right would agree with any mistake in it.
//
// The package must not import Kubernetes, start goroutines, read a clock or use randomness without a seed, and it corrects nothing.
package simulator
