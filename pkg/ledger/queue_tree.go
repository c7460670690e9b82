package ledger

import (
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// queueTree owns which Queues are declared, which of them are in force, and the account of each of these. It hears of Queues (declare, markUnreadable,
// forget, retire) and of the pods in them (rebuild, noteParents). It says which queue takes pods that ask for a path (resolve), and which Queues are
// on their way out (leaving).
//
// The tree is built at the next step after a change, so that a burst of ten thousand Queues costs one build. Accounts live on by path, so charges stay.
type queueTree struct {
	declared map[queue.Path]queue.Declaration
	// unreadable are Queues that cannot be read, and why. The last declaration of one, if there was one, stays in declared.
	unreadable map[queue.Path]string
	// retired are those of the unreadable Queues that are being deleted.
	retired map[queue.Path]bool
	// declarationsSeen grows when what placement sees of the declared queues changes.
	declarationsSeen uint64
	percent          int             // declarations that state something in percent of the cluster
	byCapacity       bool            // some queue in force shares by capacity, and its maximum may be a part of the cluster
	stopsChanged     []*queueAccount // queues that were stopped or started by the last tree: see stopped.go
	// stoppedOutside are the stopped Queues that are not in the tree, and since when they are stopped: see stopped.go.
	stoppedOutside map[queue.Path]int64
	// reservedFor are the Queues that take only pods of one reservation, and which that is; nil, as long as there are none.
	reservedFor map[queue.Path]string

	queue.Tree
	effective []queue.Effective // of the tree, built with it and never edited
	stale     bool              // a Queue, or what sits in the queues, changed in a way that may change the tree
	builds    uint64            // grows with every tree
	accounts  map[queue.Path]*queueAccount
	root      *queueAccount
	// guarded are the queues that keep a declared child out of the tree while pods sit in them.
	guarded map[queue.Path]bool
	// parents are the queues with declared children.
	parents map[queue.Path]parent
}

// parent is what the tree was told about a queue with declared children.
type parent struct {
	since    int64 // creation of its eldest child
	occupied bool  // a pod that is older than every child asks for it
}

func newQueueTree() queueTree {
	return queueTree{
		declared: map[queue.Path]queue.Declaration{}, unreadable: map[queue.Path]string{}, retired: map[queue.Path]bool{},
		accounts: map[queue.Path]*queueAccount{}, guarded: map[queue.Path]bool{}, parents: map[queue.Path]parent{}, stale: true,
		stoppedOutside: map[queue.Path]int64{},
	}
}

// declare takes in a Queue as declared; false: nothing that counts has changed. What a status remembers counts until this process leads: from then on
// it repeats what the ledger knows.
func (t *queueTree) declare(d queue.Declaration, leading bool) bool {
	old, known := t.declared[d.Path]
	_, unreadable := t.unreadable[d.Path]
	forPlacement := known && !unreadable && old.Parent == d.Parent && old.MaxCreated == d.MaxCreated && old.Reservable == d.Reservable && old.Origin == d.Origin
	if forPlacement && old.Spec.Equal(d.Spec) && old.Percent.Equal(d.Percent) && old.PolicyInForce == d.PolicyInForce &&
		old.Created == d.Created && old.Deleting == d.Deleting && (leading || old.InForce == d.InForce && old.Memory.Equal(d.Memory)) {
		return false
	}
	if !forPlacement {
		t.declarationsSeen++
	}
	t.percent += btoi(!d.Percent.IsZero()) - btoi(!old.Percent.IsZero())
	t.declared[d.Path] = d
	t.reserve(d)
	delete(t.unreadable, d.Path)
	delete(t.retired, d.Path)
	t.stale = true
	return true
}

// reserve notes whether a Queue takes only the pods of one reservation.
func (t *queueTree) reserve(d queue.Declaration) {
	switch {
	case !d.Origin.Reservation || d.Origin.For == "":
		delete(t.reservedFor, d.Path)
	case t.reservedFor == nil:
		t.reservedFor = map[queue.Path]string{d.Path: d.Origin.For}
	default:
		t.reservedFor[d.Path] = d.Origin.For
	}
}

func (t *queueTree) markUnreadable(p queue.Path, why string) bool {
	if t.unreadable[p] == why {
		return false
	}
	t.unreadable[p] = why
	t.declarationsSeen++
	t.stale = true
	return true
}

func (t *queueTree) forget(p queue.Path) bool {
	d, declared := t.declared[p]
	if _, unreadable := t.unreadable[p]; !declared && !unreadable {
		return false
	}
	t.percent -= btoi(!d.Percent.IsZero())
	delete(t.declared, p)
	delete(t.reservedFor, p)
	delete(t.unreadable, p)
	delete(t.retired, p)
	t.declarationsSeen++
	t.stale = true
	return true
}

func (t *queueTree) retire(p queue.Path) bool {
	if _, unreadable := t.unreadable[p]; !unreadable || t.retired[p] {
		return false
	}
	t.retired[p] = true
	if d, declared := t.declared[p]; declared {
		d.Deleting = true
		t.declared[p] = d
	}
	t.stale = true
	return true
}

// rebuild builds the tree and gives every queue of it an account with its spec. gone are the queues that are not in it any more; their accounts stay
// until drop, for the pods that have to move. regated are the leaves whose gate is set differently. at is the time, and whether this process leads.
func (t *queueTree) rebuild(pods *requests, total resource.List, at moment) (gone []queue.Path, regated []*queueAccount) {
	t.stale = false
	t.Tree = queue.Build(t.declarations(), t.occupancy(pods), total)
	t.effective = t.Effective()
	t.builds++
	t.byCapacity = false
	inTree := make(map[queue.Path]bool, len(t.Nodes))
	for i := range t.Nodes { // parents before children
		n := &t.Nodes[i]
		inTree[n.Path] = true
		t.byCapacity = t.byCapacity || n.Spec.Capacity.Stated
		a := t.accounts[n.Path]
		if a == nil {
			a = newQueueAccount(n.Path, t.accounts[n.Path.Parent()])
			t.accounts[n.Path] = a
		}
		if a.spec.Policy != n.Spec.Policy || a.spec.MaxStarting != n.Spec.MaxStarting || a.spec.StartingTimeout != n.Spec.StartingTimeout {
			regated = append(regated, a)
		}
		a.declare(n, i+1)
		t.stop(a, n, at)
	}
	t.root = t.accounts[queue.Root]
	for i := range t.Nodes { // all have their children by now
		a := t.accounts[t.Nodes[i].Path]
		a.gated = a.spec.Policy == queue.StateAware && len(a.kids) == 0 && !t.Nodes[i].ForChildren
	}
	for p, a := range t.accounts { // each for itself: order does not matter
		if !inTree[p] {
			a.accepting, a.kids = false, nil
			gone = append(gone, p)
		}
	}
	t.noteStoppedOutside(gone)
	return gone, regated
}

// declare gives the account of a queue what the tree says of it. Its parent has been declared already.
func (a *queueAccount) declare(n *queue.Node, ordinal int) {
	a.admission.Limit(n.Spec.MaxRunningApplications)
	a.spec, a.ordinal, a.accepting = n.Spec, ordinal, n.Accepting
	a.kids = a.kids[:0]
	a.inheritMaxPod()
	a.preemption = n.Spec.Preemption
	if a.parent != nil {
		a.preemption = n.Spec.Preemption.Under(a.parent.preemption, n.Spec.Capacity.Stated)
		a.parent.kids = append(a.parent.kids, a)
	}
}

// drop forgets the accounts of queues that left the tree.
func (t *queueTree) drop(gone []queue.Path) {
	for _, p := range gone {
		delete(t.accounts, p)
	}
}

// noteParents notes what would change the tree's mind about queues that pods keep out of it or in it.
func (t *queueTree) noteParents(pods *requests) {
	clear(t.guarded)
	for _, p := range t.Problems {
		if p.Reason.Code == reason.ParentHasPods {
			t.guarded[p.Path.Parent()] = true
		}
	}
	clear(t.parents)
	for p, d := range t.declared { // the smallest of each: order does not matter
		q, ok := t.parents[p.Parent()]
		if !ok || d.Created < q.since {
			q.since = d.Created
		}
		q.occupied = pods.askedBefore(p.Parent(), q.since)
		t.parents[p.Parent()] = q
	}
	for p, d := range t.declared {
		if q, ok := t.parents[p]; ok && d.Parent {
			q.since, q.occupied = math.MinInt64, false // only a charge keeps its children out
			t.parents[p] = q
		}
	}
}

// noteForced notes which queues would leave the tree without the pods that are charged in them. All pods are where they belong.
func (t *queueTree) noteForced() {
	for i := range t.Nodes[1:] { // parents before children
		n := &t.Nodes[1+i]
		a := t.accounts[n.Path]
		up := a.parent
		a.forced = !n.Declared || up.forced || up.parent != nil && (up.holdsPlaced() || t.parents[up.path].occupied)
	}
}

// noteOrphan has the tree built again: a bound pod is to be charged to a queue that is not in it, or that has children.
func (t *queueTree) noteOrphan() { t.stale = true }

// nearest is the lowest queue of the tree that is this path or above it; the root if there is no path.
func (t *queueTree) nearest(p queue.Path) *queueAccount {
	for ; p != ""; p = p.Parent() {
		if _, inTree := t.Find(p); inTree {
			return t.accounts[p]
		}
	}
	return t.root
}

// noteTotal has the tree built again if a Queue states something in percent of the cluster, of which the total has changed.
func (t *queueTree) noteTotal() { t.stale = t.stale || t.percent > 0 || t.byCapacity }

// emptied notes that the last pod that was placed in a queue has left it. The tree is built again if the queue was there only because
// of its pods, or if these kept its children out.
func (t *queueTree) emptied(a *queueAccount) {
	if a.forced || t.guarded[a.path] {
		t.stale = true
	}
}

// guard makes the tree stale if the pods that ask for a queue begin, or cease, to keep its children out of the tree. The order in which
// pods and Queues are seen makes no difference: what counts is when they were created.
func (t *queueTree) guard(p queue.Path, pods *requests) {
	if q, ok := t.parents[p]; ok && q.occupied != pods.askedBefore(p, q.since) {
		t.stale = true
	}
}

// eldestChild is when the first child of a queue was created; math.MinInt64: no pod keeps its children out.
func (t *queueTree) eldestChild(p queue.Path) int64 {
	if q, ok := t.parents[p]; ok && p != queue.Root && p != "" {
		return q.since
	}
	return math.MinInt64
}

// mayBeClaimed: the pod is older than the children of the queue that it asks for, and would keep them out if it may be submitted there.
func (t *queueTree) mayBeClaimed(r *record) bool { return r.Created < t.eldestChild(r.asked) }

// dependsOnAccess reports whether it matters if the pod may be submitted, although no queue takes it now: its queue would be created
// for it, or it would keep the children of its queue out of the tree.
func (t *queueTree) dependsOnAccess(r *record) bool { return r.creates() || t.mayBeClaimed(r) }

func (t *queueTree) declarations() []queue.Declaration {
	ds := make([]queue.Declaration, 0, len(t.declared))
	for p, d := range t.declared { // Build sorts
		if t.byCapacity || d.Spec.Capacity.Stated {
			if i, ok := t.Find(p); ok && t.Nodes[i].Declared { // once there is a tree, it knows better than a status
				d.InForce = t.Nodes[i].Spec.Division()
				t.declared[p] = d // for when it has left the tree
			}
		}
		ds = append(ds, d)
	}
	return ds
}

// occupancy says which queues have pods of their own: charged ones everywhere, waiting ones only where a child is declared,
// since that is all the tree asks about them. Pods that somebody else has bound are left out.
func (t *queueTree) occupancy(pods *requests) []queue.Occupancy {
	byPath := map[queue.Path]queue.Occupancy{}
	charge := func(p queue.Path) {
		byPath[p] = queue.Occupancy{Path: p, Charged: true, OldestWaiting: math.MaxInt64}
	}
	for p, a := range t.accounts {
		if a.holdsPlaced() && p != queue.Root {
			charge(p)
		}
	}
	for _, r := range pods.orphans {
		charge(r.asked)
	}
	looked := map[queue.Path]bool{}
	for p := range t.declared {
		parent := p.Parent()
		if parent == "" || looked[parent] {
			continue
		}
		looked[parent] = true
		oldest := pods.oldestWaiting(parent)
		if oldest == math.MaxInt64 {
			continue
		}
		o, ok := byPath[parent]
		if !ok {
			o = queue.Occupancy{Path: parent}
		}
		o.OldestWaiting = oldest
		byPath[parent] = o
	}
	os := make([]queue.Occupancy, 0, len(byPath))
	for _, o := range byPath { // Build sorts
		os = append(os, o)
	}
	return os
}

// resolve finds the leaf that takes pods which ask for p, or the reason why none does.
func (t *queueTree) resolve(p queue.Path) (*queueAccount, reason.Reason) {
	a := t.accounts[p]
	if a != nil && a.accepting {
		return a, reason.Reason{}
	}
	why := reason.Reason{Queue: string(p)}
	d, declared := t.declared[p]
	switch {
	case declared && d.Deleting || t.retired[p]:
		why.Code = reason.QueueDeleted
	case d.Reservable:
		return t.resolveDefault(p)
	case p == queue.Root || d.Parent || a != nil && len(a.kids) > 0: // d.Parent counts also of a queue that is not in force
		why.Code, why.Details = reason.QueueNotLeaf, reason.Child{Path: string(t.firstChild(p))}
	case declared:
		why.Code, why.Details = reason.QueueNotReady, reason.Cause{Problem: t.problemOf(p)}
	case t.unreadable[p] != "":
		why.Code, why.Details = reason.QueueNotReady, reason.Cause{Problem: t.unreadable[p]}
	default:
		why.Code = reason.QueueNotFound
	}
	return nil, why
}

// resolveDefault is resolve for pods that ask for a reservable queue: the queue below it takes those that name no reservation.
func (t *queueTree) resolveDefault(p queue.Path) (*queueAccount, reason.Reason) {
	child := p.PlanDefault()
	a, why := t.resolve(child)
	if why.Code == reason.QueueNotFound {
		why = reason.Reason{Code: reason.QueueNotReady, Queue: string(p), Details: reason.Cause{Queue: string(child)}}
	}
	return a, why
}

func (t *queueTree) firstChild(p queue.Path) queue.Path {
	i, ok := t.Find(p)
	if !ok || len(t.Nodes[i].Children) == 0 {
		return ""
	}
	return t.Nodes[t.Nodes[i].Children[0]].Path
}

func (t *queueTree) problemOf(p queue.Path) string {
	for _, q := range t.Problems {
		if q.Path == p {
			return q.Reason.Text()
		}
	}
	return ""
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	ks := make([]K, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return ks
}
