package ledger

import (
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// ObserveQueue takes in a Queue as declared. The tree follows at the next decision.
func (l *Ledger) ObserveQueue(d queue.Declaration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.declared[d.Path]; ok && l.unreadable[d.Path] == "" && old.Spec.Equal(d.Spec) && old.Percent.Equal(d.Percent) && old.PolicyInForce == d.PolicyInForce &&
		old.Created == d.Created && old.Deleting == d.Deleting && (l.leading || old.Memory.Equal(d.Memory)) {
		return // what a status remembers is what this ledger knew, once it has begun
	}
	l.percent += btoi(!d.Percent.IsZero()) - btoi(!l.declared[d.Path].Percent.IsZero())
	l.declared[d.Path] = d
	delete(l.unreadable, d.Path)
	delete(l.retired, d.Path)
	l.treeOld = true
	l.version++
}

// ObserveBadQueue takes in a Queue that cannot be read, with the sentence that says why. What was last declared stays in force.
func (l *Ledger) ObserveBadQueue(p queue.Path, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unreadable[p] != why {
		l.unreadable[p] = why
		l.treeOld = true
		l.version++
	}
}

// ForgetQueue takes a deleted Queue out. While pods are charged to it, it stays in the tree as a ghost that takes no new ones.
func (l *Ledger) ForgetQueue(p queue.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, declared := l.declared[p]
	_, unreadable := l.unreadable[p]
	if declared || unreadable {
		l.percent -= btoi(!d.Percent.IsZero())
		delete(l.declared, p)
		delete(l.unreadable, p)
		delete(l.retired, p)
		l.treeOld = true
		l.version++
	}
}

// retree builds the tree anew and moves pods to where it now puts them. Accounts live on by path, so charges stay.
func (l *Ledger) retree() {
	l.tree = queue.Build(l.declarations(), l.occupancy(), l.total)
	l.trees++
	inTree := make(map[queue.Path]bool, len(l.tree.Nodes))
	for i, n := range l.tree.Nodes { // parents before children
		inTree[n.Path] = true
		a := l.accounts[n.Path]
		if a == nil {
			a = &account{path: n.Path, parent: l.accounts[n.Path.Parent()], apps: map[string]*account{}}
			a.admission.Path = n.Path
			if a.parent != nil {
				a.admission.Parent = &a.parent.admission
			}
			a.inOrder.Init(a)
			l.accounts[n.Path] = a
		}
		if a.spec.Policy != n.Spec.Policy || a.spec.MaxStarting != n.Spec.MaxStarting || a.spec.StartingTimeout != n.Spec.StartingTimeout {
			l.starts.changed = append(l.starts.changed, a)
		}
		a.admission.Most = n.Spec.MaxRunningApplications
		a.spec, a.ordinal, a.accepting = n.Spec, i+1, n.Accepting
		a.kids = a.kids[:0]
		a.inheritMaxPod()
		a.preemption = n.Spec.Preemption
		if a.parent != nil {
			a.preemption = n.Spec.Preemption.Under(a.parent.preemption)
		}
		if a.parent != nil {
			a.parent.kids = append(a.parent.kids, a)
		}
	}
	l.root = l.accounts[queue.Root]
	l.slots.PerUser = l.root.spec.MaxRunningApplicationsPerUser
	for i := range l.tree.Nodes { // all have their children by now
		a := l.accounts[l.tree.Nodes[i].Path]
		a.gated = a.spec.Policy == queue.StateAware && len(a.kids) == 0
	}
	var gone []queue.Path
	for p, a := range l.accounts {
		if !inTree[p] {
			a.accepting, a.kids = false, nil
			gone = append(gone, p)
		}
	}
	l.moving = true
	l.answerAskers()
	l.houseHomeless()
	l.settleApplications() // while those that a queue is gone from still have its account
	l.moving = false
	l.noteParents()
	for _, p := range gone {
		delete(l.accounts, p)
	}
}

// noteParents notes what would change the tree's mind about queues that pods keep out of it or in it.
func (l *Ledger) noteParents() {
	clear(l.guarded)
	for _, p := range l.tree.Problems {
		if p.Reason.Code == reason.ParentHasPods {
			l.guarded[p.Path.Parent()] = true
		}
	}
	clear(l.parents)
	for p, d := range l.declared { // the smallest of each: order does not matter
		q, ok := l.parents[p.Parent()]
		if !ok || d.Created < q.since {
			q.since = d.Created
		}
		q.occupied = l.askedBefore(p.Parent(), q.since)
		l.parents[p.Parent()] = q
	}
	for _, n := range l.tree.Nodes[1:] { // parents before children
		a := l.accounts[n.Path]
		up := a.parent
		a.forced = !n.Declared || up.forced || up.parent != nil && (up.direct > 0 || l.parents[up.path].occupied)
	}
}

func (l *Ledger) declarations() []queue.Declaration {
	ds := make([]queue.Declaration, 0, len(l.declared))
	for _, d := range l.declared { // Build sorts
		ds = append(ds, d)
	}
	return ds
}

// occupancy says which queues have pods of their own: charged ones everywhere, waiting ones only where a child is declared,
// since that is all the tree asks about them.
func (l *Ledger) occupancy() []queue.Occupancy {
	byPath := map[queue.Path]queue.Occupancy{}
	charge := func(p queue.Path) {
		byPath[p] = queue.Occupancy{Path: p, Charged: true, OldestWaiting: math.MaxInt64}
	}
	for p, a := range l.accounts {
		if a.direct > 0 && p != queue.Root {
			charge(p)
		}
	}
	for _, r := range l.homeless {
		charge(r.asked)
	}
	for p := range l.declared {
		parent := p.Parent()
		ask := l.asking[parent]
		if ask == nil || parent == "" {
			continue
		}
		o, ok := byPath[parent]
		if !ok {
			o = queue.Occupancy{Path: parent}
		}
		o.OldestWaiting = ask.pods[0].Created
		byPath[parent] = o
	}
	os := make([]queue.Occupancy, 0, len(byPath))
	for _, o := range byPath { // Build sorts
		os = append(os, o)
	}
	return os
}

// answerAskers re-places the waiting pods of every queue about which the tree changed its mind.
func (l *Ledger) answerAskers() {
	for _, p := range sortedKeys(l.asking) {
		a := l.asking[p]
		leaf, hold, maxPod := l.answer(p)
		if leaf == a.leaf && hold == a.hold && queue.SameLimits(maxPod, a.maxPod) {
			continue
		}
		a.leaf, a.hold, a.maxPod = leaf, hold, maxPod
		for _, e := range a.pods {
			switch e.state {
			case Waiting:
				l.wait(e.record, l.now)
			case Parked:
				l.judgeAnew(e.record)
			}
		}
	}
}

// houseHomeless charges bound pods whose queue entered the tree for their sake.
func (l *Ledger) houseHomeless() {
	for _, uid := range sortedKeys(l.homeless) {
		r := l.homeless[uid]
		l.set(r, l.accounts[r.asked], Bound, reason.Reason{})
		l.effects.reviewLater(r.group)
		delete(l.homeless, uid)
	}
}

// answer is what the tree says to all pods that ask for p.
func (l *Ledger) answer(p queue.Path) (leaf *account, hold reason.Reason, maxPod resource.List) {
	leaf, hold = l.resolve(p)
	if leaf != nil {
		maxPod = leaf.maxPod
	}
	return leaf, hold, maxPod
}

// resolve finds the leaf that takes pods which ask for p, or the reason why none does.
func (l *Ledger) resolve(p queue.Path) (*account, reason.Reason) {
	a := l.accounts[p]
	if a != nil && a.accepting {
		return a, reason.Reason{}
	}
	why := reason.Reason{Queue: string(p)}
	d, declared := l.declared[p]
	switch {
	case declared && d.Deleting || l.retired[p]:
		why.Code = reason.QueueDeleted
	case p == queue.Root || a != nil && len(a.kids) > 0:
		why.Code, why.Other = reason.QueueNotLeaf, string(l.firstChild(p))
	case declared:
		why.Code, why.Detail = reason.QueueNotReady, l.problemOf(p)
	case l.unreadable[p] != "":
		why.Code, why.Detail = reason.QueueNotReady, l.unreadable[p]
	default:
		why.Code = reason.QueueNotFound
	}
	return nil, why
}

func (l *Ledger) firstChild(p queue.Path) queue.Path {
	i, _ := l.tree.Find(p)
	if len(l.tree.Nodes[i].Children) == 0 {
		return ""
	}
	return l.tree.Nodes[l.tree.Nodes[i].Children[0]].Path
}

func (l *Ledger) problemOf(p queue.Path) string {
	for _, q := range l.tree.Problems {
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
