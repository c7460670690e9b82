// Package keep says whether room may be kept for a queue: nodes that are held for a pod group, or a nomination that no claim stands behind.
//
// Kept room lies idle, so others pay for it. It counts as usage of the queue for which it is kept, and a queue gets no more of it than it is
// owed: none that would bring the queue, or one above it, over its fair share while another queue below its own waits.
//
// Input is how queues would stand with the room; output is whether it may be kept. The package knows neither nodes nor pods, and must not
// decide which room is kept.
package keep

import (
	"iter"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Queue is how a queue would stand if the room were kept, and all of it were empty.
type Queue struct {
	Rule  queue.Rule    // of its parent
	Share resource.List // its instantaneous fair share
	// Usage is what it would use: of a queue for which room is kept with all of that room, of others without what they use there now.
	Usage resource.List
	// Waits: it has demand that nothing but room holds back.
	Waits bool
}

// Level is a queue for which room is kept, and the others that have their part of the same parent: its siblings and what is below them.
type Level struct {
	Queue
	Others iter.Seq[Queue]
}

// Allowed reports whether room may be kept for these queues: a leaf and the queues above it, without the root. The others of a level are
// looked at only where that matters.
func Allowed(total resource.List, levels []Level) bool {
	for _, l := range levels {
		if l.compare(total) <= 0 {
			continue
		}
		for o := range l.Others {
			if o.Waits && o.compare(total) < 0 {
				return false
			}
		}
	}
	return true
}

// compare compares the usage with the share: below it (-1), at it (0) or above it (1).
func (q *Queue) compare(total resource.List) int {
	return preemption.CompareDominant(q.Rule, total, q.Usage, q.Share)
}
