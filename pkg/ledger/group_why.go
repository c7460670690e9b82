package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// What keeps a pod group from being released: a limit, pods that are not there, or room.

// exceedsMax returns the first max on the paths below the ceiling that does not admit the pods of the group together. A nil ceiling is above the root.
func (g *group) exceedsMax(pods []*record, ceiling *queueAccount) (reason.Reason, bool) {
	for i, r := range pods {
		if slices.ContainsFunc(pods[:i], func(o *record) bool { return o.leaf == r.leaf }) {
			continue
		}
		for a := r.leaf; a != nil && a != ceiling; a = a.parent {
			if a.spec.Max.Len() == 0 {
				continue
			}
			var sum resource.Sum
			for _, o := range pods {
				if o.leaf.isUnder(a) {
					sum.Add(o.Request)
				}
			}
			if why, over := a.maxOn(sum.List()); over {
				why.PodGroup = g.Key
				return why, true
			}
		}
	}
	return reason.Reason{}, false
}

// stoppedBy says what keeps a group from being released now, besides room and its turn.
func (g *group) stoppedBy(queue string) (reason.Reason, bool) {
	if !g.startsTogether() || g.Taken > 0 {
		return reason.Reason{}, false
	}
	g.count()
	need := g.Need()
	if g.Ready < need {
		return g.incomplete(queue, g.Ready+g.Bound), true
	}
	return g.exceedsMax(g.next(need), nil)
}

// asksForRoom returns the pods that a group needs to start; nil: it asks for no room now.
func (g *group) asksForRoom() []*record {
	if !g.startsTogether() || g.Taken > 0 {
		return nil
	}
	g.count()
	if g.Ready < g.Need() || g.Need() == 0 {
		return nil
	}
	return g.next(g.Need())
}

// groupLacksRoom reports whether not all pods that a group needs to start fit on the nodes now.
func (l *contents) groupLacksRoom(g *group) bool {
	pods := g.asksForRoom()
	if pods == nil || l.opts.Extenders {
		return false
	}
	places, _, _ := l.nodes.pack(packingOf(g, pods, l.shares.total), false)
	return places == nil
}

// roomOfGroup says what room a group lacks; false: none.
func (l *contents) roomOfGroup(g *group, queue string) (reason.Reason, bool) {
	pods := g.asksForRoom()
	if pods == nil || l.opts.Extenders {
		return reason.Reason{}, false
	}
	p := packingOf(g, pods, l.shares.total)
	places, placed, lacks := l.nodes.pack(p, false)
	if places != nil {
		return reason.Reason{}, false
	}
	why, needed, until := reason.Reason{Code: reason.GangWaitsForRoom, Queue: queue, PodGroup: g.Key}, int64(len(pods)), int64(0)
	if l.nodeHolds.For == &g.wait {
		until = l.nodeHolds.Until
	}
	short := func(lacks resource.Name, empty bool, until int64) {
		_, free := l.nodes.lacksInAll(g, empty)
		why.Resource = lacks
		why.Details = reason.MinResources{Needed: needed, Stated: g.MinResources.Get(lacks), Free: free, Until: until}
	}
	switch _, could, never := l.nodes.pack(p, true); {
	case could < len(pods):
		why.Code, why.Resource, why.Details = reason.GangTooLarge, dominantOf(pods, l.shares.total), reason.Packing{Needed: needed, Fit: int64(could)}
		for _, o := range pods {
			why.Asked = resource.SatAdd(why.Asked, o.Request.Get(why.Resource))
		}
	case never != "":
		why.Code = reason.GangTooLarge
		short(never, true, 0)
	case placed == len(pods):
		short(lacks, false, until)
	default:
		why.Details = reason.Packing{Needed: needed, Fit: int64(placed), Until: until}
	}
	return why, true
}

// withShare adds to the reason of a group that waits for room whether its share forbids to hold nodes for it. While some are held for a
// group, no others are. This costs a look at all nodes and queues, and its numbers move with every pod: so it is for the answer to why a
// pod waits, not for its condition.
func (l *contents) withShare(g *group, why reason.Reason) reason.Reason {
	pods := g.asksForRoom()
	if pods == nil || l.nodeHolds.Held() {
		return why
	}
	_, forbids, _ := l.nodesToHold(packingOf(g, pods, l.shares.total))
	switch n := why.Details.(type) {
	case reason.Packing:
		n.Forbids = forbids
		why.Details = n
	case reason.MinResources:
		n.Forbids = forbids
		why.Details = n
	}
	return why
}

// dominantOf is the resource of which the pods together ask for the largest part of the cluster.
func dominantOf(pods []*record, total resource.List) (most resource.Name) {
	var sum resource.Sum
	for _, r := range pods {
		sum.Add(r.Request)
	}
	for i := range sum.Len() {
		e := sum.At(i)
		if most == "" || resource.CompareProducts3(uint64(e.Value), uint64(max(total.Get(most), 0)), 1,
			uint64(sum.Get(most)), uint64(max(total.Get(e.Name), 0)), 1) > 0 {
			most = e.Name
		}
	}
	return most
}
