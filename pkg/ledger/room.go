package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
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

// full: the node takes no more pods.
func (e *node) full() bool { return capacity.Slots(e.Pods, e.assumed+e.foreignPods) <= 0 }

// takes reports whether the pods of the class may use the node as far as the node itself decides.
func (e *node) takes(c *class) bool {
	if c.eligible != nil {
		return c.eligible(e.Facts)
	}
	return e.Usable
}

// ObserveUnlisted takes in which resources pods may get on a node that does not list them, or that filters pass over: names, and
// groups, which are all that stands before the slash of a name. The set is not edited afterwards.
func (l *Ledger) ObserveUnlisted(names map[resource.Name]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes.unlisted = names
	l.nodes.roomChanges++
	l.classes.forgetRoom()
}

// gained makes the node a candidate of the classes that had passed it over.
func (l *Ledger) gained(e *node) {
	if !e.known {
		return
	}
	l.nodes.roomChanges++
	for _, c := range l.classes.byKey { // each for itself: order does not matter
		if e.index >= c.room.next || !l.nodes.fits(e, c) {
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

// assume takes the pod's room on a node: of a released pod where there was room, then where kube-scheduler put it. nil gives it back.
func (l *Ledger) assume(r *record, e *node) {
	old := r.assumedOn
	if old == e {
		return
	}
	r.assumedOn = e
	if e != nil {
		e.used.Add(r.Request)
		e.assumed++
		e.changed()
	}
	if old != nil {
		old.used.Sub(r.Request)
		old.assumed--
		old.changed()
		l.gained(old)
		old.dropIfEmpty(l)
	}
	r.listOnNode()
}

// listOnNode lists a pod on the node where it runs or is nominated to. One that was just released is on none: releases come by the thousand,
// and most of them touch no other pod.
func (r *record) listOnNode() {
	e := r.assumedOn
	if r.state != Bound && (r.nomination == nil || r.state.charged()) {
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

// unlist takes a node out. The last one takes its place, so every class looks again.
func (l *Ledger) unlist(e *node) {
	last := l.nodes.all[len(l.nodes.all)-1]
	l.nodes.all[e.index], last.index = last, e.index
	l.nodes.all = l.nodes.all[:len(l.nodes.all)-1]
	l.classes.forgetRoom()
}

// Candidates returns up to n nodes with room for a released pod: the one its room was taken on, and others from where the last call
// stopped, so that all nodes have their turn. None in a cluster of up to small nodes, where looking at all of them costs little.
func (l *Ledger) Candidates(uid UID, n, small int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r != nil && r.state == Released && (r.group.open() || r.nomination != nil) && r.assumedOn != nil && r.assumedOn.known {
		return []string{r.assumedOn.Name} // the places of a group were chosen together, and one that was made by preemption is for this pod
	}
	if r == nil || r.state != Released || len(l.nodes.all) <= small {
		return nil
	}
	names := make([]string, 0, n)
	if r.assumedOn != nil && r.assumedOn.known {
		names = append(names, r.assumedOn.Name)
	}
	for looked := 0; looked < min(maxLooked, len(l.nodes.all)) && len(names) < n; looked++ {
		l.nodes.nextCandidate = (l.nodes.nextCandidate + 1) % len(l.nodes.all)
		if e := l.nodes.all[l.nodes.nextCandidate]; e != r.assumedOn && l.nodes.fits(e, r.class) {
			names = append(names, e.Name)
		}
	}
	return names
}

// mayTry reports whether a pod of the class may be released now as far as room goes, and takes note of the node.
func (l *Ledger) mayTry(c *class, now int64) bool {
	c.fitNode = l.nodes.roomFor(c)
	return c.fitNode != nil || l.mayTryWithoutRoom(c, now)
}

// mayTryWithoutRoom reports whether a pod of the class may be released although no node is known to have room for it.
func (l *Ledger) mayTryWithoutRoom(c *class, now int64) bool {
	return c.MayTryWithoutRoom(breaker.Nodes{Extenders: l.opts.Extenders, Held: l.nodeHolds.Held()}, now)
}

// mayHaveRoom is mayTry without looking at a node: false where the last look found no room and no node has gained any since.
func (l *Ledger) mayHaveRoom(c *class, now int64) bool {
	if len(c.room.candidates) == 0 && c.room.next >= len(l.nodes.all) {
		c.fitNode = nil
		return l.mayTryWithoutRoom(c, now)
	}
	return true
}
