package ledger

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// checkGroups looks at every group, and at the nodes that are held.
func (c *checker) checkGroups() {
	members := map[*group]int{}
	for _, r := range c.byUID {
		if r.group == nil {
			if r.PodGroup != "" {
				c.say("pod %s is in no group, should be in %s", r.UID, r.PodGroup)
			}
			continue
		}
		members[r.group]++
		if r.group.Key != r.PodGroup || !r.group.pods.has(r, ofGroup) {
			c.say("pod %s of group %s is listed in %s", r.UID, r.PodGroup, r.group.Key)
		}
	}
	starting := 0
	for _, key := range sortedKeys(c.groups.byKey) {
		g := c.groups.byKey[key]
		if members[g] != len(g.pods) {
			c.say("group %s lists %d pods, has %d", key, len(g.pods), members[g])
		}
		c.checkGroup(g)
		starting += btoi(g.Together() && g.Taken > 0 && !g.Broken() && g.complete)
	}
	if starting > 1 {
		c.say("%d groups are starting", starting)
	}
	for _, e := range c.nodes.all {
		if e.heldFor != nil && e.heldFor != c.nodeHolds.For {
			c.say("node %s is held for %s, which has no turn", e.Name, e.heldFor.title())
		}
	}
	if (c.nodeHolds.Held() && c.nodeHolds.For.group != nil) != (c.nodeHolds.behind.leaf != nil) || c.nodeHolds.Held() != (c.nodeHolds.leaf != nil) || c.nodeHolds.Held() != (c.nodeHolds.Until != 0) {
		c.say("nodes are held until %d, in front of %+v: which group are they for?", c.nodeHolds.Until, c.nodeHolds.behind)
	}
	c.checkKept()
}

// checkKept adds up what is kept for each queue.
func (c *checker) checkKept() {
	held, nominated, nominees := map[*queueAccount]*resource.Sum{}, map[*queueAccount]*resource.Sum{}, map[*queueAccount]int{}
	add := func(to map[*queueAccount]*resource.Sum, a *queueAccount, amounts resource.List) {
		if to[a] == nil {
			to[a] = &resource.Sum{}
		}
		to[a].Add(amounts)
	}
	if h := &c.nodeHolds; h.Held() {
		for _, e := range c.nodes.all {
			if e.heldFor == nil || !e.Usable {
				continue
			}
			for _, a := range h.queues {
				add(held, a, e.Allocatable.Sub(e.used.List()).Max(resource.List{}))
			}
		}
	}
	for _, r := range c.nominations.pods {
		for a := r.leaf; a != nil && a.parent != nil && !r.state.charged(); a = a.parent {
			add(nominated, a, r.Request)
			nominees[a]++
		}
	}
	for _, a := range c.tree {
		var is kept
		if a.kept != nil {
			is = *a.kept
		}
		stale := c.nodeHolds.Held() && c.nodeHolds.For.moved // the next walk counts it again
		if !is.nominated.Equal(sumOrNone(nominated[a.queueAccount])) || is.nominees != nominees[a.queueAccount] || !stale && !is.held.Equal(sumOrNone(held[a.queueAccount])) {
			c.say("queue %s: %v is kept for %d nominated pods, and %v held; it should be %v for %d, and %v", a.path,
				is.nominated.List(), is.nominees, is.held.List(), sumOrNone(nominated[a.queueAccount]).List(), nominees[a.queueAccount], sumOrNone(held[a.queueAccount]).List())
		}
	}
}

func sumOrNone(s *resource.Sum) *resource.Sum {
	if s == nil {
		return &resource.Sum{}
	}
	return s
}

// checkGroup counts the pods of a group again, and compares what is noted of it.
func (c *checker) checkGroup(g *group) {
	say := func(format string, args ...any) { c.say("group %s: %s", g.Key, fmt.Sprintf(format, args...)) }
	was, reserved := g.Members, g.reserved
	g.count()
	was.Ready = g.Ready // counted when somebody asks
	if was != g.Members || reserved != g.reserved {
		say("it has %+v, counted %+v", g.Members, was)
	}
	if !g.declared && len(g.pods) == 0 {
		say("nothing names it")
	}
	if complete := g.declared && g.Complete() || g.Members.Whole; complete != g.complete {
		say("complete is %v, should be %v", g.complete, complete)
	}
	if g.Together() && g.Taken > 0 && c.groupRelease.starting != g && !g.Broken() {
		say("it is starting, and not noted so")
	}
	if partial := g.declared && g.Partial() && g.complete; partial != slices.Contains(c.groups.partial, g) {
		say("partial should be %v", partial)
	}
}
