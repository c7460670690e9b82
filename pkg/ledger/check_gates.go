package ledger

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// checkGates derives the state of every application from its pods, and looks at who is at which gate.
func (c *checker) checkGates() {
	tells, states, timers := c.countPods(), map[*account][application.Completing + 1]int32{}, 0
	for _, n := range c.queues.Nodes {
		leaf := c.queues.accounts[n.Path]
		starting, accepted := 0, []*account(nil)
		for _, name := range sortedKeys(leaf.apps) {
			app := leaf.apps[name]
			if app.podCounts != tells[app] {
				c.say("%s %s: its pods tell %+v, counted %+v", n.Path, name, tells[app], app.podCounts)
			}
			is := application.StateOf(app.podCounts, application.Start{Gated: leaf.gated, Single: app.single(), Started: app.progress.Started})
			if app.state != is || !app.stated {
				c.say("%s %s: is %s, counted %v as %s", n.Path, name, is, app.stated, app.state)
			}
			for up := leaf; up != nil; up = up.parent {
				s := states[up]
				s[is]++
				states[up] = s
			}
			if is == application.Starting {
				starting++
				timers += btoi(leaf.gated)
				if !slices.Contains(leaf.starting, app) || leaf.gated == (app.inStarts == notIn) {
					c.say("%s %s: is Starting and not listed so", n.Path, name)
				}
			}
			if at := leaf.gated && is == application.Accepted && !app.single(); at != app.atGate {
				c.say("%s %s: at the gate is %v, should be %v", n.Path, name, app.atGate, at)
			}
			if app.atGate && app.asking > 0 {
				accepted = append(accepted, app)
			}
		}
		if starting != len(leaf.starting) {
			c.say("%s: %d applications are Starting, %d are listed", n.Path, starting, len(leaf.starting))
		}
		slices.SortFunc(accepted, startingOrder)
		if !slices.Equal(accepted, leaf.accepted) {
			c.say("%s: %d applications are in line at the gate, %d should be, or in another order", n.Path, len(leaf.accepted), len(accepted))
		}
		c.wrong = append(c.wrong, leaf.checkCounted(accepted)...)
	}
	for _, n := range c.queues.Nodes {
		if a := c.queues.accounts[n.Path]; a.states != states[a] {
			c.say("%s: applications by state %v, counted %v", n.Path, states[a], a.states)
		}
	}
	if timers != len(c.startTimers.timers) {
		c.say("%d applications are Starting, %d are timed", timers, len(c.startTimers.timers))
	}
}

// checkCounted: of those in line, as many count as demand as may start.
func (a *account) checkCounted(line []*account) (wrong []string) {
	n := 0
	if a.gated {
		n = int(min(max(a.spec.Starters()-int64(len(a.starting)), 0), int64(len(line))))
	}
	for _, name := range sortedKeys(a.apps) {
		app := a.apps[name]
		if counts := !app.atGate || slices.Contains(line[:n], app); counts != app.counted {
			wrong = append(wrong, fmt.Sprintf("%s %s: its demand counts: %v, should be %v", a.path, name, app.counted, counts))
		}
	}
	return wrong
}

func (c *checker) countPods() map[*account]application.Pods {
	all := map[*account]application.Pods{}
	for _, r := range c.pods {
		if r.app == nil {
			continue
		}
		p := all[r.app]
		driver := int32(btoi(r.Role == application.Driver))
		p.Drivers += driver
		p.WaitingDrivers += driver * int32(btoi(!r.state.charged()))
		p.HoldingDrivers += driver * int32(btoi(r.state.charged() && !r.Terminating))
		switch bound := r.state == Bound; {
		case !r.state.charged() && !r.inDoubt():
			p.Waiting++
		case r.Terminating:
			p.Leaving++
		default:
			p.Holding++
			p.Bound += int32(btoi(bound))
			p.BoundDrivers += int32(btoi(bound && r.Role == application.Driver))
			p.BoundExecutors += int32(btoi(bound && r.Role == application.Executor))
		}
		all[r.app] = p
	}
	return all
}
