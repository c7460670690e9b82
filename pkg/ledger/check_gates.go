package ledger

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// checkGates derives the state of every application from its pods, and looks at who is at which gate.
func (c *checker) checkGates() {
	var states [application.Completing + 1][]int64
	for s := range states {
		states[s] = make([]int64, len(c.tree))
	}
	timers := 0
	for i, leaf := range c.tree {
		starting, accepted := 0, []*appAccount(nil)
		for _, app := range leaf.applications {
			name := app.slot.Name
			if tells := app.countedPods(); app.podCounts != tells {
				c.say("%s %s: its pods tell %+v, counted %+v", leaf.path, name, tells, app.podCounts)
			}
			is := application.StateOf(app.podCounts, application.Start{Gated: leaf.gated, Single: app.single(), Started: app.progress.Started})
			if app.state != is || !app.stated {
				c.say("%s %s: is %s, counted %v as %s", leaf.path, name, is, app.stated, app.state)
			}
			states[is][i]++
			if is == application.Starting {
				starting++
				timers += btoi(leaf.gated)
				if !slices.Contains(leaf.starting, app) || leaf.gated == (app.inStarts == notIn) {
					c.say("%s %s: is Starting and not listed so", leaf.path, name)
				}
			}
			if at := leaf.gated && is == application.Accepted && !app.single(); at != app.atGate {
				c.say("%s %s: at the gate is %v, should be %v", leaf.path, name, app.atGate, at)
			}
			if app.atGate && app.asking > 0 {
				accepted = append(accepted, app)
			}
		}
		if starting != len(leaf.starting) {
			c.say("%s: %d applications are Starting, %d are listed", leaf.path, starting, len(leaf.starting))
		}
		slices.SortFunc(accepted, startingOrder)
		if !slices.Equal(accepted, leaf.accepted) {
			c.say("%s: %d applications are in line at the gate, %d should be, or in another order", leaf.path, len(leaf.accepted), len(accepted))
		}
		c.wrong = append(c.wrong, leaf.checkCounted(accepted)...)
	}
	for s := range states {
		c.addUp(states[s])
		for i, a := range c.tree {
			if int64(a.states[s]) != states[s][i] {
				c.say("%s: %d applications are %s, counted %d", a.path, states[s][i], application.State(s), a.states[s])
			}
		}
	}
	if timers != len(c.startTimers.timers) {
		c.say("%d applications are Starting, %d are timed", timers, len(c.startTimers.timers))
	}
}

// checkCounted: of those in line, as many count as demand as may start.
func (a *listedQueue) checkCounted(line []*appAccount) (wrong []string) {
	n := 0
	if a.gated {
		n = int(min(max(a.spec.Starters()-int64(len(a.starting)), 0), int64(len(line))))
	}
	for _, app := range a.applications {
		if counts := !app.atGate || slices.Contains(line[:n], app); counts != app.counted {
			wrong = append(wrong, fmt.Sprintf("%s %s: its demand counts: %v, should be %v", a.path, app.slot.Name, app.counted, counts))
		}
	}
	return wrong
}

// countedPods counts the pods of an application. That it lists all of its pods, checkMember and checkAccounts make sure.
func (a *appAccount) countedPods() (p application.Pods) {
	for _, r := range a.members {
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
	}
	return p
}
