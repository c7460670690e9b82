package application

import "fmt"

// Role is a pod's part in its application.
type Role uint8

// The roles. Most pods have the zero value.
const (
	// None: no role is recognised. Single pods, Deployments and plain Jobs have no role; no rule guesses one
	// from names or order.
	None Role = iota
	// Driver pods start their application and ask for its other pods (YARN's application master). They are the
	// first of their application to be released and the last to be preempted.
	Driver
	// Executor pods do the work a driver asked for.
	Executor
)

var roleNames = [...]string{None: "none", Driver: "driver", Executor: "executor"}

// String returns the role as users spell it.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// ParseRole returns the role with this name: "driver" or "executor". It returns false for any other name.
func ParseRole(s string) (Role, bool) {
	switch s {
	case roleNames[Driver]:
		return Driver, true
	case roleNames[Executor]:
		return Executor, true
	}
	return None, false
}
