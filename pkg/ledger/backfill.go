package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/largepod"
)

// A node that is held for large pods fills with idle room until enough of its pods have ended. A pod that says for how long it runs may use that room if it
// ends before a large one could start there: see core/largepod. It has its turn in the order of queues like any other. Of each class, the pod whose turn it
// is decides: if it does not end in time, none of its class uses held room before it.
//
// If it runs for longer than it said, the large pod waits for it as for any other pod of the node, while the hold lasts.

// backfills returns a held node that the pod may use meanwhile; nil: none.
func (l *contents) backfills(r *record, now int64) *node {
	if r.Lasts == 0 || r.nomination != nil {
		return nil
	}
	for _, e := range l.nodeHolds.nodes {
		if l.roomMeanwhile(e, r.class) && largepod.EndsInTime(r.Lasts, l.roomAtTheEarliest(e, l.nodeHolds.For.class, now), now) {
			return e
		}
	}
	return nil
}

// mayBackfill reports whether a pod of the class would fit on a held node, so that it may use it if it ends in time.
func (l *contents) mayBackfill(c *class) bool {
	return slices.ContainsFunc(l.nodeHolds.nodes, func(e *node) bool { return l.roomMeanwhile(e, c) })
}

// roomMeanwhile reports whether a node that is held for large pods has room for a pod of another class. No pod of a group gets it that starts with others.
func (l *contents) roomMeanwhile(e *node, c *class) bool {
	w := e.heldFor
	return w != nil && w.class != nil && w.class != c && !c.group.startsTogether() && l.nodes.hasRoom(e, &c.room)
}

// roomAtTheEarliest is when a node may have room for a pod of the class at the earliest.
func (l *contents) roomAtTheEarliest(e *node, c *class, now int64) int64 {
	return largepod.Earliest(l.nodes.lacking(e, c.request), e.running(l.window.headedFor(e), now), now)
}

// running is what runs on a node, and what is about to.
func (e *node) running(soon []*record, now int64) (all []largepod.Running) {
	for _, r := range soon {
		all = append(all, largepod.Running{Request: r.Request, Since: now, Ends: r.endsAt(now)})
	}
	for _, r := range e.on { // sorted by who asks, and equal ones are equal to it
		if r.state == Bound {
			since := cmp.Or(r.Bound, r.since)
			all = append(all, largepod.Running{Request: r.Request, Since: since, Ends: r.endsAt(since)})
		}
	}
	return all
}

// usesHeldRoom reports whether the pod is released to a node that is held for others, since it ends in time.
func (e *node) usesHeldRoom(r *record) bool {
	return e != nil && e.isHeldFrom(r.waiter()) && r.nomination == nil
}
