package plan

import "strings"

// NotReservable is why a property about reservations of a queue says nothing.
const NotReservable = "nothing can be reserved in the queue"

// Reasons about lists of users. To administer a queue is more than to administer its reservations, so nobody gets that from a list for these.
const (
	AdministersReservations = "anyone who administers a queue may change the reservations of others there; grant the verb administer where that is meant"
	ListsReservations       = "anyone who may get and list Reservations in a namespace sees those in it"
)

// Reservable says whom YARN lets reserve in a queue that states no list.
func (n *Note) Reservable(stated bool) {
	if !stated {
		n.Remark("in YARN everybody may reserve there, since no list is stated; grant the verb reserve to those who may")
	}
}

// className is the last part of the name of a class.
func className(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, ".")+1:]
}

// ReservationAgent says what becomes of the class that places reservations.
func (n *Note) ReservationAgent() {
	if className(n.Value) == "GreedyReservationAgent" {
		n.Skip("reservations are placed in this way")
	} else {
		n.Approximate("reservations are placed as GreedyReservationAgent places them: as late as possible before the deadline")
	}
}

// ReservationPlanner says what becomes of the class that looks after plans when there is less to reserve.
func (n *Note) ReservationPlanner() {
	if className(n.Value) == "SimpleCapacityReplanner" {
		n.Skip("if there is less to reserve, the last accepted go first, as with this one")
	} else {
		n.Lose("if there is less to reserve, the last accepted go first")
	}
}

// ReservationPolicy says what becomes of the class that bounds what may be reserved.
func (n *Note) ReservationPolicy() {
	switch className(n.Value) {
	case "CapacityOverTimePolicy":
		n.Skip("averages over a window are bounded, as with this one")
	case "NoOverCommitPolicy":
		n.Skip("nothing bounds averages below 100%%, as with this one")
	default:
		n.Lose("what may be reserved is bounded at each instant and on average, as by CapacityOverTimePolicy")
	}
}

// BoundsAverages reports whether a class looks at averages and at shares; NoOverCommitPolicy looks at neither.
func BoundsAverages(class string) bool { return className(class) != "NoOverCommitPolicy" }
