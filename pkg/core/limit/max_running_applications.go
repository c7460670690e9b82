package limit

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// Level is a level of a path, or a user, as far as the number of applications goes.
type Level struct {
	Running int64 // applications that may run
	Most    queue.Limit
}

// MaxRunningApplications returns the first level that admits no further application, and
// whether there is one. YARN FairScheduler: maxRunningApps counts the whole subtree and is
// tested on the leaf and on each ancestor; a user's limit counts over all queues.
func MaxRunningApplications(levels []Level) (index int, over bool) {
	for i, l := range levels {
		if !l.Most.Admits(l.Running + 1) {
			return i, true
		}
	}
	return 0, false
}

// HighestFull returns the last level that is exactly at its limit, and whether there is
// one. Levels go from the leaf to the root: below that level, the slot of an application
// that ends goes to whoever was submitted first. A level above its limit (it was lowered)
// frees nothing.
func HighestFull(levels []Level) (index int, full bool) {
	for i, l := range levels {
		if l.Most.Stated && l.Running == l.Most.Most {
			index, full = i, true
		}
	}
	return index, full
}
