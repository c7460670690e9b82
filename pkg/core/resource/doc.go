// Package resource holds amounts of one resource, of a set of resources, and exact running sums of such sets.
//
// Input and output are plain integers: cpu in milli-cores, memory and storage in bytes, everything else in
// units. A List is an immutable value. Only a Sum changes in place, because usage along a queue's path is
// updated with every pod. Amounts saturate and never wrap: an absurd number in a configuration must not turn
// into a small one.
//
// The package must not know Kubernetes types, and it does not round: the package that divides (fairshare)
// decides which way.
package resource
