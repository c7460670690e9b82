package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
)

// checkEntries counts the applications in each queue and of each of its users, and looks for one that is refused and would fit.
func (c *checker) checkEntries() {
	entries, refused := &c.applications.entries, 0
	in := make([]int64, len(c.tree))
	for i, leaf := range c.tree {
		users := map[string]int64{}
		for _, app := range leaf.applications {
			if refused += btoi(app.entry.Waits); app.entry.User != app.slot.User || app.entry.Submitted != app.slot.Submitted {
				c.say("%s: its entry is of %s at %d, its slot of %s at %d", app.title(), app.entry.User, app.entry.Submitted, app.slot.User, app.slot.Submitted)
			}
			if !app.entry.Runs {
				continue
			}
			users[app.entry.User]++
			in[i]++
		}
		for _, user := range sortedKeys(users) {
			if counted := entries.OfUser(&leaf.entries, user); counted != users[user] {
				c.say("%s: %s has %d applications in it, counted %d", leaf.path, user, users[user], counted)
			}
		}
	}
	c.addUp(in)
	for i, a := range c.tree {
		if a.entries.Running != in[i] || a.entries.Stop != a.admission.Stop {
			c.say("%s: %d applications are in it, counted %d; it is stopped: %v and %v", a.path, in[i], a.entries.Running, a.entries.Stop, a.admission.Stop)
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
