package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
)

// checkEntries counts the applications in each queue and of each of its users, and looks for one that is refused and would fit.
func (c *checker) checkEntries() {
	entries, refused := &c.applications.entries, 0
	in := map[*account]int64{}
	for _, n := range c.queues.Nodes {
		leaf, users := c.queues.accounts[n.Path], map[string]int64{}
		for _, name := range sortedKeys(leaf.apps) {
			app := leaf.apps[name]
			if refused += btoi(app.entry.Waits); app.entry.User != app.slot.User || app.entry.Submitted != app.slot.Submitted {
				c.say("%s: its entry is of %s at %d, its slot of %s at %d", app.title(), app.entry.User, app.entry.Submitted, app.slot.User, app.slot.Submitted)
			}
			if !app.entry.Runs {
				continue
			}
			users[app.entry.User]++
			for a := leaf; a != nil; a = a.parent {
				in[a]++
			}
		}
		for _, user := range sortedKeys(users) {
			if counted := entries.OfUser(&leaf.entries, user); counted != users[user] {
				c.say("%s: %s has %d applications in it, counted %d", n.Path, user, users[user], counted)
			}
		}
	}
	for _, n := range c.queues.Nodes {
		if a := c.queues.accounts[n.Path]; a.entries.Running != in[a] || a.entries.Stop != a.admission.Stop {
			c.say("%s: %d applications are in it, counted %d; it is stopped: %v and %v", n.Path, in[a], a.entries.Running, a.entries.Stop, a.admission.Stop)
		}
	}
	waiting := entries.Waiting()
	if sorted := slices.IsSortedFunc(waiting, admission.Compare); refused != len(waiting) || !sorted {
		c.say("%d applications are refused, %d in line, in order %v", refused, len(waiting), sorted)
	}
	for _, a := range waiting {
		if _, fits := entries.Fits(a.Leaf, a.User, a.Submitted, c.applications.mode()); fits {
			c.say("%s %s is refused, and no limit does so", a.Leaf.Path, a.Name)
		}
	}
}
