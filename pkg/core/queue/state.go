package queue

import (
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// A stopped queue takes no new applications, nor does any queue below it. What it has goes on until it ends. YARN
// CapacityScheduler: state RUNNING, STOPPED and DRAINING.
//
//   - An application goes on if it was submitted before the stop, or if one of its pods holds room (GoesOn).
//   - A queue that states nothing follows the one above. One that states Running below a stopped queue is stopped all
//     the same, and that is a problem of it (ruleStates). One that states Stopped stays stopped when those above run.
//   - A queue stays stopped since the moment at which it ceased to take applications, whichever queues state that
//     meanwhile (StoppedSince).

// State is whether a queue takes new applications.
type State uint8

// The states. A queue states one of the first three, and shows one of the last three.
const (
	// StateUnstated follows the queue above.
	StateUnstated State = iota
	StateRunning
	StateStopped
	// StateDraining is a stopped queue with applications that go on.
	StateDraining
)

var stateNames = [...]string{"", "Running", "Stopped", "Draining"}

// String returns the name of the state as the Queue object spells it.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// ParseState returns the state that a queue states. An empty name is StateUnstated.
func ParseState(name string) (State, error) {
	for s := StateUnstated; s <= StateStopped; s++ {
		if name == s.String() {
			return s, nil
		}
	}
	return 0, fmt.Errorf("state %q is not one of Running, Stopped", name)
}

// StateOf returns what a queue shows, from whether it is stopped and how many applications go on in it and below it.
func StateOf(stopped bool, goingOn int) State {
	switch {
	case !stopped:
		return StateRunning
	case goingOn > 0:
		return StateDraining
	}
	return StateStopped
}

// GoesOn reports whether an application may run in a queue that has been stopped since then; 0: it is not stopped.
// Times are unix nanoseconds. holds: a pod of the application holds room.
//
// Creation times have whole seconds, and so has the time of the stop. What was created in that very second waits, so
// that nothing starts that is created once the stop is known.
func GoesOn(submitted, since int64, holds bool) bool {
	return since == 0 || holds || submitted < since
}

// StoppedSince returns since when a queue has been stopped, in whole seconds; 0 if it is not stopped. before is what
// that was until now, and above what it is of the queue above.
func (n *Node) StoppedSince(before, above, now int64) int64 {
	const second = 1_000_000_000
	switch {
	case n.StoppedBy == "":
		return 0
	case before != 0:
		return before
	case above != 0: // a queue that is new below a stopped one
		return above
	}
	return max(now-now%second, second)
}

// Stopped returns the queues that state Stopped below none that does, in path order: with all below them, these are
// all queues that are stopped.
func (t Tree) Stopped() (top []Path) {
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.StoppedBy == string(n.Path) {
			top = append(top, n.Path)
		}
	}
	return top
}

// ruleStates is rule 9: which queues are stopped, and by which queues.
func (b *builder) ruleStates() {
	for i := range b.tree.Nodes { // parents come before children
		n := &b.tree.Nodes[i]
		above := ""
		if n.Parent >= 0 {
			above = b.tree.Nodes[n.Parent].StoppedBy
		}
		n.StoppedBy = above
		switch {
		case n.Spec.State == StateStopped:
			n.StoppedBy = strings.TrimPrefix(above+" "+string(n.Path), " ")
		case n.Spec.State == StateRunning && above != "":
			b.report(n.Path, reason.Reason{Code: reason.RunningBelowStopped, Details: reason.Stop{By: above}})
		}
	}
}
