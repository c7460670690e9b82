// Package keep says whether room may be kept for a queue: nodes that are held for a pod group, or a nomination that no claim stands behind.
//
// Kept room lies idle, so others pay for it. It counts as usage of the queue for which it is kept, and a queue gets no more of it than it is
// owed: none that would bring the queue, or one above it, over its fair share while another queue waits that is below its own, or below its
// guarantee.
//
// If that other queue waits with pod groups alone, it may need kept room itself. Two such queues would forbid each other for ever, so only the one
// counts that would be closer to its share once its group has started.
//
// Input is how queues would stand with the room; output is whether it may be kept. The package knows neither nodes nor pods, and must not
// decide which room is kept.
package keep

import (
	"iter"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Queue is how a queue would stand if the room were kept, and all of it were empty.
type Queue struct {
	Path  queue.Path
	Rule  queue.Rule    // of its parent
	Share resource.List // its instantaneous fair share, as far as that counts for the others: see fairshare.Covered
	// Usage is what it would use: of a queue for which room is kept with all of that room, of others without what they use there now.
	Usage resource.List
	// Guaranteed is what another queue is guaranteed of each resource.
	Guaranteed resource.List
	// Demand is the demand of another queue, and whether it waits: whether nothing but room holds back some of it. It is asked for only where that matters.
	Demand func() (demand resource.List, waits bool)
}

// Level is a queue for which room is kept, and its siblings.
type Level struct {
	Queue
	// WithinGuarantee: the room is that of a pod, and within the guarantee of the queue for something that the pod asks for.
	WithinGuarantee bool
	// Started is what it would use once the pods have started for which room is kept.
	Started  resource.List
	Siblings iter.Seq[Sibling]
}

// Sibling is a queue beside one for which room is kept.
type Sibling struct {
	Rule  queue.Rule
	Share resource.List
	// GroupsOnly: no pod waits in it but those of pod groups. Started is what it would use once the smallest of them has started.
	GroupsOnly bool
	Started    resource.List
	// Queues are the sibling and the queues below it: further up, all of them share one part.
	Queues iter.Seq[Queue]
}

// Allowed reports whether room may be kept for these queues, and why not. They are a leaf and the queues above it, without the root.
// The siblings of a level are looked at only where that matters.
func Allowed(total resource.List, levels []Level) (why reason.ShareForbids, allowed bool) {
	for i := range levels {
		l := &levels[i]
		if l.WithinGuarantee || l.compare(total) <= 0 {
			continue
		}
		for s := range l.Siblings {
			if s.GroupsOnly && !s.closer(total, l) {
				continue
			}
			for q := range s.Queues {
				if below := q.waitsBelow(total); below != "" {
					return l.above(total, q.Path, below), false
				}
			}
		}
	}
	return reason.ShareForbids{}, true
}

// above says that the queue would be above its share while another waits.
func (l *Level) above(total resource.List, waiting queue.Path, below reason.Code) reason.ShareForbids {
	most := preemption.Dominant(l.Rule, total, l.Usage)
	return reason.ShareForbids{
		Queue: string(l.Path), Resource: most.Resource, Share: l.Share.Get(most.Resource), Usage: most.Amount,
		Waiting: string(waiting), Below: below,
	}
}

// compare compares the usage with the share: below it (-1), at it (0) or above it (1).
func (q *Queue) compare(total resource.List) int {
	return preemption.CompareDominant(q.Rule, total, q.Usage, q.Share)
}

// waitsBelow says of a queue that waits whether it is below its share, or below its guarantee as far as it asks for it. "": it is not, or
// does not wait.
func (q *Queue) waitsBelow(total resource.List) reason.Code {
	below := q.compare(total) < 0
	if !below && q.Guaranteed.Len() == 0 {
		return ""
	}
	switch demand, waits := q.Demand(); {
	case !waits:
		return ""
	case below:
		return reason.BelowFairShare
	case preemption.BelowGuaranteed.Below(q.Rule, total, q.Usage, preemption.GuaranteedTarget(q.Rule, q.Guaranteed, demand)):
		return reason.BelowGuaranteed
	}
	return ""
}

// closer reports whether the sibling, once its group has started, would use the smaller part of its share.
func (s *Sibling) closer(total resource.List, l *Level) bool {
	mine := partOf(preemption.Dominant(s.Rule, total, s.Started), preemption.Dominant(s.Rule, total, s.Share))
	other := partOf(preemption.Dominant(l.Rule, total, l.Started), preemption.Dominant(l.Rule, total, l.Share))
	return mine.less(other)
}

// part is a product of two factors over another.
type part struct{ over, under [2]uint64 }

// partOf is the part that some usage is of a share. Of no share it is infinite: over nothing.
func partOf(usage, share preemption.Share) part {
	p := part{over: [2]uint64{uint64(usage.Amount), uint64(share.Of)}, under: [2]uint64{uint64(usage.Of), uint64(share.Amount)}}
	if usage.Amount == 0 {
		p = part{under: [2]uint64{1, 1}}
	}
	return p
}

func (p part) infinite() bool { return p.under[0] == 0 || p.under[1] == 0 }

func (p part) less(o part) bool {
	if p.infinite() || o.infinite() {
		return !p.infinite()
	}
	return resource.CompareProducts4([4]uint64{p.over[0], p.over[1], o.under[0], o.under[1]}, [4]uint64{o.over[0], o.over[1], p.under[0], p.under[1]}) < 0
}
