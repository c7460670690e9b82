package ledger

import (
	"fmt"
	"slices"
)

// checkGroups counts the pods of every group anew, and looks for one that holds what it must not.
func (l *Ledger) checkGroups() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	members := map[*group]int{}
	for _, uid := range sortedKeys(l.pods) {
		r := l.pods[uid]
		if r.group == nil {
			if r.Gang != "" {
				say("pod %s is in no group, should be in %s", uid, r.Gang)
			}
			continue
		}
		members[r.group]++
		if r.group.Key != r.Gang || r.inGroup >= len(r.group.pods) || r.group.pods[r.inGroup] != r {
			say("pod %s of group %s is listed in %s", uid, r.Gang, r.group.Key)
		}
	}
	onItsWay := 0
	for _, key := range sortedKeys(l.gangs) {
		g := l.gangs[key]
		if members[g] != len(g.pods) {
			say("group %s lists %d pods, has %d", key, len(g.pods), members[g])
		}
		was, reserved := g.Members, g.reserved
		l.countGroup(g)
		was.Ready = g.Ready // counted when somebody asks
		if was != g.Members || reserved != g.reserved {
			say("group %s has %+v, counted %+v", key, g.Members, was)
		}
		if !g.declared && len(g.pods) == 0 {
			say("group %s is kept for nobody", key)
		}
		if complete := g.declared && g.Complete() || g.Members.Whole; complete != g.complete {
			say("group %s: complete is %v, should be %v", key, g.complete, complete)
		}
		if g.Together() && g.Taken > 0 {
			onItsWay += btoi(!g.Broken() && g.complete)
			if l.onItsWay != g && !g.Broken() {
				say("group %s is on its way, and not noted so", key)
			}
		}
		if partial := g.declared && g.Partial() && g.complete; partial != slices.Contains(l.partial, g) {
			say("group %s: partial is %v", key, partial)
		}
		if g.wait.until != 0 && l.keeper != g {
			say("nothing is kept for group %s any more", key)
		}
	}
	if onItsWay > 1 {
		say("%d groups are on their way", onItsWay)
	}
	for _, e := range l.nodeList {
		if e.keptFor != nil && e.keptFor != l.keeper {
			say("node %s is kept for group %s, which has no turn", e.Name, e.keptFor.Key)
		}
	}
	return wrong
}
