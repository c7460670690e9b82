package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// nodeTable owns the nodes, what sits on them, and what each class has seen of them.
//
// It hears of nodes (observe, forget), of pods that are bound to them or end there (count, observeForeign, forgetForeign), of room that is taken and
// given back (assume), and of classes (watch, unwatch). It says on which node a class has room (roomFor), how many pods fit on one (spaces), of what
// the nodes have too little (noRoom), and what they all offer (total). It knows nothing of queues and limits. Methods that may move the total say
// whether they did.
type nodeTable struct {
	byName        map[string]*node // those that exist, and those that pods name
	all           []*node          // those that exist, in no order that means anything
	nextCandidate int              // where candidates goes on
	foreign       map[UID]Pod      // pods of other schedulers
	unlisted      capacity.Unlisted
	rooms         []*room // of all classes, in no order that means anything
	roomChanges   uint64  // grows whenever a node gains room
	preferences   preferences

	total      resource.Sum // see recount
	totalMoved bool         // since the ledger last took it over
}

func newNodeTable() nodeTable {
	return nodeTable{byName: map[string]*node{}, foreign: map[UID]Pod{}, preferences: newPreferences()}
}

// takeTotal returns what the nodes offer, and notes that the ledger has taken it over.
func (t *nodeTable) takeTotal() resource.List {
	t.totalMoved = false
	return t.total.List()
}

// get finds a node, or makes one that is not known yet.
func (t *nodeTable) get(name string) *node {
	e := t.byName[name]
	if e == nil {
		e = &node{Node: Node{Name: name}}
		t.byName[name] = e
	}
	return e
}

// observe takes in the newest state of a node; false: nothing of it has changed.
func (t *nodeTable) observe(n Node) (changed, totalMoved bool) {
	e := t.get(n.Name)
	if e.known && e.Usable == n.Usable && e.Allocatable.Equal(n.Allocatable) && e.Pods == n.Pods && e.Rack == n.Rack && e.Facts == n.Facts {
		return false, false
	}
	if !e.known { // at the end of the list, where no class has looked yet
		e.index = len(t.all)
		t.all = append(t.all, e)
	}
	t.preferences.changed(e) // of the rack that it leaves
	e.Node, e.known = n, true
	e.changed()
	totalMoved = t.recount(e)
	t.gained(e)
	return true, totalMoved
}

// forget takes a node away; pods that are still bound to it count until they are gone.
func (t *nodeTable) forget(name string) (totalMoved bool) {
	e := t.get(name)
	if e.known {
		t.unlist(e)
	}
	t.preferences.changed(e)
	e.Node, e.known = Node{Name: name}, false
	e.changed()
	e.heldFor = nil // if it comes back, the hold may have ended
	totalMoved = t.recount(e)
	t.dropIfEmpty(e)
	return totalMoved
}

// unlist takes a node out of the list. The last one takes its place, so every class looks again.
func (t *nodeTable) unlist(e *node) {
	last := t.all[len(t.all)-1]
	t.all[e.index], last.index = last, e.index
	t.all = t.all[:len(t.all)-1]
	t.lookAgain()
}

// count puts a pod of ours on the node that it is bound to (sign 1), or takes it off (sign -1).
func (t *nodeTable) count(r *record, sign int) (totalMoved bool) {
	e := t.get(r.Node)
	e.pods += sign
	e.changed()
	addSigned(&e.ours, r.Request, sign)
	if !e.Usable {
		totalMoved = t.recount(e)
	}
	t.dropIfEmpty(e)
	return totalMoved
}

func (t *nodeTable) observeForeign(p Pod) (totalMoved bool) {
	if old, ok := t.foreign[p.UID]; ok {
		if old.Node == p.Node && old.Request.Equal(p.Request) {
			return false
		}
		totalMoved = t.forgetForeign(p.UID)
	}
	if p.Node == "" {
		return totalMoved
	}
	t.foreign[p.UID] = p
	return t.countForeign(p, 1) || totalMoved
}

func (t *nodeTable) forgetForeign(uid UID) (totalMoved bool) {
	p, ok := t.foreign[uid]
	if !ok {
		return false
	}
	delete(t.foreign, uid)
	return t.countForeign(p, -1)
}

func (t *nodeTable) countForeign(p Pod, sign int) (totalMoved bool) {
	e := t.get(p.Node)
	e.pods += sign
	e.foreignPods += sign
	e.changed()
	addSigned(&e.foreign, p.Request, sign)
	addSigned(&e.used, p.Request, sign)
	if sign < 0 {
		t.gained(e)
	}
	totalMoved = t.recount(e)
	t.dropIfEmpty(e)
	return totalMoved
}

// recount keeps the cluster total: allocatable of usable nodes less what foreign pods take there (never below nothing), plus what
// our pods use on other nodes.
func (t *nodeTable) recount(e *node) (totalMoved bool) {
	is := e.ours.List()
	if e.Usable {
		is = e.Allocatable.Sub(e.foreign.List()).Max(resource.List{})
	}
	if is.Equal(e.counted) {
		return false
	}
	t.total.Sub(e.counted)
	t.total.Add(is)
	e.counted = is
	t.totalMoved = true
	return true
}

func (t *nodeTable) dropIfEmpty(e *node) {
	if !e.known && e.pods == 0 && e.assumed == 0 {
		delete(t.byName, e.Name)
	}
}
