package ledger

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Room: on a full cluster every pod that ends would wake a probe of every class, each a scheduling cycle for nothing. So a class that
// has failed once is released only while some node it may use has its size free. A release takes that room at once, so that two
// classes are not sent after the same place: the freed place goes to the queue the order says. What only filters know (ports,
// volumes, affinity between pods) is left to the attempt.

// maxLooked bounds how many nodes Candidates looks at, in a cluster that is nearly full.
const maxLooked = 1024

// maxCandidates bounds what a class remembers of nodes that gained room; beyond, it looks at all nodes again.
const maxCandidates = 64

// room is a class's view of the nodes. Invariant: every node with room for the class is among the candidates, or at or behind next
// in the ledger's list of nodes. So a class that waits for room looks at nothing but nodes that gain some.
type room struct {
	candidates []*node
	next       int
}

// roomFor returns a node with room for the class, nil if there is none.
func (l *Ledger) roomFor(c *class) *node {
	for n := len(c.room.candidates); n > 0; n = len(c.room.candidates) {
		if e := c.room.candidates[n-1]; l.holds(e, c) {
			return e
		}
		c.room.candidates = c.room.candidates[:n-1]
	}
	for ; c.room.next < len(l.nodeList); c.room.next++ {
		if e := l.nodeList[c.room.next]; l.holds(e, c) {
			return e
		}
	}
	return nil
}

// holds reports whether the node has room for one more pod of the class. A resource that the node does not list it does not have,
// unless pods get it elsewhere: else a class that wants a device would have room on every node without devices.
func (l *Ledger) holds(e *node, c *class) bool {
	if !e.known || e.full() || e.heldFor != nil && e.heldFor != c.group {
		return false
	}
	return l.capacityOf(e).Fits(&e.used, c.request) && e.takes(c)
}

// capacityOf is what the node offers, whatever is used of it.
func (l *Ledger) capacityOf(e *node) capacity.Node {
	return capacity.Node{Listed: e.Allocatable, Unlisted: l.unlisted}
}

// full: the node takes no more pods.
func (e *node) full() bool { return capacity.Slots(e.Pods, e.spots+e.foreignPods) <= 0 }

// takes reports whether the pods of the class may use the node as far as the node itself decides.
func (e *node) takes(c *class) bool {
	if c.eligible != nil {
		return c.eligible(e.Facts)
	}
	return e.Usable
}

// noRoom says why no node has room for a waiting pod: of which resource the node that comes closest has too little. Closest is the one
// that lacks the smallest part of what the pod asks for.
func (l *Ledger) noRoom(r *record) reason.Reason {
	why := reason.Reason{Code: reason.WaitingForRoom, Queue: string(r.leaf.path)}
	n := reason.Room{Nodes: int64(len(l.nodeList))}
	least := int64(math.MaxInt64)
	for _, e := range l.nodeList { // the least of all: order does not matter
		if !e.takes(r.class) {
			continue
		}
		n.Usable++
		n.Full += int64(btoi(e.full()))
		name, free, part := l.shortOf(e, r.class.request)
		if name != "" && (part < least || part == least && name < why.Resource) {
			least, why.Resource, why.Asked, n.Free = part, name, r.class.request.Get(name), free
		}
	}
	why.Numbers = n
	return why
}

// shortOf returns the resource of which the node lacks the largest part of the request, in millionths, and what is free of it.
func (l *Ledger) shortOf(e *node, request resource.List) (name resource.Name, free, part int64) {
	has := l.capacityOf(e)
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

// ObserveElsewhere takes in which resources pods may get on a node that does not list them, or that filters pass over: names, and
// groups, which are all that stands before the slash of a name. The set is not edited afterwards.
func (l *Ledger) ObserveElsewhere(names map[resource.Name]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlisted = names
	l.roomChanges++
	for _, c := range l.classes { // each for itself: order does not matter
		c.room = room{}
	}
}

// gained makes the node a candidate of the classes that had passed it over.
func (l *Ledger) gained(e *node) {
	if !e.known {
		return
	}
	l.roomChanges++
	for _, c := range l.classes { // each for itself: order does not matter
		if e.index >= c.room.next || !l.holds(e, c) {
			continue
		}
		switch n := len(c.room.candidates); {
		case n == maxCandidates:
			c.room = room{}
		case n == 0 || c.room.candidates[n-1] != e:
			c.room.candidates = append(c.room.candidates, e)
		}
	}
}

// occupy takes the pod's room on a node: of a released pod where there was room, then where kube-scheduler put it. nil gives it back.
func (l *Ledger) occupy(r *record, e *node) {
	old := r.spot
	if old == e {
		return
	}
	r.spot = e
	if e != nil {
		e.used.Add(r.Request)
		e.spots++
		e.changed()
	}
	if old != nil {
		old.used.Sub(r.Request)
		old.spots--
		old.changed()
		l.gained(old)
		old.dropIfEmpty(l)
	}
	r.stay()
}

// stay lists the pod on the node where it runs, or where room is kept for it. One that was just released is on none: releases come by the thousand,
// and most of them touch no other pod.
func (r *record) stay() {
	e := r.spot
	if r.state != Bound && (r.place == nil || r.state.charged()) {
		e = nil
	}
	old := r.listedOn
	if old == e {
		return
	}
	if old != nil {
		last := len(old.on) - 1
		old.on[r.onNode], old.on[last].onNode = old.on[last], r.onNode
		old.on[last] = nil
		old.on = old.on[:last]
		old.changed()
	}
	if r.listedOn = e; e != nil {
		r.onNode = int32(len(e.on))
		e.on = append(e.on, r)
		e.changed()
	}
}

// list enters a new node at the end, where no class has looked yet.
func (l *Ledger) list(e *node) {
	e.index = len(l.nodeList)
	l.nodeList = append(l.nodeList, e)
}

// unlist takes a node out. The last one takes its place, so every class looks anew.
func (l *Ledger) unlist(e *node) {
	last := l.nodeList[len(l.nodeList)-1]
	l.nodeList[e.index], last.index = last, e.index
	l.nodeList = l.nodeList[:len(l.nodeList)-1]
	for _, c := range l.classes { // each for itself: order does not matter
		c.room = room{}
	}
}

// Candidates returns up to n nodes with room for a released pod: the one its room was taken on, and others from where the last call
// stopped, so that all nodes have their turn. None in a cluster of up to small nodes, where looking at all of them costs little.
func (l *Ledger) Candidates(uid UID, n, small int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r != nil && r.state == Released && (r.group.open() || r.place != nil) && r.spot != nil && r.spot.known {
		return []string{r.spot.Name} // the places of a group were chosen together, and one that was made by preemption is for this pod
	}
	if r == nil || r.state != Released || len(l.nodeList) <= small {
		return nil
	}
	names := make([]string, 0, n)
	if r.spot != nil && r.spot.known {
		names = append(names, r.spot.Name)
	}
	for looked := 0; looked < min(maxLooked, len(l.nodeList)) && len(names) < n; looked++ {
		l.nextCandidate = (l.nextCandidate + 1) % len(l.nodeList)
		if e := l.nodeList[l.nextCandidate]; e != r.spot && l.holds(e, r.class) {
			names = append(names, e.Name)
		}
	}
	return names
}

// mayTry reports whether a pod of the class may be released now as far as room goes, and takes note of the node.
func (l *Ledger) mayTry(c *class, now int64) bool {
	c.fitNode = l.roomFor(c)
	return c.fitNode != nil || l.mayTryWithoutRoom(c, now)
}

// mayTryWithoutRoom reports whether a pod of the class may be released although no node is known to have room for it.
func (l *Ledger) mayTryWithoutRoom(c *class, now int64) bool {
	return c.MayTryWithoutRoom(breaker.Nodes{Extenders: l.opts.Extenders, Held: l.nodeHolds.Held()}, now)
}

// mayHaveRoom is mayTry without looking at a node: false where the last look found no room and no node has gained any since.
func (l *Ledger) mayHaveRoom(c *class, now int64) bool {
	if len(c.room.candidates) == 0 && c.room.next >= len(l.nodeList) {
		c.fitNode = nil
		return l.mayTryWithoutRoom(c, now)
	}
	return true
}
