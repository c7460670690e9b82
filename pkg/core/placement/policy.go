// Package placement says in which queue a pod goes, by rules over its user, its groups and the queue it asks for.
//
// Input is a policy as it is written, a submission, and the declared queues. Output is a policy that may be put
// in force or the problems of what was written; and for a submission a queue, which queues must be created for
// it, or the reason why it is rejected, with what each rule answered.
//
// The package must not know pods, Kubernetes objects or the ledger. It keeps no state: the same input always
// gives the same answer. It creates no queue and checks no access.
package placement

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// Kind is the name of a rule.
type Kind uint8

// The rules, in the order in which documents list them.
const (
	// Specified gives the queue that the pod asks for.
	Specified Kind = iota
	// User gives the queue of the user.
	User
	// PrimaryGroup gives the queue of the user's first group.
	PrimaryGroup
	// SecondaryGroupExistingQueue gives the queue of the first other group that has one.
	SecondaryGroupExistingQueue
	// NestedUserQueue gives the queue of the user below the queue that another rule gives.
	NestedUserQueue
	// Mapping gives the queue of the first mapping that fits the user or a group.
	Mapping
	// Default gives one queue to all.
	Default
	// Reject gives none to anyone.
	Reject
)

var kindNames = [...]string{
	Specified:                   "Specified",
	User:                        "User",
	PrimaryGroup:                "PrimaryGroup",
	SecondaryGroupExistingQueue: "SecondaryGroupExistingQueue",
	NestedUserQueue:             "NestedUserQueue",
	Mapping:                     "Mapping",
	Default:                     "Default",
	Reject:                      "Reject",
}

// String returns the name as a PlacementPolicy spells it.
func (k Kind) String() string { return kindNames[k] }

// Missing is what a rule does about a queue that nobody has declared.
type Missing uint8

const (
	// TryNext leaves the pod to the next rule (`create: false`). A queue that placement created for an earlier
	// pod counts as missing, too: it may be gone in a minute.
	TryNext Missing = iota
	// Create gives the queue all the same; it is created.
	Create
	// Refuse rejects the pod until somebody creates the queue. Only the rules without a policy do that, so that
	// a mistake in the name of a queue sends no pod to another one.
	Refuse
)

// Rule is one rule of a policy.
type Rule struct {
	Kind    Kind
	Missing Missing
	// Queue is what Default gives.
	Queue queue.Path
	// Parent is where User, PrimaryGroup and SecondaryGroupExistingQueue have their queues; root if none is stated.
	Parent queue.Path
	// Nested is the rule that gives the parent for NestedUserQueue.
	Nested *Rule
	// Mappings and Override are those of Mapping.
	Mappings []QueueMapping
	Override bool
}

// terminal reports whether no pod gets past the rule, apart from a parent that turns out to be a leaf. YARN
// defines it in the same way.
func (r Rule) terminal() bool {
	switch r.Kind {
	case Reject:
		return true
	case User, PrimaryGroup, Default:
		return r.Missing == Create
	case NestedUserQueue:
		return r.Missing == Create && r.Nested.terminal()
	}
	return false
}

// Policy is a list of rules that may be in force: see Parse.
type Policy struct {
	Rules []Rule
	// RemoveAfter is how long a queue that placement created is kept while it is empty, in nanoseconds; 0 is
	// DefaultRemoveAfter.
	RemoveAfter int64
}

// DefaultRemoveAfter is ten minutes.
const DefaultRemoveAfter int64 = 600_000_000_000

// Plain reports whether the rules are those without a policy: a pod is in the queue that it asks for.
func (p Policy) Plain() bool {
	return len(p.Rules) == 2 && p.Rules[0].Kind == Specified && p.Rules[0].Missing == Refuse
}

// Expired reports whether a queue that placement created and that has been empty since then is to be removed.
func (p Policy) Expired(since, now int64) bool {
	after := p.RemoveAfter
	if after == 0 {
		after = DefaultRemoveAfter
	}
	return now-since >= after
}

// Submission is what the rules know of a pod.
type Submission struct {
	User string
	// Groups are those of the user. The first that is not one of the system's own is the primary group.
	Groups []string
	// Queue is what the pod asks for, as written; "" and "default" ask for none.
	Queue string
}

// asks reports whether the submission asks for a queue.
func (s Submission) asks() bool { return s.Queue != "" && s.Queue != "default" }

// Queue is what the rules need to know of a queue.
type Queue struct {
	Declared bool
	// Child is one of its declared children; "" if it has none.
	Child queue.Path
	// Parent: it is for child queues, and takes no pods also while it has none.
	Parent bool
	// Created: placement created it, and will remove it. For is the user or group that it was created for; ""
	// if it bears nobody's name.
	Created bool
	For     string
	// CreatedBelow is how many queues placement created below it, at all levels, and MaxCreated how many it may.
	CreatedBelow int64
	MaxCreated   queue.Limit
}

// Queues are what is known of all queues.
type Queues interface {
	// Find returns the zero Queue for a path of which nothing is known.
	Find(queue.Path) Queue
}

// Tree is what is known of queues by path.
type Tree map[queue.Path]Queue

// Find returns a queue.
func (t Tree) Find(p queue.Path) Queue { return t[p] }

// TreeOf returns what the rules need to know of queues. As long as nobody declared the root, root.default counts
// as declared: the scheduler creates the two together.
func TreeOf(declared []queue.Declaration) Tree {
	t := make(Tree, len(declared))
	plans := map[queue.Path]bool{}
	for i := range declared {
		if declared[i].Reservable {
			plans[declared[i].Path] = true
		}
	}
	for i := range declared {
		d := &declared[i]
		if parent := d.Path.Parent(); plans[parent] && (d.Origin.Reservation || d.Path == parent.PlanDefault()) {
			continue // pods ask for the queue above
		}
		t.Declare(d.Path, Queue{Parent: d.Parent && !d.Reservable, Created: d.Origin.Placement, For: d.Origin.For, MaxCreated: d.MaxCreated})
	}
	if !t[queue.Root].Declared && t[queue.Default] == (Queue{}) {
		t.Declare(queue.Default, Queue{})
	}
	return t
}

// Declare adds a queue, and notes it as a child of the one above and with all that are above.
func (t Tree) Declare(p queue.Path, q Queue) {
	q.Declared, q.Child, q.CreatedBelow = true, t[p].Child, t[p].CreatedBelow
	t[p] = q
	if q.Created {
		for _, a := range p.Ancestors() {
			above := t[a]
			above.CreatedBelow++
			t[a] = above
		}
	}
	parent := p.Parent()
	if above := t[parent]; parent != "" && (above.Child == "" || p < above.Child) {
		above.Child = p
		t[parent] = above
	}
}
