package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Level is a queue of a path, or a user, with its number of applications and its limit.
type Level struct {
	Queue   string // the queue that states the limit
	User    string // the user whose applications are counted
	OfUser  bool   // counts all applications of the user, not all in Queue
	Running int64  // applications that may run, or that are in the queue
	Most    queue.Limit
	Cluster int64 // Most is a part of this number, that of the root; 0: it is stated
}

// MaxRunningApplications returns the reason for the first level that is full, and whether there is one. YARN
// FairScheduler: maxRunningApps counts the whole subtree and is tested on the leaf and on each ancestor; a
// user's limit counts across all queues.
func MaxRunningApplications(levels []Level) (reason.Reason, bool) {
	return full(levels, reason.MaxRunningApplications, reason.UserMaxRunningApplications)
}

// full returns the reason for the first level that admits no further application.
func full(levels []Level, queue, user reason.Code) (reason.Reason, bool) {
	for i := range levels {
		l := &levels[i]
		if !Full(levels[i : i+1]) {
			continue
		}
		code, n := queue, reason.Applications{Most: l.Most.Most, Running: l.Running, Cluster: l.Cluster}
		if l.OfUser {
			code, n.User = user, l.User
		}
		return reason.Reason{Code: code, Queue: l.Queue, Details: n}, true
	}
	return reason.Reason{}, false
}

// Full reports whether a level admits no further application. It is for those who do not need the reason, which costs more.
func Full(levels []Level) bool {
	for i := range levels {
		if l := &levels[i]; !l.Most.Admits(l.Running + 1) {
			return true
		}
	}
	return false
}

// HighestFull returns the last level that is exactly at its limit, and whether there is one. Levels go from
// the leaf to the root. When an application ends, its slot goes to the application below that level that was
// submitted first. A level above its limit (the limit was lowered) frees no slot.
func HighestFull(levels []Level) (index int, full bool) {
	for i, l := range levels {
		if l.Most.Stated && l.Running == l.Most.Most {
			index, full = i, true
		}
	}
	return index, full
}
