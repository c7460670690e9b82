package simulator

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// filters answer as those of kube-scheduler do: they also count the room that is left on a node in the picture of a plan. The planner
// counts it too, in its own way, and a plan in which the two disagree is refused by its check.
type filters struct {
	preemption.Feasibility
	world preemption.World
	steps []step
}

// step is a commit: a claimant that comes, and the pods that go.
type step struct {
	claimant *preemption.Claimant
	node     int
	gone     []string
}

func (f *filters) Fits(c *preemption.Claimant, node int, gone []string) bool {
	return f.Feasibility.Fits(c, node, gone) && f.room(c, node, gone)
}

func (f *filters) room(c *preemption.Claimant, node int, gone []string) bool {
	n := &f.world.Nodes[node]
	free, slots := n.Free, n.Slots
	for i := range n.Candidates {
		uid := n.Candidates[i].UID
		if slices.Contains(gone, uid) || slices.ContainsFunc(f.steps, func(s step) bool { return slices.Contains(s.gone, uid) }) {
			free, slots = free.Add(n.Candidates[i].Request), slots+1
		}
	}
	for _, s := range f.steps {
		if s.node == node {
			free, slots = free.Sub(s.claimant.Request), slots-1
		}
	}
	for i := range c.Request.Len() {
		if e := c.Request.At(i); e.Value > 0 && e.Value > free.Get(e.Name) {
			return false
		}
	}
	return slots > 0
}

func (f *filters) Commit(c *preemption.Claimant, node int, gone []string) {
	f.Feasibility.Commit(c, node, gone)
	f.steps = append(f.steps, step{c, node, gone})
}

func (f *filters) Rollback(n int) {
	f.Feasibility.Rollback(n)
	f.steps = f.steps[:n]
}
