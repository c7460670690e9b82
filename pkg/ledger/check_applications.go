package ledger

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// checkApplications counts those that run, and looks for one that is neither let in nor kept out.
func (c *checker) checkApplications() {
	drivers := c.countDrivers()
	c.checkEntries()
	admitted, users, queued := make([]int64, len(c.tree)), map[string]int64{}, 0
	for i, leaf := range c.tree {
		for _, app := range leaf.applications {
			name := app.slot.Name
			queued += btoi(app.slot.Waits)
			if fault := app.checkDrivers(); fault != "" {
				c.say("%s %s: %s", leaf.path, name, fault)
			}
			if fault := c.checkPriority(app); fault != "" {
				c.say("%s %s: %s", leaf.path, name, fault)
			}
			if app.slot.Runs {
				users[app.slot.User]++
				admitted[i]++
			}
		}
	}
	c.addUp(admitted)
	for i, a := range c.tree {
		if a.admission.Running != admitted[i] {
			c.say("%s: %d applications run, counted %d", a.path, admitted[i], a.admission.Running)
		}
		d := drivers[a.queueAccount]
		if d == nil {
			d = &resource.Sum{}
		}
		if !a.drivers.Equal(d) {
			c.say("%s: its drivers use %v, they add up to %v", a.path, a.drivers.List(), d.List())
		}
	}
	for user, n := range users { // each for itself: order does not matter
		if counted := c.applications.slots.OfUser(nil, user); n != counted {
			c.say("%s runs %d applications, counted %d", user, n, counted)
		}
	}
	if sorted := slices.IsSortedFunc(c.applications.slots.Waiting(), admission.Compare); queued != len(c.applications.slots.Waiting()) || !sorted {
		c.say("%d applications are kept out, %d in line, in order %v", queued, len(c.applications.slots.Waiting()), sorted)
	}
	for _, a := range c.applications.slots.Waiting() {
		if _, fits := c.applications.slots.Fits(a.Leaf, a.User, a.Submitted, c.applications.mode()); fits {
			c.say("%s %s is kept out, and no limit does so", a.Leaf.Path, a.Name)
		}
	}
}

// countDrivers adds up what drivers use, by leaf.
func (c *checker) countDrivers() map[*queueAccount]*resource.Sum {
	drivers := map[*queueAccount]*resource.Sum{}
	for _, r := range c.pods { // sums: order does not matter
		if r.app == nil || r.Role != application.Driver || !r.state.charged() {
			continue
		}
		if drivers[r.leaf] == nil {
			drivers[r.leaf] = &resource.Sum{}
		}
		drivers[r.leaf].Add(r.Request)
	}
	return drivers
}

func (a *appAccount) checkRuns(n *sums) (fault string) {
	switch {
	case a.wanting != n.wanting || a.limited != n.limited:
		return fmt.Sprintf("%d pods want to run, %d are kept out, counted %d and %d", n.wanting, n.limited, a.wanting, a.limited)
	case btoi(a.slot.Runs)+btoi(a.slot.Waits)+btoi(a.entry.Waits) > 1:
		return fmt.Sprintf("runs: %v, waits for a slot: %v, is refused: %v", a.slot.Runs, a.slot.Waits, a.entry.Waits)
	case (a.slot.Runs || a.slot.Waits) != a.entry.Runs:
		return fmt.Sprintf("has an entry: %v, but runs or waits for a slot: %v", a.entry.Runs, !a.entry.Runs)
	case a.wanting > 0 && !a.entry.Runs && !a.entry.Waits:
		return "is neither in its queue nor refused"
	case a.wanting == 0 && (a.entry.Runs || a.entry.Waits):
		return "has no pod that wants to run"
	case a.slot.Runs && a.limited > 0:
		return fmt.Sprintf("runs, with %d pods kept out", a.limited)
	case n.charged > 0 && !a.slot.Runs:
		return "has charged pods and does not run"
	}
	return ""
}

// checkPriority works the priority of an application out from its pods and the Queues.
func (c *checker) checkPriority(app *appAccount) string {
	var by *record
	for _, e := range app.members {
		driver := e.Role == application.Driver
		if by == nil || driver && by.Role != application.Driver || driver == (by.Role == application.Driver) && e.older(by) {
			by = e.record
		}
	}
	most := c.queues.root.spec.MaxPriority
	rule := application.Priorities{Default: app.parent.spec.DefaultPriority, Capped: most.Stated, Most: int32(most.Most)}
	if want := rule.OfApplication(by.priority()); app.priority != want {
		return fmt.Sprintf("has priority %d, should have %d, by pod %s", app.priority, want, by.Name)
	}
	return ""
}

// checkDrivers compares the list of an application's drivers with its pods, and looks whether the others wait with them if they are stuck.
func (a *appAccount) checkDrivers() string {
	drivers, waiting, stuck, holding := 0, 0, 0, false
	if first := a.appDrivers.first; first != nil {
		if a.appDrivers.first = nil; a.firstWaiting() != first {
			return "goes with driver " + first.Name + ", which is not the first"
		}
	}
	for _, e := range a.members {
		if e.Role != application.Driver {
			continue
		}
		drivers++
		waiting += btoi(!e.state.charged())
		stuck += btoi(e.isStuck())
		holding = holding || e.state.charged() && !e.Terminating
		if !a.appDrivers.all.has(e.record, ofDrivers) {
			return "does not list driver " + e.Name
		}
	}
	switch is := waiting > 0 && stuck == waiting && !holding; {
	case drivers != len(a.appDrivers.all) || stuck != int(a.stuck):
		return fmt.Sprintf("has %d drivers, %d of them stuck, counted %d and %d", drivers, stuck, len(a.appDrivers.all), a.stuck)
	case is != a.allStuck:
		return fmt.Sprintf("all of its drivers are stuck: %v, noted %v", is, !is)
	case !is:
		return ""
	}
	for _, e := range a.members {
		if e.Role != application.Driver && e.InQueue() {
			return "has pod " + e.Name + " in a pod queue while its driver is stuck"
		}
	}
	return ""
}
