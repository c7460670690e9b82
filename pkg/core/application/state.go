package application

import "fmt"

// State is how far an application has come. It follows from the application's pods alone: nobody sets it.
type State uint8

// The states. YuniKorn: New and Accepted are one here, since an application exists with its first pod, and so is what comes after
// Completing, since it ends with its last.
const (
	// Accepted: no pod of it holds anything.
	Accepted State = iota
	// Starting: in a StateAware queue, its first pods hold something, and the application has not shown yet that it gets on.
	Starting
	// Running: it holds something, and is not starting.
	Running
	// Completing: all that it still has is being deleted.
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

// Pods is what the pods of an application tell about it.
type Pods struct {
	Waiting int32 // hold nothing yet
	Holding int32 // hold resources, with a node or on the way to one
	Leaving int32 // hold resources, and are being deleted
	Bound   int32 // of those Holding, with a node
	// BoundDrivers and BoundExecutors are those of Bound with that role.
	BoundDrivers, BoundExecutors int32
	Drivers                      int32 // known, in whatever state
}

// GetsOn reports whether the application has shown that more than its first pod comes to run: its first pod that is no driver has a
// node, or its second one where no driver is known.
func (p Pods) GetsOn() bool {
	if p.Drivers > 0 {
		return p.Bound > p.BoundDrivers
	}
	return p.BoundExecutors > 0 || p.Bound > 1
}

// Start is what decides, besides its pods, whether an application is starting.
type Start struct {
	Gated   bool // its queue is StateAware
	Single  bool // it is known to be one pod only
	Started bool // it has left Starting, since it held nothing last
}

// StateOf returns the state of an application.
func StateOf(p Pods, s Start) State {
	switch {
	case p.Holding == 0 && p.Waiting == 0 && p.Leaving > 0:
		return Completing
	case p.Holding == 0 && (p.Leaving == 0 || s.Gated):
		// Through the gate comes who holds something. What is being deleted, such as a driver that was evicted, starts nothing any more.
		return Accepted
	case !s.Gated || s.Single || s.Started || p.GetsOn():
		return Running
	}
	return Starting
}
