package ledger

import (
	"maps"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// PlacementActions are the Queues that placement needs now, and those that it needs no more. What is not done comes again.
type PlacementActions struct {
	// Create are to be created for pods that wait for them. Their parents exist.
	Create []placement.NewQueue
	// Remove were created by placement, have no children, and have been empty for long enough.
	Remove []queue.Path
}

// PlacementActions returns what is to be done by now. Nothing is charged to a queue before its Queue is there: it is what a restart reads.
func (l *Ledger) PlacementActions(now int64) PlacementActions {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	if !l.leading {
		return PlacementActions{}
	}
	l.settleAll()
	return PlacementActions{Create: l.toCreate(), Remove: l.placements.noteEmpty(l.createdAndEmpty(), now)}
}

// toCreate is for each submission the first queue that is missing on the way to its own. If two names ask for the same queue, the first in the order of
// names gets it; the other one gets another queue when this one exists. What is too much for a queue above is left out: its pods are rejected when the
// others are there.
func (l *contents) toCreate() []placement.NewQueue {
	first := map[queue.Path]missingQueue{}
	for _, s := range l.placements.bySubmission { // the smallest for each path: order does not matter
		if len(s.create) == 0 || !slices.ContainsFunc(s.pods, (*record).mayHaveCreated) {
			continue
		}
		q := missingQueue{NewQueue: s.create[0], create: s.create}
		if l.queues.declared[q.Path.Parent()].Deleting || l.queues.retired[q.Path.Parent()] {
			continue // it would keep the parent from being deleted
		}
		known, ok := first[q.Path]
		if ok {
			q.Parent = q.Parent || known.Parent
			q.For = min(q.For, known.For)
			if len(known.create) > len(q.create) {
				q.create = known.create
			}
		}
		first[q.Path] = q
	}
	var all []placement.NewQueue
	planned := placement.Planned{}
	for _, p := range slices.SortedFunc(maps.Keys(first), queue.ComparePaths) {
		if planned.Add(first[p].create, l.placements.tree) {
			all = append(all, first[p].NewQueue)
		}
	}
	return all
}

// mayHaveCreated: the pod waits, and its user may submit to the queue that it asks for, by what is granted on those above.
func (r *record) mayHaveCreated() bool {
	_, blocked := r.mayNotSubmit()
	return !blocked && !r.state.charged()
}

// missingQueue is a queue to create, with the most queues that one submission needs from it on.
type missingQueue struct {
	placement.NewQueue
	create []placement.NewQueue
}

// createdAndEmpty returns the queues that placement created and that are empty, in the order of their names.
func (l *contents) createdAndEmpty() (empty []queue.Path) {
	var parents map[queue.Path]bool
	for path, d := range l.queues.declared { // sorted below
		if !d.Origin.Placement || d.Origin.Edited || d.Deleting || l.queues.unreadable[path] != "" || l.inUse(path) {
			continue
		}
		if parents == nil {
			parents = l.queues.withChildren()
		}
		if !parents[path] {
			empty = append(empty, path)
		}
	}
	slices.SortFunc(empty, queue.ComparePaths)
	return empty
}

// noteEmpty takes in which of the queues that placement created are empty, and returns those that have been so for long enough. How long is not kept
// over a restart: then they stay a little longer.
func (p *placements) noteEmpty(empty []queue.Path, now int64) (remove []queue.Path) {
	before := p.emptySince
	p.emptySince = nil
	if len(empty) > 0 {
		p.emptySince = make(map[queue.Path]int64, len(empty))
	}
	for _, path := range empty {
		since, known := before[path]
		if !known {
			since = now
		}
		p.emptySince[path] = since
		if p.policy.Expired(since, now) {
			remove = append(remove, path)
		}
	}
	return remove
}

// inUse reports whether pods are in a queue or ask for it. Those that somebody else has bound do not count: anybody may name the queue of another user.
func (l *contents) inUse(p queue.Path) bool {
	a := l.queues.accounts[p]
	return l.requests.byQueue[p] != nil || a != nil && (a.holdsPlaced() || a.pending > 0)
}

// withChildren are the queues with declared children, those included that cannot be read.
func (t *queueTree) withChildren() map[queue.Path]bool {
	all := map[queue.Path]bool{}
	for p := range t.declared {
		all[p.Parent()] = true
	}
	for p := range t.unreadable {
		all[p.Parent()] = true
	}
	return all
}
