package ledger

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// nodeTable owns the nodes and what sits on them.
//
// It hears of nodes, of pods of other schedulers, and of room that is taken and given back. It says on which node a class has room, how many of its
// pods fit on one, and of what the nodes have too little. It knows nothing of queues and limits.
type nodeTable struct {
	byName        map[string]*node // those that exist, and those that pods name
	all           []*node          // those that exist, in no order that means anything
	nextCandidate int              // where Candidates goes on
	foreign       map[UID]Pod      // pods of other schedulers
	unlisted      capacity.Unlisted
	roomChanges   uint64 // grows whenever a node gains room

	total      resource.Sum // see recount
	totalMoved bool         // since the ledger last took it over
}

func newNodeTable() nodeTable { return nodeTable{byName: map[string]*node{}, foreign: map[UID]Pod{}} }

// get finds a node, or makes one that is not known yet.
func (t *nodeTable) get(name string) *node {
	e := t.byName[name]
	if e == nil {
		e = &node{Node: Node{Name: name}}
		t.byName[name] = e
	}
	return e
}

// roomFor returns a node with room for the class, nil if there is none.
func (t *nodeTable) roomFor(c *class) *node {
	for n := len(c.room.candidates); n > 0; n = len(c.room.candidates) {
		if e := c.room.candidates[n-1]; t.fits(e, c) {
			return e
		}
		c.room.candidates = c.room.candidates[:n-1]
	}
	for ; c.room.next < len(t.all); c.room.next++ {
		if e := t.all[c.room.next]; t.fits(e, c) {
			return e
		}
	}
	return nil
}

// fits reports whether the node has room for one more pod of the class. A resource that the node does not list it does not have,
// unless nodes need not list it: else a class that wants a device would have room on every node without devices.
func (t *nodeTable) fits(e *node, c *class) bool {
	if !e.known || e.full() || e.heldFor != nil && e.heldFor != c.group {
		return false
	}
	return t.capacityOf(e).Fits(&e.used, c.request) && e.takes(c)
}

// capacityOf is what the node offers, whatever is used of it.
func (t *nodeTable) capacityOf(e *node) capacity.Node {
	return capacity.Node{Listed: e.Allocatable, Unlisted: t.unlisted}
}

// noRoom says why no node has room for a waiting pod: of which resource the node that comes closest has too little. Closest is the one
// that lacks the smallest part of what the pod asks for.
func (t *nodeTable) noRoom(r *record) reason.Reason {
	why := reason.Reason{Code: reason.WaitingForRoom, Queue: string(r.leaf.path)}
	n := reason.Room{Nodes: int64(len(t.all))}
	least := int64(math.MaxInt64)
	for _, e := range t.all { // the least of all: order does not matter
		if !e.takes(r.class) {
			continue
		}
		n.Usable++
		n.Full += int64(btoi(e.full()))
		name, free, part := t.shortOf(e, r.class.request)
		if name != "" && (part < least || part == least && name < why.Resource) {
			least, why.Resource, why.Asked, n.Free = part, name, r.class.request.Get(name), free
		}
	}
	why.Numbers = n
	return why
}

// shortOf returns the resource of which the node lacks the largest part of the request, in millionths, and what is free of it.
func (t *nodeTable) shortOf(e *node, request resource.List) (name resource.Name, free, part int64) {
	has := t.capacityOf(e)
	for i := range request.Len() {
		want := request.At(i)
		used := e.used.Get(want.Name)
		if !has.Lacks(used, want) {
			continue
		}
		left := max(has.Free(want.Name, used), 0)
		if p := resource.Part(1_000_000, want.Value-left, want.Value); name == "" || p > part {
			name, free, part = want.Name, left, p
		}
	}
	return name, free, part
}

// spaces is how many pods of a class fit on a node on which so many of each class were placed already.
func (t *nodeTable) spaces(e *node, classes []*class, which int, taken []int, empty bool) int {
	c := classes[which]
	if !e.known || e.heldFor != nil && e.heldFor != c.group && !empty {
		return 0
	}
	used, pods := e.usedIf(empty)
	for _, t := range taken {
		pods += t
	}
	n := t.capacityOf(e).Count(c.request, capacity.Slots(e.Pods, pods), func(name resource.Name) int64 {
		all := used.Get(name)
		for g, t := range taken {
			if t > 0 {
				all = resource.SatAdd(all, resource.SatMul(int64(t), classes[g].request.Get(name)))
			}
		}
		return all
	})
	if n == 0 || !e.takes(c) {
		return 0
	}
	return n
}

// lacksInAll returns a resource of which the group says that it needs more than is free on all nodes together, and how much of it is.
func (t *nodeTable) lacksInAll(g *group, empty bool) (resource.Name, int64) {
	if g.MinResources.Len() == 0 || g.Bound > 0 {
		return "", 0
	}
	for i := range g.MinResources.Len() {
		want, free := g.MinResources.At(i), int64(0)
		for _, e := range t.all { // a sum: order does not matter
			if e.Usable && (e.heldFor == nil || e.heldFor == g || empty) {
				used, _ := e.usedIf(empty)
				free = resource.SatAdd(free, max(t.capacityOf(e).Free(want.Name, used.Get(want.Name)), 0))
			}
		}
		if want.Value > free {
			return want.Name, free
		}
	}
	return "", 0
}

// add enters a new node at the end, where no class has looked yet.
func (t *nodeTable) add(e *node) {
	e.index = len(t.all)
	t.all = append(t.all, e)
}
