package queuedeletion

import "github.com/fairway-scheduler/fairway/pkg/ledger"

// action is what to do with the finalizer of a Queue.
type action uint8

// The actions.
const (
	leave action = iota
	put
	take
)

// object is a Queue as the API server has it.
type object struct {
	Deleting bool
	Held     bool // carries our finalizer
}

// decide is the rule. left is what the ledger says about the Queue. It is nil while the ledger does not know that the
// Queue is being deleted: until then more pods may enter, so an empty Queue means nothing.
//
// A Queue that cannot be read is treated like any other: pods may run in it under its last good settings, and its spec
// may be corrected. So is root: its children keep it, and its settings with it.
func decide(q object, left *ledger.Leaving) action {
	switch {
	case !q.Deleting && !q.Held:
		return put
	case q.Deleting && q.Held && left != nil && left.Pods == 0 && left.Children == 0:
		return take
	}
	return leave // a Queue that is being deleted gets no finalizer any more: the API server refuses that
}
