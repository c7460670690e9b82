package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A group that needs many places at once would wait for ever behind small pods, each of which takes the place that has just become free. So the
// first one that has waited for a while has nodes kept free for it, and stops what came after it in its queue: one group at a time, no more nodes
// than it has pods, and not for long. Then another one has its turn.

const (
	// patience is how long a group waits for room before anything is kept for it: most get theirs as pods end.
	patience int64 = 15e9
	// keepFor is how long nodes are kept at most.
	keepFor int64 = 5 * 60e9
)

// wait is a group's wait for room.
type wait struct {
	since   int64  // 0: it does not wait for room
	until   int64  // of the group for which nodes are kept
	turns   int    // how often they were, for nothing
	roomAt  uint64 // the state of the nodes in which it last had none
	leaf    *account
	ordered int64 // in leaf, what was submitted later came after the group
}

// places are where a group's pods would go.
func (l *Ledger) placesFor(g *group, pods []*record) []*node {
	if nodes, given := l.placesGiven(pods); given {
		return nodes
	}
	if l.opts.Extenders { // nodes may have room that only an extender knows of
		return make([]*node, len(pods))
	}
	if l.lackedRoom(g) {
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
	nodes := l.nodeList
	if l.keeper == g && !empty { // those that are kept first: what is free elsewhere may be gone next
		nodes = slices.Clone(nodes)
		slices.SortStableFunc(nodes, func(a, b *node) int { return btoi(b.keptFor == g) - btoi(a.keptFor == g) })
	}
	put, placed := gang.Pack(len(nodes), need, func(node, c int, taken []int) int {
		return l.spaces(nodes[node], classes, c, taken, empty)
	})
	if lacks, _ = l.lacksInAll(g, empty); placed < len(pods) || lacks != "" {
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
		if total := l.total.Get(e.Name); total > 0 {
			most = max(most, resource.Part(1_000_000, e.Value, total))
		}
	}
	return most
}

// spaces is how many pods of a class fit on a node on which so many of each class were placed already.
func (l *Ledger) spaces(e *node, classes []*class, which int, taken []int, empty bool) int {
	c := classes[which]
	if !e.known || e.keptFor != nil && e.keptFor != c.group && !empty {
		return 0
	}
	used, pods := e.usedIf(empty)
	for _, t := range taken {
		pods += t
	}
	n := l.capacityOf(e).Count(c.request, capacity.Slots(e.Pods, pods), func(name resource.Name) int64 {
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

// usedIf is what is used on the node, and how many pods it holds; empty: as if none of ours ran there.
func (e *node) usedIf(empty bool) (used *resource.Sum, pods int) {
	if empty {
		return &e.foreign, e.foreignPods
	}
	return &e.used, e.spots + e.foreignPods
}

// lacksInAll returns a resource of which the group says that it needs more than is free on all nodes together, and how much of it is.
func (l *Ledger) lacksInAll(g *group, empty bool) (resource.Name, int64) {
	if g.MinResources.Len() == 0 || g.Bound > 0 {
		return "", 0
	}
	for i := range g.MinResources.Len() {
		want, free := g.MinResources.At(i), int64(0)
		for _, e := range l.nodeList { // a sum: order does not matter
			if e.Usable && (e.keptFor == nil || e.keptFor == g || empty) {
				used, _ := e.usedIf(empty)
				free = resource.SatAdd(free, max(l.capacityOf(e).Free(want.Name, used.Get(want.Name)), 0))
			}
		}
		if want.Value > free {
			return want.Name, free
		}
	}
	return "", 0
}

// lacksPlaces notes that the group waits for room, and keeps nodes for it when it has waited for long enough and is the first.
func (l *Ledger) lacksPlaces(g *group, now int64) {
	if g.wait.since == 0 {
		g.wait.since = now
	}
	g.wait.roomAt = l.roomChanges
	switch at := max(g.wait.since, l.keptInVain) + patience; {
	case at > now:
		if l.nextPatience == 0 || at < l.nextPatience {
			l.nextPatience = at
		}
	case l.firstToWait == nil || g.wait.turns < l.firstToWait.wait.turns:
		l.firstToWait = g
		if g.wait.turns == 0 { // nobody's turn is before, so nothing that comes after it in this walk passes it
			l.keepForFirst(now)
		}
	}
}

// lackedRoom: the group had no room in the last look, and nothing has changed since.
func (l *Ledger) lackedRoom(g *group) bool {
	return g.wait.since != 0 && g.wait.roomAt == l.roomChanges
}

// keepForFirst keeps nodes for the group whose turn it is: the first in order of those for which that was done least often.
func (l *Ledger) keepForFirst(now int64) {
	g := l.firstToWait
	if g == nil || l.keeper != nil || l.onItsWay != nil {
		return
	}
	if l.admits(g.next(g.Need())) {
		l.keep(g, now)
	} else {
		l.endWait(g) // room would be of no use to it
	}
}

// keep keeps nodes free for a group: those on which most of its pods would fit now, as many as would hold all of it once our pods there have
// ended.
func (l *Ledger) keep(g *group, now int64) {
	pods := g.next(g.Need())
	classes, _, need := l.classesOf(pods)
	none := make([]int, len(classes))
	type choice struct {
		*node
		fit int
	}
	choices := make([]choice, 0, len(l.nodeList))
	for _, e := range l.nodeList {
		fit := 0
		for c := range classes {
			fit += min(l.spaces(e, classes, c, none, false), need[c])
		}
		choices = append(choices, choice{e, fit})
	}
	slices.SortFunc(choices, func(a, b choice) int { return cmp.Or(cmp.Compare(b.fit, a.fit), cmp.Compare(a.Name, b.Name)) })
	places, placed := gang.Pack(len(choices), need, func(node, c int, taken []int) int {
		return l.spaces(choices[node].node, classes, c, taken, true)
	})
	if placed < len(pods) {
		return // it could not start on empty nodes
	}
	l.keeper, g.wait.until = g, now+keepFor
	g.wait.leaf = pods[0].leaf
	for _, r := range pods {
		g.wait.ordered = max(g.wait.ordered, r.app.slot.Submitted)
	}
	for _, p := range places {
		choices[p.Node].keptFor = g
	}
	l.reoffer(g.wait.leaf)
	l.version++
}

// endWait: the group does not wait for room any more.
func (l *Ledger) endWait(g *group) {
	if l.keeper == g {
		l.endKeeping()
	}
	g.wait = wait{}
}

// endKeeping gives the kept nodes back to all.
func (l *Ledger) endKeeping() {
	leaf := l.keeper.wait.leaf
	l.keeper = nil
	l.reoffer(leaf)
	for _, e := range l.nodeList { // each for itself: order does not matter
		if e.keptFor != nil {
			e.keptFor = nil
			l.gained(e)
		}
	}
	for _, r := range l.parked { // a probe may have been kept off those nodes
		l.woken = append(l.woken, r.UID)
	}
	l.version++
}

// expireKeeping gives kept nodes back whose time is over. The group goes to the end of those that wait.
func (l *Ledger) expireKeeping(now int64) {
	g := l.keeper
	if g == nil {
		return
	}
	if _, stopped := l.stopOfGroup(g, ""); stopped { // a rule does by now, so that room is of no use to it
		l.endWait(g)
		return
	}
	if g.wait.until <= now {
		l.endKeeping()
		g.wait.since, g.wait.until = now, 0
		g.wait.turns++
		l.keptInVain = now // so that what came after all groups is not behind one or the other for ever
	}
}

// nextKeeping is when waiting alone changes what is kept; 0: never.
func (l *Ledger) nextKeeping() int64 {
	if l.keeper != nil {
		return l.keeper.wait.until
	}
	return l.nextPatience
}

// reoffer has the applications of a leaf take part in its order, or not: those that wait behind a group do not, since there may be thousands, and
// each walk would step past all of them.
func (l *Ledger) reoffer(leaf *account) {
	if l.queues.accounts[leaf.path] != leaf {
		return // it left the tree
	}
	for _, app := range leaf.apps { // each for itself: order does not matter
		app.book().Offer(&app.inOrder, l.lanesOf(app))
	}
	l.refresh(leaf)
}

// isBehindGroup reports whether an application waits since it came after the group for which nodes are kept.
func (l *Ledger) isBehindGroup(app *account) bool {
	g := l.keeper
	return g != nil && app.parent == g.wait.leaf && app.slot.Submitted > g.wait.ordered
}

// behindGroup says behind which group an application waits.
func (l *Ledger) behindGroup(app *account) (reason.Reason, bool) {
	if !l.isBehindGroup(app) {
		return reason.Reason{}, false
	}
	g := l.keeper
	return reason.Reason{Code: reason.BehindGang, Queue: string(app.path), Other: g.Key, Numbers: reason.Turn{
		Since: g.wait.since, Until: g.wait.until,
	}}, true
}

// NodesOpenTo returns the nodes that are not kept from a pod, for a pod group it is not of; false: none is, so it may use all. The node on which
// preemption made a place for it is never kept from it.
func (l *Ledger) NodesOpenTo(uid UID) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if l.keeper == nil || r != nil && r.group == l.keeper {
		return nil, false
	}
	var open []string
	for _, e := range l.nodeList { // into a set: order does not matter
		if e.keptFor == nil || r != nil && r.place != nil && r.place.node == e {
			open = append(open, e.Name)
		}
	}
	return open, true
}
