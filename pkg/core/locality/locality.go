// Package locality is delay scheduling: a pod that prefers some nodes declines others for a while. The package says which nodes it accepts.
//
// Input is how many opportunities to start elsewhere the application of the pod has missed, the delays in force, and whether the pod
// may ever use one of the nodes, or racks, that it prefers. Output is the level that it accepts, and the count after an opportunity.
// The package knows neither pods nor nodes, and no time: only opportunities count.
package locality

import "math"

// Level is which nodes a pod accepts. Each level includes those before it.
type Level uint8

const (
	// Node is only the nodes that the pod prefers.
	Node Level = iota
	// Rack is also other nodes of the racks that it prefers.
	Rack
	// Any is all nodes.
	Any
)

var levels = [...]string{"Node", "Rack", "Any"}

func (l Level) String() string { return levels[l] }

// Delay is for how many missed opportunities a pod waits for its nodes, and then for its racks. Less than 1: it does not wait for them.
type Delay struct{ Node, Rack int32 }

// IsOn reports whether any pod waits.
func (d Delay) IsOn() bool { return d.Node > 0 || d.Rack > 0 }

// Within is the delay in a cluster of so many nodes: at most that many opportunities together.
func (d Delay) Within(nodes int) Delay {
	n := int32(min(nodes, math.MaxInt32))
	d.Node = min(max(d.Node, 0), n)
	d.Rack = min(max(d.Rack, 0), n-d.Node)
	return d
}

// Names says whether the pod may ever use a node that it prefers, and a node of a rack that it prefers. A level that it cannot use is not waited for.
type Names struct{ Nodes, Racks bool }

// Missed is how many opportunities an application has missed in a row.
type Missed int32

// Accepted is the level that a pod of an application accepts.
func (m Missed) Accepted(d Delay, has Names) Level {
	level, _ := m.until(d, has)
	return level
}

// Until is how many missed opportunities end the level that the pod accepts; 0 for Any.
func (m Missed) Until(d Delay, has Names) int32 {
	_, until := m.until(d, has)
	return until
}

func (m Missed) until(d Delay, has Names) (Level, int32) {
	var until int32
	if has.Nodes {
		if until = max(d.Node, 0); int32(m) < until {
			return Node, until
		}
	}
	if has.Racks {
		if until += max(d.Rack, 0); int32(m) < until {
			return Rack, until
		}
	}
	return Any, 0
}

// Opportunity is what became of a moment at which the application was first in order.
type Opportunity uint8

const (
	// Declined means that a pod of another application, which came after it, took room that the application declined.
	Declined Opportunity = iota
	// Preferred means that one of its pods took room on a node, or in a rack, that the pod prefers.
	Preferred
	// Elsewhere means that one of its pods took other room.
	Elsewhere
)

// Next is the count after an opportunity. Room on a preferred node begins it again. Other room leaves it as it is: an application that has waited in vain
// does not wait again for each of its pods.
func (m Missed) Next(o Opportunity) Missed {
	switch o {
	case Declined:
		if m < math.MaxInt32 {
			m++
		}
	case Preferred:
		return 0
	case Elsewhere:
	}
	return m
}
