package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Gang is a pod group as declared: pods that start together or not at all.
type Gang struct {
	// Key names the group over the cluster, and is what Pod.Gang says: "<namespace>/<name>".
	Key string
	// MinMember is the number of pods with which the group starts. Up to 1, its pods are pods like any others.
	MinMember int
	// MinResources is what those ask for together at least, where that is stated.
	MinResources resource.List
	// Timeout is how long the places of a part are kept while the others get theirs, in nanoseconds; 0 for the default.
	Timeout int64
	// Whole: as many pods as it takes had their places once. From then on its pods are pods like any others, until none is left.
	Whole bool
}

// GangState is what a declared pod group has and waits for. Pods that ended are in no count.
type GangState struct {
	Gang
	Pods     int   // that exist and are not being deleted
	Reserved int   // of those with a place, those that are not bound
	Bound    int   // of those with a place, those that are bound
	Since    int64 // when places were first taken for it, unix nanoseconds; 0: not yet
}

// ObserveGang takes in a pod group as declared.
func (l *Ledger) ObserveGang(g Gang) {
}

// ForgetGang takes out a pod group that is not declared any more.
func (l *Ledger) ForgetGang(key string) {
}

// Gangs returns the declared pod groups in the order of their keys.
func (l *Ledger) Gangs() []GangState {
	return nil
}
