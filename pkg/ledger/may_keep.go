package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/keep"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// mayHold reports whether these nodes may be held for pods of a group, and why not: see core/keep. It judges the end of the hold, when all of
// the nodes are empty: else a group could have them emptied one pod at a time.
func (l *contents) mayHold(pods []*record, nodes []*node) (reason.ShareForbids, bool) {
	j := judgement{ledger: l, queues: queuesOf(pods), pods: pods, on: usedOn(&l.window, nodes)}
	var whole resource.Sum
	for _, e := range nodes {
		whole.Add(e.Allocatable.Sub(e.foreign.List()).Max(resource.List{}))
	}
	whole.SubSum(&l.nodeHolds.free) // if they are held already, the queues have what is free there
	return j.allows(whole.List())
}

// mayKeepFor reports whether room may be kept for a nominated pod on its node. That room is counted for its queues already. What pods that
// are leaving the node still use is taken off their queues: a pod that replaces pods of its own queue takes nothing from others. Once the room
// is there, only those count that have left: what still leaves has made no room yet, and may take long.
func (l *contents) mayKeepFor(r *record, now int64) bool {
	on := map[*queueAccount]*resource.Sum{}
	var own resource.Sum
	own.AddSum(&r.nomination.left)
	there := l.nodes.roomIsThere(r)
	for _, o := range r.nomination.node.on {
		if there || o == r || !o.leavingAt(now) {
			continue
		}
		countOn(on, o)
		if o.leaf == r.leaf {
			own.Add(o.Request)
		}
	}
	j := judgement{ledger: l, queues: queuesOf([]*record{r}), pods: []*record{r}, asks: r.Request, on: on}
	if r.Request.Fits(own.List()) {
		return true
	}
	_, may := j.allows(resource.List{})
	return may
}

// judgement is a question to core/keep.
type judgement struct {
	ledger *contents
	pods   []*record                       // for which room is kept
	queues []*queueAccount                 // of these pods
	asks   resource.List                   // of the pod whose room it is; zero: it is that of whole nodes
	on     map[*queueAccount]*resource.Sum // what queues use where it is kept, which will be gone
	held   heldBack                        // nil: not asked for yet
}

// allows reports whether this room may be kept, and why not.
func (j *judgement) allows(room resource.List) (reason.ShareForbids, bool) {
	levels := make([]keep.Level, len(j.queues))
	for i, a := range j.queues {
		l := &levels[i]
		l.Queue, l.WithinGuarantee, l.Started = j.stands(a, a.parent), j.guarantees(a), a.withStarted(j.pods)
		l.Usage = l.Usage.Add(room)
		l.Siblings = func(yield func(keep.Sibling) bool) { j.siblings(a, yield) }
	}
	return keep.Allowed(j.ledger.shares.total, levels)
}

// stands is what core/keep needs to know of a queue. Its usage has what is kept for it, and is without what it uses where the room is to be
// kept. Of its share and its guarantee, it has what counts for other queues below from: see fairshare.Covered.
func (j *judgement) stands(a, from *queueAccount) keep.Queue {
	q := keep.Queue{Path: a.path, Rule: a.parent.spec.Rule(), Guaranteed: a.spec.Guaranteed}
	var part bool
	if q.Share, part = j.ledger.shares.covered(a, from); part {
		q.Guaranteed = q.Guaranteed.Min(q.Share)
	}
	if gone := j.on[a]; gone == nil { // as of most queues
		q.Usage = a.standing().List()
	} else {
		var usage resource.Sum
		usage.AddSum(a.standing())
		usage.SubSum(gone)
		q.Usage = usage.List()
	}
	return q
}

// guarantees reports whether the queue, with the room, is not above its guarantee of something that the pod asks for.
func (j *judgement) guarantees(a *queueAccount) bool {
	rule := a.parent.spec.Rule()
	return j.asks.Len() > 0 && a.spec.Guaranteed.Len() > 0 &&
		preemption.Pays(rule, j.asks, a.standing().List(), preemption.GuaranteedTarget(rule, a.spec.Guaranteed, a.demand.List())) != ""
}

// withStarted is what a queue will use once these pods and all nominated ones have started.
func (a *queueAccount) withStarted(pods []*record) resource.List {
	var usage resource.Sum
	usage.AddSum(&a.usage)
	if a.kept != nil {
		usage.AddSum(&a.kept.nominated)
	}
	return usage.List().Add(requestsUnder(a, pods))
}

// requestsUnder is what those of the pods ask for that are in the queue and not nominated: what is nominated is kept already.
func requestsUnder(a *queueAccount, pods []*record) resource.List {
	var asked resource.Sum
	for _, r := range pods {
		if r.nomination == nil && r.leaf.isUnder(a) {
			asked.Add(r.Request)
		}
	}
	return asked.List()
}

// siblings passes on the siblings of a queue that have waiting pods. Those for which room is kept, too, are among them: else a group with one small pod in
// another queue could take what that queue's other pods are owed.
func (j *judgement) siblings(of *queueAccount, yield func(keep.Sibling) bool) {
	for _, a := range of.parent.kids {
		if a.pending == 0 || a == of {
			continue
		}
		s := keep.Sibling{Rule: a.parent.spec.Rule(), Share: j.ledger.shares.of(a), Queues: func(yield func(keep.Queue) bool) { j.below(a, of.parent, yield) }}
		if groups, only := j.ledger.groupsOnly(a); only {
			s.GroupsOnly, s.Started = true, a.withSmallest(groups, j.ledger.shares.total)
		}
		if !yield(s) {
			return
		}
	}
}

// below passes on a queue with waiting pods and those below it, as queues below from see them. The pods for which room is kept count as started.
func (j *judgement) below(a, from *queueAccount, yield func(keep.Queue) bool) bool {
	if a.pending == 0 {
		return true
	}
	q := j.stands(a, from)
	if slices.Contains(j.queues, a) {
		q.Usage = q.Usage.Add(requestsUnder(a, j.pods))
	}
	q.Demand = func() (resource.List, bool) { return j.demand(a) }
	if !yield(q) {
		return false
	}
	for _, kid := range a.kids {
		if !j.below(kid, from, yield) {
			return false
		}
	}
	return true
}

// groupsOnly returns the pod groups that wait for their start in a queue; false: there are none, or other pods wait too.
func (l *contents) groupsOnly(a *queueAccount) ([]*group, bool) {
	groups, only := a.waitingGroups(nil)
	if !only || len(groups) == 0 {
		return nil, false
	}
	for _, r := range l.window.parked {
		if !r.group.startsTogether() && r.leaf.isUnder(a) {
			return nil, false
		}
	}
	return groups, true
}

// waitingGroups adds to found the pod groups that have pods in the pod queues of a queue. only: no other pods are in these.
func (a *queueAccount) waitingGroups(found []*group) (groups []*group, only bool) {
	for _, app := range a.apps { // a set: order does not matter
		for i := range app.podQueues {
			switch g := app.podQueues[i].class.group; {
			case !g.startsTogether():
				return nil, false
			case !slices.Contains(found, g):
				found = append(found, g)
			}
		}
	}
	for _, kid := range a.kids {
		if found, only = kid.waitingGroups(found); !only {
			return nil, false
		}
	}
	return found, true
}

// withSmallest is what a queue will use once the smallest of these groups has started.
func (a *queueAccount) withSmallest(groups []*group, total resource.List) (least resource.List) {
	rule := a.parent.spec.Rule()
	for i, g := range groups { // the least of all: order does not matter
		if u := a.withStarted(g.next(g.Need())); i == 0 || preemption.CompareDominant(rule, total, u, least) < 0 {
			least = u
		}
	}
	return least
}

// demand is what a queue could use if there were room, and whether it waits for some of that beside the pods for which the room is kept.
func (j *judgement) demand(a *queueAccount) (demand resource.List, waits bool) {
	if j.held == nil {
		j.held = j.ledger.heldBack()
	}
	demand = a.claimable(j.held)
	return demand, !demand.Fits(a.withStarted(j.pods))
}

// usedOn is what our pods use on nodes, or are nominated to use, by queue.
func usedOn(w *window, nodes []*node) map[*queueAccount]*resource.Sum {
	on := map[*queueAccount]*resource.Sum{}
	chosen := map[*node]bool{}
	for _, e := range nodes {
		chosen[e] = true
		for _, r := range e.on {
			countOn(on, r)
		}
	}
	for _, in := range []roster{w.released, w.reserved} {
		for _, r := range in {
			if chosen[r.assumedOn] {
				countOn(on, r)
			}
		}
	}
	return on
}

func countOn(on map[*queueAccount]*resource.Sum, r *record) {
	for a := r.leaf; a != nil; a = a.parent {
		if on[a] == nil {
			on[a] = &resource.Sum{}
		}
		on[a].Add(r.Request)
	}
}

// partOf is the largest part of the total that the pods of a queue use on the node, in millionths.
func (e *node) partOf(a *queueAccount, total resource.List) int64 {
	var used resource.Sum
	for _, r := range e.on {
		if r.leaf != nil && r.leaf.isUnder(a) {
			used.Add(r.Request)
		}
	}
	return millionths(used.List(), total)
}
