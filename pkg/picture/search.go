package picture

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The search tries one change after another, each on the state in which everything that can be released is
// released. A try yields, for each limit, the next value at which anything would go differently, so values
// between two tries need no try. After smallSteps tries the steps double, and making the change smaller again
// stops when mostWork is done: the answer then lets the pod start, but may not be the smallest. Work counts
// what is looked at, because there is no clock here: about a microsecond each.
const (
	smallSteps     = 100
	mostWork       = 20_000_000
	workPerAccount = 10
)

// search is a search under way.
type search struct {
	*Picture
	pod        ledger.UID
	goal       ledger.UID // which is to start: first the driver with which the pod waits, then the pod
	stopped    ledger.UID // the pod that the last reason is about: the goal, or the driver with which it waits
	edits      []Edit
	thresholds []*ledger.Threshold // for edits of max and maxDriverShare, nil for others
	failed     []int64             // for each edit, the largest value that was not enough
	node       ledger.Node
	nodeFor    []ledger.UID // the pods that node can hold
	grown      bool         // node was made larger than all existing nodes
	nodes      int
	blockers   []reason.Reason
	tries      int
	small      int // up to that try, steps are small
	work       int // see mostWork
	found      bool
	doubled    bool         // some steps may have been larger than necessary
	ahead      []ledger.UID // released before the pod in the last try
}

// search finds the smallest change that lets a pod start, if the pod is not released anyway. A pod that waits with its driver starts only after it,
// so the search solves for the driver first, and goes on from there.
func (p *Picture) search(a *Answer) {
	s := &search{Picture: p, pod: a.Pod.UID}
	s.goal = s.rehearsal.Lead(s.pod)
	if s.goal == s.pod || s.solve(a) {
		s.goal = s.pod
		if s.solve(a) {
			p.ahead(a, s.ahead)
			a.WouldStartIf = append(a.WouldStartIf, s.changes(a.Pod)...)
		}
	}
	for _, why := range s.blockers {
		if !slices.ContainsFunc(a.Blockers, func(b Blocker) bool { return b.Reason.Cause().Code == why.Code && b.Reason.Queue == why.Queue }) {
			a.Blockers = append(a.Blockers, p.blocker(why))
		}
	}
}

// solve makes the change larger until the goal starts, and then as small as that allows. False: it does not start; the answer says what else would help.
func (s *search) solve(a *Answer) bool {
	s.small, s.found, s.doubled = s.tries+smallSteps, false, false
	for s.work < mostWork {
		released, why := s.try()
		if !released {
			if !s.extend(why) {
				a.WouldStartIf = append(a.WouldStartIf, s.byHand(why)...)
				return false
			}
			continue
		}
		s.found = true
		s.shrink()
		if s.removeUnneeded() {
			return true
		}
		s.found = false
	}
	return false
}

// try makes the change, rehearses the releases up to the goal, and undoes everything. It returns what stops the
// goal at the end.
func (s *search) try() (released bool, stopped reason.Reason) {
	s.tries++
	h := s.rehearsal
	s.work += 1 + workPerAccount*s.size*btoi(len(s.edits)+s.nodes > 0)
	base := h.Len()
	undo := s.apply()
	h.Watch(slices.DeleteFunc(slices.Clone(s.thresholds), func(t *ledger.Threshold) bool { return t == nil })...)
	s.ahead = s.ahead[:0]
	for c, ok := h.Next(false, false); ok; c, ok = h.Next(false, false) {
		if released = c.UID == s.goal; released {
			break
		}
		s.ahead = append(s.ahead, c.UID)
	}
	s.work += len(s.ahead)
	if !released {
		stopped = h.Stopped(s.goal)
		s.stopped = s.goal
		if stopped.Code == reason.WaitingForDriver {
			s.stopped = h.Lead(s.goal)
		}
	}
	h.Watch()
	h.Back(base)
	undo()
	return released, stopped
}

// apply makes the whole change on the ledger at once and returns a function that undoes it.
func (s *search) apply() (undo func()) {
	h := s.rehearsal
	edited := map[queue.Path]queue.Declaration{}
	var undos []func()
	readmit := false
	for _, e := range s.edits { // read everything before declaring anything: reading brings the ledger up to date
		d, known := edited[e.Queue]
		if !known {
			before, declared := h.Declaration(e.Queue)
			d = before
			undos = append(undos, func() {
				if declared {
					h.Declare(before)
				} else {
					h.Undeclare(e.Queue)
				}
			})
		}
		edited[e.Queue] = e.Apply(d)
		readmit = readmit || e.Resource == "" && e.Field != FieldMaxDriverShare && e.Field != FieldMaxStarting
	}
	for _, d := range edited { // they come into force together: order does not matter
		h.Declare(d)
	}
	for i := range s.nodes {
		n := s.node
		n.Name = "+" + strconv.Itoa(i+1) // no node has this name
		h.AddNode(n)
		undos = append(undos, func() { h.RemoveNode(n.Name) })
	}
	return func() {
		for _, undo := range slices.Backward(undos) {
			undo()
		}
		if readmit {
			h.Readmit()
		}
	}
}

// extend makes the change larger, by what stops the goal now, or the driver with which it waits. It returns false if no change of ours helps.
func (s *search) extend(why reason.Reason) bool {
	why = why.Cause()
	path, running, start := queue.Path(why.Queue), reason.As[reason.Applications](why).Most, reason.As[reason.Start](why).Most
	var e Edit
	switch why.Code {
	case reason.MaxResources:
		if _, byCapacity := why.Details.(reason.MaxCapacity); byCapacity {
			return false
		}
		e = Edit{Queue: path, Field: FieldMax, Resource: why.Resource, From: why.Limit, To: s.atLeast(why)}
	case reason.MaxPodResources:
		e = Edit{Queue: path, Field: FieldMaxPodResources, Resource: why.Resource, From: why.Limit, To: why.Asked}
	case reason.MaxRunningApplications:
		e = Edit{Queue: path, Field: FieldMaxRunningApplications, From: running, To: running + 1}
	case reason.MaxApplications:
		e = Edit{Queue: path, Field: FieldMaxApplications, From: running, To: running + 1}
	case reason.UserMaxRunningApplications:
		e = Edit{Queue: queue.Root, Field: FieldUserApplications, From: running, To: running + 1}
	case reason.MaxDriverShare:
		share := s.rehearsal.DriverShare(path)
		e = Edit{Queue: path, Field: FieldMaxDriverShare, From: share, To: share}
	case reason.StateAware:
		e = Edit{Queue: path, Field: FieldMaxStarting, From: start, To: start + 1}
	case reason.QueueNotFound, reason.QueueNotReady:
		return s.create(path, why)
	case reason.QueueStopped:
		return s.start(why)
	case reason.WaitingForRoom:
		return s.addNode(why)
	default:
		return false
	}
	if i := slices.IndexFunc(s.edits, func(o Edit) bool {
		return o.Queue == e.Queue && o.Field == e.Field && o.Resource == e.Resource
	}); i >= 0 {
		if e.Field == FieldMaxPodResources && e.To > s.edits[i].To { // so far it is the size of the driver
			s.edits[i].To = e.To
			return true
		}
		return s.raise(i)
	}
	s.add(e)
	s.blockers = append(s.blockers, why)
	return true
}

func (s *search) add(e Edit) {
	s.edits = append(s.edits, e)
	s.thresholds, s.failed = append(s.thresholds, nil), append(s.failed, e.From)
	if e.Field == FieldMax || e.Field == FieldMaxDriverShare {
		s.thresholds[len(s.edits)-1] = &ledger.Threshold{Queue: e.Queue, Resource: e.Resource}
	}
}

// atLeast returns a lower bound for the max that the pod needs: pods of the same class that come before it in
// its application are released first.
func (s *search) atLeast(why reason.Reason) int64 {
	before := int64(0)
	if s.tries == 1 && why.PodGroup == "" { // after the first try, usage includes some of them; the request of a pod group is that of all its pods
		before = int64(s.rehearsal.Before(s.stopped))
	}
	used := resource.SatAdd(why.Used, reason.As[reason.MaxKept](why).Kept)
	return resource.SatAdd(used, resource.SatMul(why.Asked, before+1))
}

// raise sets an edit to the next value at which anything goes differently.
func (s *search) raise(i int) bool {
	e := &s.edits[i]
	s.failed[i] = e.To
	switch t := s.thresholds[i]; {
	case e.Field == FieldMaxPodResources:
		return false // it was raised to the size of the pod and of its driver
	case t == nil:
		e.To++
	case t.Next > e.To:
		e.To = t.Next
	default:
		return false
	}
	if s.tries > s.small && !s.found {
		e.To, s.doubled = max(e.To, resource.SatAdd(s.failed[i], s.failed[i]-e.From)), true
	}
	switch e.Field {
	case FieldMaxDriverShare:
		e.To = min(e.To, limit.WholeShare)
	case FieldMaxStarting:
		e.To = min(e.To, queue.MostStarting)
	}
	return e.To > s.failed[i]
}

// create adds the Queue that a pod asks for, and the missing Queues above it.
func (s *search) create(path queue.Path, why reason.Reason) bool {
	grown := false
	for _, p := range append(path.Ancestors(), path) {
		if _, declared := s.rehearsal.Declaration(p); declared || p == queue.Root {
			continue
		}
		e := Edit{Queue: p, Field: FieldExists}
		if slices.Contains(s.edits, e) {
			continue
		}
		s.add(e)
		grown = true
	}
	if grown {
		s.blockers = append(s.blockers, why)
	}
	return grown
}

// start starts the queues that keep the pod's queue stopped.
func (s *search) start(why reason.Reason) bool {
	for _, p := range strings.Fields(reason.As[reason.Stop](why).By) {
		e := Edit{Queue: queue.Path(p), Field: FieldState, From: int64(queue.StateStopped), To: int64(queue.StateRunning)}
		if slices.Contains(s.edits, e) {
			return false
		}
		s.add(e)
	}
	s.blockers = append(s.blockers, why)
	return true
}

// addNode adds one more node; the first time, as many as the pods that are released before it need.
func (s *search) addNode(why reason.Reason) bool {
	if s.nodes > 0 && slices.Contains(s.nodeFor, s.stopped) {
		s.nodes++
		if s.tries > s.small {
			s.nodes, s.doubled = 2*s.nodes, true
		}
		return true
	}
	pods := append(s.nodeFor, s.stopped) // one kind of node for the pod and its driver
	n, grown, ok := s.rehearsal.NodeFor(pods...)
	if !ok {
		return false
	}
	s.doubled = s.doubled || s.nodes > 0 // fewer of this kind may do
	s.node, s.grown, s.nodes, s.nodeFor = n, grown, max(s.nodes, 1), pods
	s.blockers = append(s.blockers, why)
	if pod, _ := s.ledger.PodState(s.stopped); s.tries == 1 {
		s.nodes = 1 + s.rehearsal.Before(s.stopped)/fitting(pod.Request, n)
	}
	return true
}

// fitting returns how many pods of this size fit on an empty node.
func fitting(request resource.List, n ledger.Node) int {
	most := math.MaxInt32
	if n.Pods > 0 {
		most = n.Pods
	}
	for i := range request.Len() {
		if e := request.At(i); e.Value > 0 {
			most = min(most, int(min(n.Allocatable.Get(e.Name)/e.Value, math.MaxInt32)))
		}
	}
	return max(most, 1)
}

// shrink makes each part of the change as small as the others allow, and repeats until nothing changes: a
// smaller part may allow another to shrink.
func (s *search) shrink() {
	parts := len(s.edits) + btoi(s.nodes > 0)
	for again := parts > 1 || s.doubled; again && s.work < mostWork; {
		again = false
		for i := range s.edits {
			e := &s.edits[i]
			if e.Field == FieldExists || e.Field == FieldMaxPodResources || e.Field == FieldState {
				continue
			}
			enough := e.To
			if s.firstEnough(func() { e.To = e.From }, func() bool { return s.raise(i) && e.To < enough }) {
				again = again || e.To < enough
			} else {
				e.To = enough
			}
		}
		if enough := s.nodes; enough > 0 {
			if s.firstEnough(func() { s.nodes = 0 }, func() bool { s.nodes++; return s.nodes < enough }) {
				again = again || s.nodes < enough
			} else {
				s.nodes = enough
			}
		}
	}
	for i := range s.edits {
		s.narrow(&s.edits[i], s.failed[i])
	}
}

// removeUnneeded removes the edits that shrank to nothing because others replaced them. It returns false if the pod does
// not start without them (a max in percent that is kept from growing with the nodes has an effect even so).
func (s *search) removeUnneeded() bool {
	for i := len(s.edits) - 1; i >= 0; i-- {
		if e := s.edits[i]; e.Field != FieldExists && e.To == e.From {
			s.edits = slices.Delete(s.edits, i, i+1)
			s.thresholds = slices.Delete(s.thresholds, i, i+1)
			s.failed = slices.Delete(s.failed, i, i+1)
		}
	}
	if s.nodes == 0 {
		s.nodeFor = nil
	}
	released, _ := s.try() // records what is released before the pod, too
	return released
}

// narrow searches between the last max that was not enough and the first that is. A max also moves shares,
// and with them what drivers may use; no threshold tells that.
func (s *search) narrow(e *Edit, failed int64) {
	if e.Field != FieldMax {
		return
	}
	enough := e.To
	for e.To = enough - 1; e.To > failed && s.work < mostWork; e.To = failed + (enough-failed)/2 {
		released, _ := s.try()
		if released {
			enough = e.To
		} else {
			failed = e.To
		}
	}
	e.To = enough
}

// firstEnough tries one value after another and stops at the first at which the pod starts; it returns false if
// there is none.
func (s *search) firstEnough(reset func(), next func() bool) bool {
	reset()
	for ok := true; ok && s.work < mostWork; ok = next() {
		if released, _ := s.try(); released {
			return true
		}
	}
	return false
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
