package application

import "fmt"

// State is how far an application has come. It follows from the application's pods, its queue and its Progress: in a StateAware queue,
// startingTimeout and, after a restart, the status of the Queue may end Starting (moves.markStarted in pkg/ledger/gate.go).
type State uint8

// The states. YuniKorn's New is part of Accepted, because an application exists from its first pod on. There
// is no state after Completing, because an application ends with its last pod.
const (
	// Accepted: none of its pods holds resources.
	Accepted State = iota
	// Starting, in a queue that is not StateAware: its pods hold resources while its driver waits. In a
	// StateAware queue: its first pods hold resources, and it has not shown yet that more of its pods come
	// to run. progress.go says when it leaves this state.
	Starting
	// Running: it holds resources and is not starting.
	Running
	// Completing: all its remaining pods are being deleted.
	Completing
)

var stateNames = [...]string{Accepted: "Accepted", Starting: "Starting", Running: "Running", Completing: "Completing"}

// String returns the state as users see it.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Pods counts the pods of an application by their state.
type Pods struct {
	Waiting int32 // hold no resources yet
	Holding int32 // hold resources, with a node or on the way to one
	Leaving int32 // hold resources and are being deleted
	Bound   int32 // part of Holding: have a node
	// BoundDrivers and BoundExecutors are the part of Bound with that role.
	BoundDrivers, BoundExecutors int32
	Drivers                      int32 // known, in any state
	// HoldingDrivers and WaitingDrivers are the part of Holding and of Waiting that are drivers.
	HoldingDrivers, WaitingDrivers int32
}

// WaitsForDriver reports whether the pods of the application that are no drivers wait: a driver of it waits, for whatever reason, and none
// holds resources. A driver that is being deleted starts nothing any more, so it does not count. An application of which no driver exists
// waits for none.
func (p Pods) WaitsForDriver() bool { return p.WaitingDrivers > 0 && p.HoldingDrivers == 0 }

// Progresses reports whether more than the application's first pod comes to run: a pod that is no driver has a
// node, or, if no driver is known, a second pod has one.
func (p Pods) Progresses() bool {
	if p.Drivers > 0 {
		return p.Bound > p.BoundDrivers
	}
	return p.BoundExecutors > 0 || p.Bound > 1
}

// Start is what decides, besides its pods, whether an application is starting.
type Start struct {
	Gated   bool // its queue is StateAware
	Single  bool // it is known to have only one pod
	Started bool // it left Starting and has held resources ever since
}

// StateOf returns the state of an application.
func StateOf(p Pods, s Start) State {
	switch {
	case p.Holding == 0 && p.Waiting == 0 && p.Leaving > 0:
		return Completing
	case p.Holding == 0 && (p.Leaving == 0 || s.Gated):
		// Only an application that holds resources has passed the gate. Pods that are being deleted, such as
		// an evicted driver, start nothing any more.
		return Accepted
	case !s.Gated && p.WaitsForDriver() && p.Holding > 0:
		return Starting
	case !s.Gated || s.Started || s.Single || p.Progresses():
		return Running
	}
	return Starting
}
