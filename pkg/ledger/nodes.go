package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// Node is what the ledger needs to know of a node.
type Node struct {
	Name        string
	Allocatable resource.List
	// Usable: Ready and not cordoned.
	Usable bool
	// Pods is how many pods the node takes, 0 for any number.
	Pods int
	// Rack is the rack, or whatever else the configuration calls one, that the node is in; "" for none.
	Rack string
	// Facts is what Pod.Eligible looks at. The same value (by ==) says that nothing of it changed.
	Facts any
}

// node is a node and what sits on it. One that no longer exists stays while pods name it.
type node struct {
	Node
	known   bool
	ours    resource.Sum
	foreign resource.Sum
	pods    int           // bound, ours and foreign
	counted resource.List // its part of the cluster total

	// used is what takes room: foreign pods, and pods of ours that are released, reserved or bound here.
	used                 resource.Sum
	assumed, foreignPods int
	index                int    // in the list of nodes
	on                   roster // that run here, or that are to
	heldFor              *waiter
	heldSince            int64       // of a node that is held for large pods
	copied               *copiedNode // see preemption.go; nil: it is to be copied again
	changes              uint64
}

// changed notes that the node has changed: what it offers, what is on it, or what is to be evicted from it. Copies of it are out of date.
func (e *node) changed() {
	e.copied = nil
	e.changes++
	if e.heldFor != nil {
		e.heldFor.moved = true
	}
}

// ObserveNode takes in the newest state of a node.
func (l *Ledger) ObserveNode(n Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, totalMoved := l.nodes.observe(n)
	l.changed(totalMoved)
	if changed {
		l.classes.endBackOffs()
	}
}

// ForgetNode takes a node away; pods that are still bound to it count until they are gone.
func (l *Ledger) ForgetNode(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed(l.nodes.forget(name))
}

// ObserveUnlisted takes in which resources pods may get on a node that does not list them, or that filters pass over: names, and
// groups, which are all that stands before the slash of a name. The set is not edited afterwards.
func (l *Ledger) ObserveUnlisted(names map[resource.Name]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes.observeUnlisted(names)
}
