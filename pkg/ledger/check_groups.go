package ledger

import (
	"fmt"
	"slices"
)

// checkGroups looks at every group, and at the nodes that are held.
func (l *Ledger) checkGroups() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	members := map[*group]int{}
	for _, uid := range sortedKeys(l.pods) {
		r := l.pods[uid]
		if r.group == nil {
			if r.PodGroup != "" {
				say("pod %s is in no group, should be in %s", uid, r.PodGroup)
			}
			continue
		}
		members[r.group]++
		if r.group.Key != r.PodGroup || r.inGroup >= len(r.group.pods) || r.group.pods[r.inGroup] != r {
			say("pod %s of group %s is listed in %s", uid, r.PodGroup, r.group.Key)
		}
	}
	starting := 0
	for _, key := range sortedKeys(l.groups.byKey) {
		g := l.groups.byKey[key]
		if members[g] != len(g.pods) {
			say("group %s lists %d pods, has %d", key, len(g.pods), members[g])
		}
		wrong = append(wrong, l.checkGroup(g)...)
		starting += btoi(g.Together() && g.Taken > 0 && !g.Broken() && g.complete)
	}
	if starting > 1 {
		say("%d groups are starting", starting)
	}
	for _, e := range l.nodes.all {
		if e.heldFor != nil && e.heldFor != l.nodeHolds.Group {
			say("node %s is held for group %s, which has no turn", e.Name, e.heldFor.Key)
		}
	}
	if l.nodeHolds.Held() != (l.nodeHolds.behind.leaf != nil) || l.nodeHolds.Held() != (l.nodeHolds.Until != 0) {
		say("nodes are held until %d, in front of %+v: which group are they for?", l.nodeHolds.Until, l.nodeHolds.behind)
	}
	return wrong
}

// checkGroup counts the pods of a group again, and compares what is noted of it.
func (l *Ledger) checkGroup(g *group) (wrong []string) {
	say := func(format string, args ...any) {
		wrong = append(wrong, "group "+g.Key+": "+fmt.Sprintf(format, args...))
	}
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
	if g.Together() && g.Taken > 0 && l.groupRelease.starting != g && !g.Broken() {
		say("it is starting, and not noted so")
	}
	if partial := g.declared && g.Partial() && g.complete; partial != slices.Contains(l.groups.partial, g) {
		say("partial should be %v", partial)
	}
	return wrong
}
