package ledger

// reviewGroup counts a group's pods again after one of them moved or its declaration changed, and does what follows.
func (l *consequences) reviewGroup(g *group) {
	told := g.redeclared
	g.redeclared = false
	g.count()
	if len(g.pods) == 0 {
		g.Members.Whole, g.attempts, g.retryAt, g.since = told && g.PodGroup.Whole, 0, 0, 0
	}
	if g.declared && g.Together() && g.Bound >= g.Minimum {
		l.makeWhole(g)
	}
	if complete := g.declared && g.Complete() || g.Members.Whole; complete != g.complete || told {
		g.complete = complete
		l.effects.judgeGroupLater(g)
	}
	if g.Taken > 0 && (g.Broken() || !g.complete) {
		l.breakUp(g)
	}
	l.groupRelease.note(g)
	l.groups.notePartial(g)
	if !g.Together() || !g.complete || g.Need() == 0 {
		l.endWait(&g.wait)
	}
	l.groups.dropUnused(g)
}

// makeWhole: from now on its pods are pods like any others.
func (l *consequences) makeWhole(g *group) {
	g.Members.Whole, g.attempts, g.retryAt = true, 0, 0
	l.endWait(&g.wait)
	l.version++
}

// breakUp takes all released pods of a group back that cannot be whole with them: those that were not tried yet at once, the others when their attempts
// have been rejected.
func (l *consequences) breakUp(g *group) {
	g.pause(l.now)
	for _, r := range g.pods { // each for itself: order does not matter
		switch r.state {
		case Released:
			l.wait(r, l.now)
			l.groupRelease.takeBack(r)
		case Reserved:
			l.groupRelease.takeBack(r)
		case Waiting:
			l.effects.judgeLater(r)
		case Parked, Bound, Gone:
		}
	}
	g.count()
}
