package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Level is a level of a path, or a user, as far as the number of applications goes.
type Level struct {
	Queue   string // where the limit stands
	User    string // whose applications are counted
	OfUser  bool   // all that are the user's, and not all in Queue
	Running int64  // applications that may run
	Most    queue.Limit
}

// MaxRunningApplications says which is the first level that admits no further application,
// and whether there is one. YARN FairScheduler: maxRunningApps counts the whole subtree and is
// tested on the leaf and on each ancestor; a user's limit counts over all queues.
func MaxRunningApplications(levels []Level) (reason.Reason, bool) {
	for i := range levels {
		l := &levels[i]
		if l.Most.Admits(l.Running + 1) {
			continue
		}
		why := reason.Reason{Code: reason.MaxRunningApplications, Queue: l.Queue, Numbers: reason.Applications{Most: l.Most.Most, Running: l.Running}}
		if l.OfUser {
			why.Code, why.Other = reason.UserMaxRunningApplications, l.User
		}
		return why, true
	}
	return reason.Reason{}, false
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
