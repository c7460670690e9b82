package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// packing is which pods of a group look for room together.
type packing struct {
	group   *group
	pods    []*record
	of      []int // of each pod, the index of its class
	classes []*class
	need    []int // of each class, how many pods
}

// packingOf sorts pods of a group by class, those first that ask for the largest part of the total.
func packingOf(g *group, pods []*record, total resource.List) *packing {
	p := &packing{group: g, pods: pods, of: make([]int, len(pods))}
	for _, r := range pods {
		if !slices.Contains(p.classes, r.class) {
			p.classes = append(p.classes, r.class)
		}
	}
	if len(p.classes) > 1 {
		slices.SortStableFunc(p.classes, func(a, b *class) int {
			return cmp.Or(cmp.Compare(b.part(total), a.part(total)), cmp.Compare(a.key, b.key))
		})
	}
	p.need = make([]int, len(p.classes))
	for i, r := range pods {
		p.of[i] = slices.Index(p.classes, r.class)
		p.need[p.of[i]]++
	}
	return p
}

// part is the largest part of the total that a pod of the class asks for, in millionths.
func (c *class) part(total resource.List) int64 { return millionths(c.request, total) }

// millionths is the largest part of the total that some amounts are.
func millionths(amounts, total resource.List) (most int64) {
	for i := range amounts.Len() {
		e := amounts.At(i)
		if all := total.Get(e.Name); all > 0 {
			most = max(most, resource.Part(1_000_000, e.Value, all))
		}
	}
	return most
}

// pack places pods of a group on nodes. empty: as if none of our pods ran anywhere, so what does not fit then never will. lacks is a resource of which
// the group says that it needs more than there is. places is nil if not all pods have one.
func (t *nodeTable) pack(p *packing, empty bool) (places []*node, placed int, lacks resource.Name) {
	nodes := t.all
	if !empty {
		nodes = t.heldFirst(p.group)
	}
	put, placed := gang.Pack(len(nodes), p.need, func(node, c int, taken []int) int {
		return t.spaces(nodes[node], p.classes, c, taken, empty)
	})
	if lacks, _ = t.lacksInAll(p.group, empty); placed < len(p.pods) || lacks != "" {
		return nil, placed, lacks
	}
	places = make([]*node, len(p.pods))
	for _, at := range put {
		for i := 0; i < len(p.pods) && at.Pods > 0; i++ {
			if p.of[i] == at.Kind && places[i] == nil {
				places[i], at.Pods = nodes[at.Node], at.Pods-1
			}
		}
	}
	return places, placed, ""
}

// heldFirst returns all nodes, those first that are held for the group: what is free on others may be gone next.
func (t *nodeTable) heldFirst(g *group) []*node {
	if !slices.ContainsFunc(t.all, func(e *node) bool { return e.heldFor == &g.wait }) {
		return t.all
	}
	nodes := slices.Clone(t.all)
	slices.SortStableFunc(nodes, func(a, b *node) int { return btoi(b.heldFor == &g.wait) - btoi(a.heldFor == &g.wait) })
	return nodes
}

// nodesToHold returns the nodes to hold for a group: as many as have room for all of its pods once our pods there have ended. It takes
// those first for which prefer returns most (nil: all are equal), then those on which most pods of the group fit now. nil: the group
// could not start even if all nodes were empty.
func (t *nodeTable) nodesToHold(p *packing, prefer func(*node) int64) (hold []*node) {
	type choice struct {
		*node
		fit  int
		part int64
	}
	none := make([]int, len(p.classes))
	choices := make([]choice, 0, len(t.all))
	for _, e := range t.all {
		fit := 0
		for c := range p.classes {
			fit += min(t.spaces(e, p.classes, c, none, false), p.need[c])
		}
		c := choice{node: e, fit: fit}
		if prefer != nil {
			c.part = prefer(e)
		}
		choices = append(choices, c)
	}
	slices.SortFunc(choices, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(b.fit, a.fit), cmp.Compare(a.Name, b.Name))
	})
	places, placed := gang.Pack(len(choices), p.need, func(node, c int, taken []int) int {
		return t.spaces(choices[node].node, p.classes, c, taken, true)
	})
	if lacks, _ := t.lacksInAll(p.group, true); placed < len(p.pods) || lacks != "" {
		return nil
	}
	for _, at := range places {
		if e := choices[at.Node].node; !slices.Contains(hold, e) { // pods of two kinds may go to one node
			hold = append(hold, e)
		}
	}
	return hold
}

// holdAll reports whether these nodes would hold all pods of a group once our pods there have ended.
func (t *nodeTable) holdAll(p *packing, nodes []*node) bool {
	_, placed := gang.Pack(len(nodes), p.need, func(node, c int, taken []int) int {
		return t.spaces(nodes[node], p.classes, c, taken, true)
	})
	return placed == len(p.pods)
}

// placesFor returns the nodes to which a group's pods would go; nil: not all of them have room.
func (l *contents) placesFor(g *group, pods []*record) []*node {
	if nodes, given := l.nodes.nominatedNodes(pods); given {
		return nodes
	}
	if l.opts.Extenders { // nodes may have room that only an extender knows of
		return make([]*node, len(pods))
	}
	if g.stillLacksRoom(&l.nodes) {
		return nil
	}
	places, _, _ := l.nodes.pack(packingOf(g, pods, l.shares.total), false)
	return places
}

// usedIf is what is used on the node, and how many pods it holds; empty: as if none of ours ran there.
func (e *node) usedIf(empty bool) (used *resource.Sum, pods int) {
	if empty {
		return &e.foreign, e.foreignPods
	}
	return &e.used, e.assumed + e.foreignPods
}
