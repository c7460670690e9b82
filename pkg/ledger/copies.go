package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// copiedNode is a node as plans see it. It does not change once it is made.
type copiedNode struct {
	preemption.Node
	leaving []leavingPod
	closed  bool   // to claimants
	tree    uint64 // the tree whose indices it holds
	until   int64  // when a leaving pod will count as stuck, or an exempt pod may go again; 0: never
}

// coming is a claimant that is nominated to a node.
type coming struct {
	preemption.Nomination
	node string
}

type leavingPod struct {
	uid         string
	queue       int // -1 for none
	application string
	request     resource.List
	victim      bool // of a round of this process
}

// copyForPlan returns a node as plans see it. Nothing is copied again that has not changed.
func (e *node) copyForPlan(tree *queueTree, now int64) *copiedNode {
	if c := e.copied; c != nil && c.tree == tree.builds && (c.until == 0 || now <= c.until) {
		return c
	}
	c := &copiedNode{tree: tree.builds, Node: preemption.Node{Name: e.Name}}
	var stay resource.Sum
	stay.AddSum(&e.used)
	pods := e.assumed + e.foreignPods
	for _, r := range e.on {
		leaving := r.leavingAt(now)
		if leaving {
			c.holdsUntil(r.Deadline + preemption.Overstay)
		}
		switch {
		case leaving || r.victim != nil:
			stay.Sub(r.Request)
			pods--
			gone := leavingPod{uid: string(r.UID), queue: -1, request: r.Request, victim: r.victim != nil}
			if r.leaf != nil {
				gone.queue, gone.application = r.leaf.ordinal-1, r.app.slot.Name
			}
			c.leaving = append(c.leaving, gone)
		case r.mayGo(tree.root, now):
			c.Candidates = append(c.Candidates, r.candidate())
		case r.state == Bound && r.exemptUntil > now:
			c.holdsUntil(r.exemptUntil)
		}
	}
	slices.SortFunc(c.Candidates, func(a, b preemption.Candidate) int { return cmp.Compare(a.UID, b.UID) })
	c.Free, c.Slots = e.Allocatable.Sub(stay.List()), capacity.Slots(e.Pods, pods)
	e.copied = c
	return c
}

func (c *copiedNode) holdsUntil(at int64) {
	if c.until == 0 || at < c.until {
		c.until = at
	}
}

func (r *record) mayGo(root *queueAccount, now int64) bool {
	return r.state == Bound && r.leaf != nil && r.leaf != root && !r.Terminating && r.exemptUntil <= now
}

func (r *record) candidate() preemption.Candidate {
	c := preemption.Candidate{
		UID: string(r.UID), Queue: r.leaf.ordinal - 1, Application: r.app.slot.Name, Request: r.Request, Priority: r.Priority,
		Driver: r.Role == application.Driver, Bound: r.Bound, Announced: r.Announced != 0, Replaces: r.replacement.At,
	}
	if r.inGangOfSeveral() {
		c.Gang = r.group.Key
	}
	return c
}
