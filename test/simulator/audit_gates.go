package simulator

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// auditGates: every application is in the state that its pods and its past say, the numbers of every queue are the sums of these, no more
// applications are starting than may be, but for those that others bound or edits let through, and what a queue learnt is what it saw.
func (w *World) auditGates() {
	if !w.opts.Gates {
		return
	}
	snapshot := w.snapshot()
	tree := w.tree()
	w.unsettled = false
	all := w.whatPodsTell()
	states := map[queue.Path]*[3]int{}
	crowds := map[queue.Path]int{}
	seen, sums := 0, true
	for _, a := range w.applications() {
		k := appKey{a.Queue, a.Name}
		t := all[k]
		if t == nil {
			w.fail("application %s in queue %s is %s, and has no pods", a.Name, a.Queue, a.State)
			continue
		}
		seen++
		if t.parked > 0 && !w.quiet() {
			sums = false
			continue
		}
		is, sure := w.auditState(a, t, gatedIn(tree, a.Queue))
		if sure {
			crowds[a.Queue]++
		}
		for q := a.Queue; q != ""; q = q.Parent() {
			if states[q] == nil {
				states[q] = &[3]int{}
			}
			states[q][min(is, application.Running)]++
		}
	}
	for _, t := range all { // counts: order does not matter
		if t.parked == t.members {
			seen++
		}
	}
	if seen < len(all) {
		w.fail("%d applications have pods, and the ledger knows %d of them", len(all), seen)
	}
	w.auditLearnt(snapshot)
	if sums { // no application was passed over
		w.auditStateCounts(snapshot, states)
		w.auditCrowds(crowds)
	}
}

// auditState returns the state of an application, and whether it is starting for sure.
func (w *World) auditState(a ledger.ApplicationState, t *tells, gated bool) (is application.State, crowds bool) {
	k := appKey{a.Queue, a.Name}
	sure, perhaps := w.starts(k, t)
	is = stateOf(t, gated, sure || perhaps && a.State == application.Starting, t.headless())
	if is != a.State {
		w.fail("application %s in queue %s is %s, should be %s: %+v %+v", a.Name, a.Queue, a.State, is, *t, w.pasts[k])
	}
	if p := w.pasts[k]; is == application.Starting && gated && w.quiet() && !p.vague && p.first+w.timeouts[a.Queue].most <= w.now {
		w.fail("application %s in queue %s has been starting since %d", a.Name, a.Queue, p.first)
	}
	return is, gated && sure
}

// stateOf is the state of an application that does or does not start, where there is a gate. headless: a driver of it waits, and none holds anything.
func stateOf(t *tells, gated, starting, headless bool) application.State {
	switch {
	case t.holding > 0 && !gated && headless:
		return application.Starting
	case t.holding > 0 && gated && starting:
		return application.Starting
	case t.holding > 0:
		return application.Running
	case t.leaving > 0 && t.waiting == 0:
		return application.Completing
	case t.leaving > 0 && !gated:
		return application.Running
	}
	return application.Accepted
}

func (w *World) auditStateCounts(s ledger.Snapshot, states map[queue.Path]*[3]int) {
	for _, q := range s.Queues {
		want := [3]int{}
		if states[q.Path] != nil {
			want = *states[q.Path]
		}
		if got := [3]int{q.ApplicationsPending, q.ApplicationsStarting, q.ApplicationsRunning}; q.InTree && got != want {
			w.fail("queue %s counts %v applications pending, starting and running, should be %v", q.Path, got, want)
		}
	}
}

func (w *World) auditLearnt(s ledger.Snapshot) {
	for _, q := range s.Queues {
		if q.Starts == nil {
			continue
		}
		w.Starting += q.ApplicationsStarting
		if w.hazy[q.Path] {
			w.learnt[q.Path], w.hazy[q.Path] = slices.Clone(q.Starts.Memory.Starts), false
		}
		if got := q.Starts.Memory.Starts; !slices.Equal(got, w.learnt[q.Path]) {
			w.fail("queue %s remembers starts of %v, saw %v", q.Path, got, w.learnt[q.Path])
		}
	}
}

// auditCrowds: while a queue is excused, this audit checks no more than the one at each release.
func (w *World) auditCrowds(starting map[queue.Path]int) {
	for leaf, n := range starting { // each for itself: order does not matter
		if most := starters(w.known.queues[leaf]); int64(n)-w.crowd[leaf] > int64(most) {
			w.fail("%d applications of at most %d are starting in queue %s, %d are excused", n, most, leaf, w.crowd[leaf])
		}
	}
	for leaf := range w.crowd {
		if starting[leaf] <= starters(w.known.queues[leaf]) {
			delete(w.crowd, leaf)
		}
	}
}

// excuseEdit: a queue was declared otherwise, which may close gates behind more applications than may be starting.
func (w *World) excuseEdit(path queue.Path) {
	if !w.opts.Gates {
		return
	}
	for _, q := range append(sorted(w.known.queues), path) {
		if path.Contains(q) || q.Contains(path) {
			w.crowd[q] += anything
		}
	}
}

// memories is what the statuses of the queues say, once they are written.
func (w *World) memories() map[queue.Path]queue.Memory {
	out := map[queue.Path]queue.Memory{}
	for _, q := range w.snapshot().Queues {
		memory := queue.Memory{}
		if q.Starts != nil {
			memory = q.Starts.Memory
		}
		memory.Holds = q.Holds
		if memory.StoppedSince = q.StoppedSince; !memory.Equal(queue.Memory{}) {
			out[q.Path] = memory
		}
	}
	return out
}

// ageless: there is an application that may be starting, and its pods do not say since when. After a restart it is so since then.
func (w *World) ageless() bool {
	if !w.opts.Gates {
		return false
	}
	tree := w.tree()
	for k, t := range w.whatPodsTell() { // any will do: order does not matter
		if t.vague && !t.getsOn() && gatedIn(tree, k.queue) {
			return true
		}
	}
	return false
}

// atGate: the pod's application holds nothing, and is in a queue with a gate.
func (w *World) atGate(p *pod) bool {
	if !w.opts.Gates {
		return false
	}
	tree := w.tree()
	t := w.whatPodsTell()[appKey{p.home, p.seen.Application}]
	return t != nil && t.holding == 0 && !t.single() && gatedIn(tree, p.home)
}

// auditShownAtGates: at a gate, at most as many applications show Unschedulable as it would let pass. Autoscalers add
// nodes for pods that show it, and no node helps a pod that waits behind a gate.
func (w *World) auditShownAtGates(show []ledger.Backlogged, loses map[ledger.UID]bool) {
	if !w.opts.Gates {
		return
	}
	tree := w.tree()
	all := w.whatPodsTell()
	shows := map[appKey]bool{}
	note := func(p *pod) {
		k := appKey{p.home, p.seen.Application}
		if t := all[k]; t != nil && t.holding == 0 && !t.single() && gatedIn(tree, k.queue) {
			shows[k] = true
		}
	}
	for _, b := range show {
		note(w.lookUp(b.UID))
	}
	for _, p := range w.known.pods { // each for itself
		if now := &p.seen; now.Unschedulable != "" && !loses[p.UID] && !now.Foreign && now.Node == "" && !now.Terminating {
			note(p)
		}
	}
	perLeaf := map[queue.Path]int{}
	for k := range shows { // counts: order does not matter
		perLeaf[k.queue]++
	}
	for leaf, n := range perLeaf { // each for itself: order does not matter
		starting, _ := w.others(appKey{queue: leaf}, all)
		if most := starters(w.known.queues[leaf]); n > max(most-starting, 0) {
			w.fail("%d applications at the gate of queue %s show Unschedulable, %d of at most %d are starting", n, leaf, starting, most)
		}
	}
}
