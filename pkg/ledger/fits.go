package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Whether pods fit on nodes, as far as arithmetic and the nodes themselves decide. What only filters know (ports, volumes, affinity between pods) is
// left to the attempt.

// fits reports whether the node has room for one more pod of a class. A resource that the node does not list it does not have,
// unless nodes need not list it: else a class that wants a device would have room on every node without devices.
func (t *nodeTable) fits(e *node, s *room) bool {
	return !e.isHeldFrom(s.waiter) && t.hasRoom(e, s)
}

// hasRoom is fits, whether the node is held or not.
func (t *nodeTable) hasRoom(e *node, s *room) bool {
	return e.known && !e.full() && t.capacityOf(e).Fits(&e.used, s.request) && e.takes(s)
}

// takes reports whether the pods of a class may use the node as far as the node itself decides.
func (e *node) takes(s *room) bool {
	if s.eligible != nil {
		return s.eligible(e.Facts)
	}
	return e.Usable
}

// full: the node takes no more pods.
func (e *node) full() bool { return capacity.Slots(e.Pods, e.assumed+e.foreignPods) <= 0 }

// capacityOf is what the node offers, whatever is used of it.
func (t *nodeTable) capacityOf(e *node) capacity.Node {
	return capacity.Node{Listed: e.Allocatable, Unlisted: t.unlisted}
}

// spaces is how many pods of a class fit on a node on which so many of each class were placed already.
func (t *nodeTable) spaces(e *node, classes []*class, which int, taken []int, empty bool) int {
	c := classes[which]
	if !e.known || e.isHeldFrom(c.waiter) && !empty {
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
	if n == 0 || !e.takes(&c.room) {
		return 0
	}
	return n
}

// couldHold reports whether the node has room for a pod of the class once all of our pods there have ended.
func (t *nodeTable) couldHold(e *node, c *class) bool {
	return t.spaces(e, []*class{c}, 0, []int{0}, true) > 0
}

// lacksInAll returns a resource of which the group says that it needs more than is free on all nodes together, and how much of it is.
func (t *nodeTable) lacksInAll(g *group, empty bool) (resource.Name, int64) {
	if g.MinResources.Len() == 0 || g.Bound > 0 {
		return "", 0
	}
	for i := range g.MinResources.Len() {
		want := g.MinResources.At(i)
		if free := t.freeInAll(g, want.Name, empty); want.Value > free {
			return want.Name, free
		}
	}
	return "", 0
}

// freeInAll is how much of a resource is free on all nodes together that the group may use.
func (t *nodeTable) freeInAll(g *group, name resource.Name, empty bool) (free int64) {
	for _, e := range t.all { // a sum: order does not matter
		if e.Usable && (!e.isHeldFrom(&g.wait) || empty) {
			used, _ := e.usedIf(empty)
			free = resource.SatAdd(free, max(t.capacityOf(e).Free(name, used.Get(name)), 0))
		}
	}
	return free
}

// needsMoreThanItsPods reports whether a group needs more of a resource by its minResources than its charged pods ask for, and not so much is free. A plan makes
// room for the pods alone, so it would be of no use to the group.
func (t *nodeTable) needsMoreThanItsPods(g *group) bool {
	if !g.startsTogether() || g.MinResources.Len() == 0 || g.Bound > 0 {
		return false
	}
	var asked resource.Sum
	for _, r := range g.pods { // a sum: order does not matter
		if r.state.charged() {
			asked.Add(r.Request)
		}
	}
	for i := range g.MinResources.Len() {
		if want := g.MinResources.At(i); want.Value > asked.Get(want.Name) && want.Value > t.freeInAll(g, want.Name, false) {
			return true
		}
	}
	return false
}
