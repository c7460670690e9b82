package ledger

import (
	"maps"
	"slices"
	"sort"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Snapshot is the state of all queues at one moment. It shares nothing with the ledger.
type Snapshot struct {
	Version uint64
	// Total is what the queues share: see Node and Pod.Foreign.
	Total resource.List
	// Queues are in path order, root first; declared queues that are kept out of the tree are among them.
	Queues []QueueState
	// InWindow is the number of pods released and not yet bound.
	InWindow int
}

// QueueState is what one queue has, should have and waits for. Pods and applications count the whole subtree.
type QueueState struct {
	Path     queue.Path
	Declared bool
	InTree   bool
	Leaf     bool
	Spec     queue.Spec // as in force
	Active   bool
	// State is Running, Draining or Stopped; StoppedSince is since when the queue takes no new applications, in unix nanoseconds, 0 if it does.
	State        queue.State
	StoppedSince int64
	// StoppedQueues are of root: see queue.Tree.Stopped.
	StoppedQueues []queue.Path

	// Absolute is of queues in the tree. Shares have nothing of a resource that is not shared out: see fairshare.Shown.
	Absolute        fairshare.Absolute
	SteadyFairShare resource.List
	FairShare       resource.List
	Allocated       resource.List
	Demand          resource.List

	// Effective is of queues in the tree.
	Effective queue.Effective
	// ApplicationLimit is how many applications the queue takes in; DriverLimit is what the drivers of a leaf may use, empty: all.
	// ApplicationsTaken, ApplicationsAdmitted and DriversAllocated are what is used of these limits and of maxRunningApplications.
	ApplicationLimit                        queue.Limit
	DriverLimit                             resource.List
	ApplicationsTaken, ApplicationsAdmitted int
	DriversAllocated                        resource.List

	// ApplicationsPending are Accepted, ApplicationsRunning Running or Completing.
	ApplicationsPending, ApplicationsStarting, ApplicationsRunning int
	ApplicationsCompleting                                         int // of ApplicationsRunning
	PodsPending, PodsRunning                                       int

	// Starts is the gate of a StateAware leaf; nil elsewhere.
	Starts *GateStatus
	// Starvation is of a queue that is below what it is entitled to; zero of the others.
	Starvation Starvation
	// Holds are the nodes that are held for pods of the queue.
	Holds []queue.Hold

	Problems []reason.Reason
}

// DriverShare is the part of its fair share that the drivers of a leaf may use, in milli.
func (q *QueueState) DriverShare() int64 { return driverShareOf(&q.Spec) }

// DriverShareFrom is the leaf itself if it states that part; "": it is the default.
func (q *QueueState) DriverShareFrom() queue.Path {
	if q.Spec.MaxDriverShare.Stated {
		return q.Path
	}
	return ""
}

// Snapshot copies the state of the queues under the lock and computes the shares outside it.
func (l *Ledger) Snapshot() Snapshot {
	s, tree, active, unreadable, leaving := l.copyState()
	steady, instantaneous := fairshare.SteadyAndInstantaneous(tree, s.Total, active)
	absolute := fairshare.AbsoluteOf(tree, s.Total, steady)
	steadyShown, fairShown := fairshare.Shown(tree, steady), fairshare.Shown(tree, instantaneous)
	for i := range tree.Nodes {
		q := &s.Queues[i]
		q.Absolute, q.SteadyFairShare, q.FairShare = absolute[i], steady[i], instantaneous[i]
		q.DriverLimit = q.driverLimit(s.Total)
		q.SteadyFairShare, q.FairShare = steadyShown[i], fairShown[i]
	}
	for _, p := range tree.Blocked {
		s.Queues = append(s.Queues, QueueState{Path: p, Declared: true, Leaf: true})
	}
	for p := range unreadable { // sorted below
		if _, inTree := tree.Find(p); !inTree && !slices.Contains(tree.Blocked, p) {
			s.Queues = append(s.Queues, QueueState{Path: p, Leaf: true})
		}
	}
	sortQueues(s.Queues)
	for _, p := range sortedKeys(unreadable) {
		s.note(p, reason.Reason{Code: reason.SpecInvalid, Queue: string(p), Details: reason.Invalid{Why: unreadable[p]}})
	}
	for _, p := range slices.Concat(tree.Problems, fairshare.Overcommitted(tree, steady)) {
		s.note(p.Path, p.Reason)
	}
	for _, q := range leaving { // first: whatever else is wrong with it will not be mended
		if i, ok := s.find(q.Path); ok {
			s.Queues[i].Problems = slices.Insert(s.Queues[i].Problems, 0, q.problem())
		}
	}
	return s
}

// find returns the index of a queue.
func (s *Snapshot) find(p queue.Path) (int, bool) {
	return sort.Find(len(s.Queues), func(i int) int { return queue.ComparePaths(p, s.Queues[i].Path) })
}

// note adds to the problems of a queue, if it is there.
func (s *Snapshot) note(p queue.Path, problem reason.Reason) {
	if i, ok := s.find(p); ok {
		s.Queues[i].Problems = append(s.Queues[i].Problems, problem)
	}
}

func (l *Ledger) copyState() (Snapshot, queue.Tree, []bool, map[queue.Path]string, []Leaving) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tree := l.queues.Tree // built again at every change, never edited
	s := Snapshot{Version: l.version, Total: l.shares.total, InWindow: l.window.pods, Queues: make([]QueueState, 0, len(tree.Nodes)+len(tree.Blocked))}
	active, held, goingOn := make([]bool, len(tree.Nodes)), heldBack(nil), l.queues.goingOn()
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		a := l.queues.accounts[n.Path]
		active[i] = a.active()
		s.Queues = append(s.Queues, QueueState{
			Path: n.Path, Declared: n.Declared, InTree: true, Leaf: n.Leaf(), Spec: n.Spec, Active: active[i],
			State: queue.StateOf(a.stopped(), goingOn[i]), StoppedSince: a.admission.Stop.Since,
			Allocated: a.usage.List(), Demand: a.cappedDemand(),
			ApplicationsPending: int(a.states[application.Accepted]), ApplicationsStarting: int(a.states[application.Starting]),
			ApplicationsRunning:    int(a.states[application.Running] + a.states[application.Completing]),
			ApplicationsCompleting: int(a.states[application.Completing]), Starts: a.gateAt(l.now),
			PodsPending: a.pending, PodsRunning: a.running, ApplicationLimit: a.entries.Most,
			ApplicationsTaken: int(a.entries.Running), ApplicationsAdmitted: int(a.admission.Running), DriversAllocated: a.drivers.List(),
			Holds: l.shownHolds(a), Effective: l.queues.effective[i],
		})
		q := &s.Queues[i]
		if a.starving.below() {
			if held == nil {
				held = l.heldBack()
			}
			q.Starvation = l.shares.starvation(a, a.claimable(held))
		}
		if !q.Allocated.Fits(q.Allocated.CapBy(n.Spec.Max)) {
			q.Problems = append(q.Problems, overLimit(n.Path, q.Allocated, n.Spec.Max))
		}
	}
	s.Queues[0].StoppedQueues = tree.Stopped()
	return s, tree, active, maps.Clone(l.queues.unreadable), l.queues.leaving()
}

func overLimit(p queue.Path, used, limit resource.List) reason.Reason {
	for i := range limit.Len() {
		if e := limit.At(i); used.Get(e.Name) > e.Value {
			return reason.Reason{Code: reason.OverLimit, Queue: string(p), Resource: e.Name, Limit: e.Value, Used: used.Get(e.Name)}
		}
	}
	return reason.Reason{}
}

// PodState is where one pod of ours is.
type PodState struct {
	Pod
	State     State
	Leaf      queue.Path // "" while no queue takes it
	Asked     queue.Path // what it asks for, by what it says or by the rules of placement; "" if that is none
	BlockedBy reason.Reason
	Since     int64
	Backfills bool // it uses room on a node that is held for larger pods, and ends before they could start there
}

// PodState returns the state of a pod of ours; false: the ledger knows none of that UID.
func (l *Ledger) PodState(uid UID) (s PodState, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil {
		return s, false
	}
	l.podState(r, &s)
	return s, true
}

func (l *contents) podState(r *record, s *PodState) {
	*s = PodState{Pod: r.Pod, State: r.state, BlockedBy: l.applications.blockNow(r), Since: r.since, Asked: r.asked, Backfills: r.backfills}
	if r.leaf != nil {
		s.Leaf = r.leaf.path
	}
}

// Inside reports whether kube-scheduler has the pod in its hands: released, reserved or parked.
func (l *Ledger) Inside(uid UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	return r != nil && (r.state.inWindow() || r.state == Parked)
}
