package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// The room of a nominated pod is taken on its node from the start. So "is there room for it" asks what is left beside its own request, and
// whether its victims are gone.

// roomIsThere reports whether the node has room for the pod by now, without regard to other pods that are nominated to it.
func (t *nodeTable) roomIsThere(r *record) bool {
	p := r.nomination
	if p.hasConflict() { // the victim may run on another node, so changes of this one do not show when it is gone
		return false
	}
	return p.isRoomThere(func() bool { return t.hasRoomBeside(r, nil) })
}

// hasConflict reports whether the pod would not fit beside one of its victims, whatever room there is.
func (p *nomination) hasConflict() bool {
	return slices.ContainsFunc(p.victims, func(v *record) bool { return v.victim.conflicts })
}

// hasRoomFor is roomIsThere for a pod that starts together with others, which need their room on the node too.
func (t *nodeTable) hasRoomFor(r *record, together []*record) bool {
	return !r.nomination.hasConflict() && t.hasRoomBeside(r, together)
}

// hasRoomBeside is hasRoomFor without regard to victims that are in the way for another reason than their room.
func (t *nodeTable) hasRoomBeside(r *record, together []*record) bool {
	e := r.nomination.node
	if r.assumedOn != e {
		return false
	}
	others, pods := e.used.List(), e.assumed+e.foreignPods
	for _, o := range e.on {
		if o != r && o.nomination != nil && !o.state.charged() && !slices.Contains(together, o) {
			others, pods = others.Sub(o.Request), pods-1
		}
	}
	return !t.overfull(e, others, pods, r.Request)
}

// overfull reports whether a node holds too much with these amounts and so many pods on it: too many pods, or more than it has of something
// that the request names.
func (t *nodeTable) overfull(e *node, used resource.List, pods int, request resource.List) bool {
	return capacity.Slots(e.Pods, pods) < 0 || t.capacityOf(e).Overfull(e.Allocatable.Sub(used), request)
}

// needsRoomOf reports whether the node of a victim lacks room for the pods nominated to it while the victim stays.
func (t *nodeTable) needsRoomOf(v *record, now int64) bool {
	e := v.assumedOn
	if e == nil {
		return false
	}
	used, pods := e.used.List(), e.assumed+e.foreignPods
	for _, o := range e.on {
		if o != v && (o.victim != nil || o.leavingAt(now)) {
			used, pods = used.Sub(o.Request), pods-1
		}
	}
	return t.overfull(e, used, pods, v.Request)
}

// nominatedNodes returns the nodes of pods that are all nominated and have room there; given: at least one is nominated.
func (t *nodeTable) nominatedNodes(pods []*record) (nodes []*node, given bool) {
	for _, r := range pods {
		given = given || r.nomination != nil
	}
	if !given {
		return nil, false
	}
	for _, r := range pods {
		if r.nomination == nil || !t.hasRoomFor(r, pods) {
			return nil, true
		}
		nodes = append(nodes, r.nomination.node)
	}
	return nodes, true
}

// nominated is how many waiting pods of the group are nominated.
func (g *group) nominated() (n int) {
	for _, r := range g.pods { // a count: order does not matter
		n += btoi(r.nomination != nil && !r.state.charged())
	}
	return n
}

// NodesNominatedToOthers returns the nodes that the pod may not use because their room is taken for pods that are nominated there: what is free
// besides is too small for this pod. nil: none, as in most cases. Plugin Fairway asks at Filter (pkg/plugin/filter.go). A release does not ask: it
// counts that room as used (node.used).
func (l *Ledger) NodesNominatedToOthers(uid UID) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || len(l.nominations.pods) == 0 {
		return nil
	}
	var taken map[string]bool
	for _, o := range l.nominations.pods {
		e := o.nomination.node
		if o == r || o.assumedOn != e || e == r.assumedOn || taken[e.Name] || r.class == nil || l.nodes.fits(e, &r.class.room) {
			continue
		}
		if taken == nil {
			taken = map[string]bool{}
		}
		taken[e.Name] = true
	}
	return taken
}
