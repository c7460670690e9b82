package queue

import (
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Declaration is what the tree needs of a Queue object.
type Declaration struct {
	Path Path
	Spec Spec
	// Percent is the part of Spec that is stated in percent of the cluster.
	Percent Percent
	// PolicyInForce is the policy from the queue's last valid spec. It stays in force while Spec.Policy cannot
	// be used.
	PolicyInForce Policy
	// InForce is how the queue shared with its siblings when these last agreed with each other: see ruleCapacities.
	InForce  Division
	Created  int64 // unix nanoseconds
	Deleting bool
	// Parent: the queue is for child queues. It takes no pods, also while it has no children.
	Parent bool
	// MaxCreated is how many queues placement may create below the queue.
	MaxCreated Limit
	// Reservable: a Parent whose pods are placed in PlanDefault of it.
	Reservable bool
	Origin     Origin
	// Memory is what pods do not tell after a restart.
	Memory Memory
}

// Origin says whether the scheduler created a queue. The zero value: a person did.
type Origin struct {
	// Placement created it for a pod.
	Placement bool
	// Reservation: it was created for the pods of one reservation, if For is stated, or for the other pods of a reservable queue.
	Reservation bool
	// For is the user or group whose name it has; "" if it bears nobody's. Of a reservation: namespace/name.
	For string
	// Edited: a person has changed its spec since, so that it is not placement's to remove.
	Edited bool
}

// Memory is what the status of a queue keeps across restarts of the scheduler.
type Memory struct {
	// BelowFairShareSince and BelowGuaranteedSince are when the starvation clocks began, in unix nanoseconds;
	// 0 if they do not run.
	BelowFairShareSince, BelowGuaranteedSince int64
	// FairShareDue and GuaranteedDue are when their timeouts pass; 0: never.
	FairShareDue, GuaranteedDue int64
	// ClaimsFairShare: the queue had a claim on its fair share, which stays open after the clock has stopped.
	ClaimsFairShare bool

	// StoppedSince is since when the queue has been stopped, in unix nanoseconds; 0 if it was not.
	StoppedSince int64

	// Started are applications that have left Starting, where their pods alone do not show it.
	Started []string
	// Starts are how long the last starts took, in nanoseconds, the newest last.
	Starts []int64

	// Holds are for readers: a scheduler that starts holds no nodes.
	Holds []Hold
}

// Equal reports whether both remember the same.
func (m Memory) Equal(o Memory) bool {
	return slices.Equal(m.Started, o.Started) && slices.Equal(m.Starts, o.Starts) &&
		m.BelowFairShareSince == o.BelowFairShareSince && m.BelowGuaranteedSince == o.BelowGuaranteedSince && m.ClaimsFairShare == o.ClaimsFairShare &&
		m.FairShareDue == o.FairShareDue && m.GuaranteedDue == o.GuaranteedDue && m.StoppedSince == o.StoppedSince && SameHolds(m.Holds, o.Holds)
}

// Occupancy says whether pods are in a queue.
type Occupancy struct {
	Path Path
	// Charged is true if released or running pods are directly in this queue that the scheduler put there. A pod that somebody
	// else gave a node does not count: users choose which queue it names.
	Charged bool
	// OldestWaiting is the creation time (unix nanoseconds) of the oldest waiting pod that asks for exactly
	// this queue; math.MaxInt64 if there is none.
	OldestWaiting int64
}

// Problem is something about a declared queue that its owner should know.
type Problem struct {
	Path   Path
	Reason reason.Reason
}

// Tree holds the queues in force. It is a value; nothing changes it after Build.
type Tree struct {
	Nodes    []Node    // in path order: the root first, parents before children
	Problems []Problem // in path order
	Blocked  []Path    // declared but not in the tree, in path order
}

// Build returns the tree that the declared queues form. occupied says where pods are; percentages are parts of
// total, what the cluster has. Both lists may be in any order, and the result is the same. The caller ensures
// that each path is declared at most once.
//
// The rules:
//  1. The root is always in the tree, and it always counts as a queue with children:
//     a pod that names the root must not be able to block everything else.
//  2. A queue with charged pods and all its ancestors are always in the tree, because
//     their usage has to count somewhere. Undeclared ones have weight 0.
//  3. A declared queue whose parent is not in the tree is blocked.
//  4. A declared queue whose parent holds pods itself is blocked, unless charged pods
//     are in or below it: the parent keeps its last valid state, a queue without
//     children (see holdsPods).
//  5. to 8. What is in the tree may still contradict itself: see validate.go and
//     capacity.go.
//  9. A stopped queue stops all queues below it: see state.go.
//  10. All queues have the calculator of the root: see calculator.go.
//  11. A field that has no effect where its queue stands is a problem: see fields.go.
func Build(declared []Declaration, occupied []Occupancy, total resource.List) Tree {
	b := newBuilder(declared, occupied)
	b.total = total
	b.tree.Nodes = make([]Node, 0, len(b.candidates))
	for _, p := range b.candidates {
		b.place(p)
	}
	for i := range b.tree.Nodes {
		n := &b.tree.Nodes[i]
		n.Accepting = n.Declared && n.Leaf() && n.Parent >= 0 && !b.declared[n.Path].Deleting
	}
	b.ruleCalculator()
	b.rulePolicies()
	b.ruleCapacities()
	b.ruleMaxBelowGuaranteed()
	b.ruleMaxPodResources()
	b.ruleStates()
	b.ruleFields()
	slices.SortStableFunc(b.tree.Problems, func(x, y Problem) int { return ComparePaths(x.Path, y.Path) })
	return b.tree
}

// builder holds the indexes of one Build. Its maps are only for lookup.
type builder struct {
	candidates []Path // every path that may become a node, parents before children
	declared   map[Path]*Declaration
	occupied   map[Path]Occupancy
	forced     map[Path]bool  // has charged pods in it or below it
	nodes      map[Path]int   // in the tree already
	causes     map[Path]Path  // blocked path -> the queue that is the cause
	firstChild map[Path]int64 // parent -> when its first child was created
	total      resource.List
	tree       Tree
}

func newBuilder(declared []Declaration, occupied []Occupancy) *builder {
	b := &builder{
		declared:   make(map[Path]*Declaration, len(declared)),
		occupied:   make(map[Path]Occupancy, len(occupied)),
		forced:     map[Path]bool{},
		nodes:      make(map[Path]int, len(declared)+1),
		causes:     map[Path]Path{},
		firstChild: map[Path]int64{},
		candidates: make([]Path, 0, len(declared)+1),
	}
	for i := range declared {
		d := &declared[i]
		b.candidates = append(b.candidates, d.Path)
		b.declared[d.Path] = d
		b.noteChild(d.Path.Parent(), d.Created)
		if d.Parent {
			b.noteChild(d.Path, math.MinInt64) // it never was a queue for pods
		}
	}
	for _, o := range occupied {
		if seen, ok := b.occupied[o.Path]; ok {
			o.Charged = o.Charged || seen.Charged
			o.OldestWaiting = min(o.OldestWaiting, seen.OldestWaiting)
		}
		b.occupied[o.Path] = o
		if _, err := ParsePath(string(o.Path)); err == nil && o.Charged {
			b.keepInTree(o.Path)
		}
	}
	b.candidates = append(b.candidates, Root)
	slices.SortFunc(b.candidates, ComparePaths)
	b.candidates = slices.Compact(b.candidates)
	return b
}

// keepInTree keeps a queue and its ancestors in the tree (rule 2).
func (b *builder) keepInTree(p Path) {
	for ; p != "" && !b.forced[p]; p = p.Parent() {
		b.forced[p] = true
		b.candidates = append(b.candidates, p)
		b.noteChild(p.Parent(), math.MinInt64)
	}
}

// noteChild records that a parent has had a child since then.
func (b *builder) noteChild(parent Path, since int64) {
	if known, ok := b.firstChild[parent]; !ok || since < known {
		b.firstChild[parent] = since
	}
}

// place applies rules 1 to 4 to one queue. Its ancestors have been placed.
func (b *builder) place(p Path) {
	parent := p.Parent()
	_, parentInTree := b.nodes[parent]
	_, err := ParsePath(string(p))
	switch {
	case p == Root || b.forced[p]:
		b.addNode(p)
	case err != nil:
		b.block(p, p, reason.Reason{Code: reason.QueueNameInvalid, Details: reason.Invalid{Why: err.Error()}})
	case b.causes[parent] != "":
		cause := b.causes[parent]
		b.block(p, cause, reason.Reason{Code: reason.QueueNotReady, Details: reason.Cause{Queue: string(cause)}})
	case !parentInTree:
		b.block(p, p, reason.Reason{Code: reason.ParentMissing, Details: reason.Parent{Path: string(parent)}})
	case b.holdsPods(parent):
		b.block(p, p, reason.Reason{Code: reason.ParentHasPods, Details: reason.Parent{Path: string(parent)}})
	default:
		b.addNode(p)
	}
}

// holdsPods reports whether a parent must stay a queue without children (rule 4): pods are charged to it, or a
// waiting pod that names it is older than its first child. A younger pod named a queue that already had
// children; one pod's mistake must not stop an administrator from adding queues.
func (b *builder) holdsPods(parent Path) bool {
	o, ok := b.occupied[parent]
	if !ok || parent == Root {
		return false
	}
	return o.Charged || o.OldestWaiting < b.firstChild[parent]
}

// addNode adds a node. Its parent is in the tree already.
func (b *builder) addNode(p Path) {
	d, declared := b.declared[p]
	n := Node{Path: p, Parent: -1, Declared: declared}
	switch {
	case declared:
		n.Spec, n.ForChildren = d.Spec.Amounts(d.Percent, b.total), d.Parent
	case p == Root:
		n.Spec = DefaultSpec()
	default:
		n.Spec.Policy = Unstated
	}
	index := len(b.tree.Nodes)
	if p != Root {
		n.Parent = b.nodes[p.Parent()]
		parent := &b.tree.Nodes[n.Parent]
		parent.Children = append(parent.Children, index)
	}
	b.nodes[p] = index
	b.tree.Nodes = append(b.tree.Nodes, n)
}

// block leaves a queue out of the tree.
func (b *builder) block(p, cause Path, r reason.Reason) {
	b.causes[p] = cause
	b.tree.Blocked = append(b.tree.Blocked, p)
	b.report(p, r)
}

func (b *builder) report(p Path, r reason.Reason) {
	r.Queue = string(p)
	b.tree.Problems = append(b.tree.Problems, Problem{Path: p, Reason: r})
}
