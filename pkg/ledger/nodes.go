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
	index                int       // in the ledger's list of nodes
	on                   []*record // that run here, or that are to: in no order that means anything
	heldFor              *group
	copied               *copiedNode // see preemption.go; nil: it is to be copied again
	changes              uint64
}

// changed notes that what is there, or what becomes of it, is not what it was.
func (e *node) changed() {
	e.copied = nil
	e.changes++
}

// ObserveNode takes in the newest state of a node.
func (l *Ledger) ObserveNode(n Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.nodes.get(n.Name)
	if e.known && e.Usable == n.Usable && e.Allocatable.Equal(n.Allocatable) && e.Pods == n.Pods && e.Facts == n.Facts {
		return
	}
	if !e.known {
		l.nodes.add(e)
	}
	e.Node, e.known = n, true
	e.changed()
	e.recount(l)
	l.gained(e)
	l.classes.endBackOffs()
}

// ForgetNode takes a node away; pods that are still bound to it count until they are gone.
func (l *Ledger) ForgetNode(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.nodes.get(name)
	if e.known {
		l.unlist(e)
	}
	e.Node, e.known = Node{Name: name}, false
	e.changed()
	e.recount(l)
	e.dropIfEmpty(l)
}

func (l *Ledger) observeForeign(p Pod) {
	if old, ok := l.nodes.foreign[p.UID]; ok {
		if old.Node == p.Node && old.Request.Equal(p.Request) {
			return
		}
		l.nodes.get(old.Node).add(l, old.Request, -1, true)
		delete(l.nodes.foreign, p.UID)
	}
	if p.Node != "" {
		l.nodes.foreign[p.UID] = p
		l.nodes.get(p.Node).add(l, p.Request, 1, true)
	}
}

// add puts a pod on the node (sign 1) or takes it off (sign -1).
func (e *node) add(l *Ledger, request resource.List, sign int, foreign bool) {
	e.pods += sign
	e.changed()
	if foreign {
		addSigned(&e.foreign, request, sign)
		addSigned(&e.used, request, sign)
		e.foreignPods += sign
		if sign < 0 {
			l.gained(e)
		}
	} else {
		addSigned(&e.ours, request, sign)
	}
	if foreign || !e.Usable {
		e.recount(l)
	}
	e.dropIfEmpty(l)
}

func (e *node) dropIfEmpty(l *Ledger) {
	if !e.known && e.pods == 0 && e.assumed == 0 {
		delete(l.nodes.byName, e.Name)
	}
}

// recount keeps the cluster total: allocatable of usable nodes less what foreign pods take there (never below nothing), plus what
// our pods use on other nodes.
func (e *node) recount(l *Ledger) {
	is := e.ours.List()
	if e.Usable {
		is = e.Allocatable.Sub(e.foreign.List()).Max(resource.List{})
	}
	if is.Equal(e.counted) {
		return
	}
	l.nodes.total.Sub(e.counted)
	l.nodes.total.Add(is)
	e.counted = is
	l.nodes.totalMoved = true
	l.version++
}
