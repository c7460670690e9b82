package ledger

import (
	"slices"

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

// room is what the pods of a class need of a node, and what the class has seen of the nodes.
type room struct {
	request  resource.List
	eligible func(facts any) bool // see Pod.Eligible
	group    *group               // of all its pods, nil for none
	waiter   *waiter              // for what nodes are held that are meant for its pods

	seen
	inRooms int // place in the table's list of rooms
}

// seen is how far a class has looked for room. Invariant: every node with room for the class is one of the candidates, or stands in the
// list of nodes at index next or later. So a class that waits for room looks only at nodes that gain some.
type seen struct {
	candidates []*node
	next       int
}

// watch begins to keep what a class sees of the nodes right.
func (t *nodeTable) watch(s *room) {
	s.inRooms = len(t.rooms)
	t.rooms = append(t.rooms, s)
}

func (t *nodeTable) unwatch(s *room) {
	last := len(t.rooms) - 1
	t.rooms[s.inRooms], t.rooms[last].inRooms = t.rooms[last], s.inRooms
	t.rooms[last] = nil
	t.rooms = t.rooms[:last]
}

// lookAgain has every class look at all nodes again.
func (t *nodeTable) lookAgain() {
	for _, s := range t.rooms { // each for itself: order does not matter
		s.lookAgain()
	}
}

func (s *room) lookAgain() { s.seen = seen{} }

func (t *nodeTable) observeUnlisted(names map[resource.Name]bool) {
	t.unlisted = names
	t.roomChanges++
	t.lookAgain()
	t.preferences.lookAgain()
}

// gained makes the node a candidate of the classes that had passed it over.
func (t *nodeTable) gained(e *node) {
	if !e.known {
		return
	}
	t.roomChanges++
	t.preferences.changed(e)
	for _, s := range t.rooms { // each for itself: order does not matter
		if e.index >= s.next || !t.fits(e, s) {
			continue
		}
		switch n := len(s.candidates); {
		case n == maxCandidates:
			s.lookAgain()
		case n == 0 || s.candidates[n-1] != e:
			s.candidates = append(s.candidates, e)
		}
	}
}

// roomFor returns a node with room for a class, nil if there is none.
func (t *nodeTable) roomFor(s *room) *node {
	for n := len(s.candidates); n > 0; n = len(s.candidates) {
		if e := s.candidates[n-1]; t.fits(e, s) {
			return e
		}
		s.candidates = s.candidates[:n-1]
	}
	for ; s.next < len(t.all); s.next++ {
		if e := t.all[s.next]; t.fits(e, s) {
			return e
		}
	}
	return nil
}

// mayFind: false where the last look found no room and no node has gained any since.
func (t *nodeTable) mayFind(s *room) bool { return len(s.candidates) > 0 || s.next < len(t.all) }

// anyFits reports whether roomFor would return a node, and changes nothing: questions must not decide which node a release takes.
func (t *nodeTable) anyFits(s *room) bool {
	fits := func(e *node) bool { return t.fits(e, s) }
	return slices.ContainsFunc(s.candidates, fits) || slices.ContainsFunc(t.all[s.next:], fits)
}

// assume takes the pod's room on a node: of a released pod where there was room, then where kube-scheduler put it. nil gives it back.
func (t *nodeTable) assume(r *record, e *node) {
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
		t.gained(old)
		t.dropIfEmpty(old)
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
		old.on.remove(r, ofNode)
		old.changed()
	}
	if r.listedOn = e; e != nil {
		e.on.add(r, ofNode)
		e.changed()
	}
}

// Candidates returns up to n nodes with room for a released pod: the one its room was taken on, and others from where the last call
// stopped, so that all nodes have their turn. None in a cluster of up to small nodes, where looking at all of them costs little.
func (l *Ledger) Candidates(uid UID, n, small int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil && r.state == Released {
		return l.nodes.candidates(r, n, small)
	}
	return nil
}

func (t *nodeTable) candidates(r *record, n, small int) []string {
	assumed := r.assumedOn != nil && r.assumedOn.known
	switch {
	case assumed && (r.group.startsTogether() || r.nomination != nil):
		return []string{r.assumedOn.Name} // the places of a group were chosen together, and one that was made by preemption is for this pod
	case r.headsForPreferred():
		return t.preferredLike(r, n)
	case len(t.all) <= small:
		return nil
	}
	names := make([]string, 0, n)
	if assumed {
		names = append(names, r.assumedOn.Name)
	}
	for looked := 0; looked < min(maxLooked, len(t.all)) && len(names) < n; looked++ {
		t.nextCandidate = (t.nextCandidate + 1) % len(t.all)
		if e := t.all[t.nextCandidate]; e != r.assumedOn && t.fits(e, &r.class.room) {
			names = append(names, e.Name)
		}
	}
	return names
}
