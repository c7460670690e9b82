package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// placesFor returns the nodes to which a group's pods would go; nil: not all of them have room.
func (l *Ledger) placesFor(g *group, pods []*record) []*node {
	if nodes, given := l.nodes.nominatedNodes(pods); given {
		return nodes
	}
	if l.opts.Extenders { // nodes may have room that only an extender knows of
		return make([]*node, len(pods))
	}
	if l.stillLacksRoom(g) {
		return nil
	}
	places, placed, lacks := l.pack(g, pods, false)
	if placed < len(pods) || lacks != "" {
		return nil
	}
	return places
}

// pack places pods on nodes. empty: as if none of our pods ran anywhere, so what does not fit then never will. lacks is a resource of which the
// group says that it needs more than there is.
func (l *Ledger) pack(g *group, pods []*record, empty bool) (places []*node, placed int, lacks resource.Name) {
	classes, of, need := l.classesOf(pods)
	nodes := l.nodes.all
	if l.nodeHolds.Group == g && !empty { // the held ones first: what is free on others may be gone next
		nodes = slices.Clone(nodes)
		slices.SortStableFunc(nodes, func(a, b *node) int { return btoi(b.heldFor == g) - btoi(a.heldFor == g) })
	}
	put, placed := gang.Pack(len(nodes), need, func(node, c int, taken []int) int {
		return l.nodes.spaces(nodes[node], classes, c, taken, empty)
	})
	if lacks, _ = l.nodes.lacksInAll(g, empty); placed < len(pods) || lacks != "" {
		return nil, placed, lacks
	}
	places = make([]*node, len(pods))
	for _, p := range put {
		for i := 0; i < len(pods) && p.Pods > 0; i++ {
			if of[i] == p.Group && places[i] == nil {
				places[i], p.Pods = nodes[p.Node], p.Pods-1
			}
		}
	}
	return places, placed, ""
}

// classesOf returns the classes of pods, the largest first, of each pod which it is, and of each class how many there are.
func (l *Ledger) classesOf(pods []*record) (classes []*class, of, need []int) {
	for _, r := range pods {
		if !slices.Contains(classes, r.class) {
			classes = append(classes, r.class)
		}
	}
	if len(classes) > 1 {
		slices.SortStableFunc(classes, func(a, b *class) int {
			return cmp.Or(cmp.Compare(l.part(b), l.part(a)), cmp.Compare(a.key, b.key))
		})
	}
	of, need = make([]int, len(pods)), make([]int, len(classes))
	for i, r := range pods {
		of[i] = slices.Index(classes, r.class)
		need[of[i]]++
	}
	return classes, of, need
}

// part is the largest part of the cluster that a pod of the class asks for, in millionths.
func (l *Ledger) part(c *class) (most int64) {
	for i := range c.request.Len() {
		e := c.request.At(i)
		if total := l.shares.total.Get(e.Name); total > 0 {
			most = max(most, resource.Part(1_000_000, e.Value, total))
		}
	}
	return most
}

// usedIf is what is used on the node, and how many pods it holds; empty: as if none of ours ran there.
func (e *node) usedIf(empty bool) (used *resource.Sum, pods int) {
	if empty {
		return &e.foreign, e.foreignPods
	}
	return &e.used, e.assumed + e.foreignPods
}
