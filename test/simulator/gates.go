package simulator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The gates of a world by the simulator's own books: how far each application has come follows from its pods and from what it has shown
// since it held nothing last, which is noted after every call that may change it. Only how long a start may take is not followed exactly:
// between the shortest and the longest timeout that was ever in force, the ledger's word counts.

// past is what an application has shown since it held nothing last.
type past struct {
	started     bool // it got on, was one pod, or its driver is gone
	learnt      bool // its start was learnt from, or could not be
	driven      bool // a driver of it had a node
	vague       bool // when a pod of it got its node is not known to the nanosecond
	inDoubt     bool // all that it held at the last look was in doubt, so it may have held nothing since
	missed      bool // while it was in doubt, its queue took no pods for a moment, which the ledger may have missed
	began       int64
	first, last int64 // when its first pod got a node, and the last
}

// tells is what the pods of an application tell.
type tells struct {
	members, singles, drivers           int
	driversWait, driversHold            int
	parked                              int // of those waiting: where something else holds such a pod by now, it is nowhere until the next round
	waiting, holding, leaving           int
	doubted                             int // of those that hold: its binding failed and may have arrived
	bound, boundDrivers, boundExecutors int
	vague                               bool
	firstBound, lastBound               int64
}

func (t *tells) add(p *pod, charged, doubted, terminating, bound bool, role application.Role, single bool) {
	t.members++
	if single {
		t.singles++
	}
	if role == application.Driver {
		t.drivers++
		switch {
		case !charged:
			t.driversWait++
		case !terminating:
			t.driversHold++
		}
	}
	switch {
	case doubted:
		t.holding++
		t.doubted++
		return
	case !charged:
		t.waiting++
		if p.delivered {
			t.parked++
		}
		return
	case terminating:
		t.leaving++
		return
	}
	t.holding++
	if !bound {
		return
	}
	t.bound++
	switch role {
	case application.Driver:
		t.boundDrivers++
	case application.Executor:
		t.boundExecutors++
	default:
	}
	t.vague = t.vague || p.vague
	if t.firstBound == 0 || p.since < t.firstBound {
		t.firstBound = p.since
	}
	t.lastBound = max(t.lastBound, p.since)
}

// headless: a driver of it waits, and none holds anything.
func (t *tells) headless() bool { return t.driversWait > 0 && t.driversHold == 0 }

// getsOn: a pod that is no driver runs, or a second one where there is no driver.
func (t *tells) getsOn() bool {
	others := t.bound - t.boundDrivers
	if t.drivers > 0 || t.boundExecutors > 0 {
		return others > 0
	}
	return others > 1
}

func (t *tells) single() bool { return t.members == 1 && t.singles == 1 }

// bounds are the shortest and the longest timeout that a leaf has had.
type bounds struct{ least, most int64 }

func (b bounds) with(d queue.Declaration) bounds {
	least, most := d.Spec.StartingTimeout.Nanoseconds, d.Spec.StartingTimeout.Nanoseconds
	switch {
	case d.Spec.StartingTimeout.Adaptive:
		least, most = 5*second, 300*second
	case least == 0:
		least, most = 300*second, 300*second
	}
	if b.least == 0 {
		b.least = least
	}
	return bounds{min(b.least, least), max(b.most, most)}
}

// whatPodsTell gathers what the pods of all applications tell, as the watches know them.
func (w *World) whatPodsTell() map[appKey]*tells {
	return inLook(w, &w.derived.inLook.tells, w.hearPods)
}

func (w *World) hearPods() map[appKey]*tells {
	defer w.beginLook()()
	accepting := w.accepting()
	out := make(map[appKey]*tells, w.heard)
	block := make([]tells, w.heard)
	for _, p := range w.known.pods {
		now := &p.seen
		at := p.at(accepting)
		if at == "" {
			continue
		}
		k := appKey{at, now.Application}
		t := out[k]
		if t == nil {
			if len(block) == 0 {
				block = make([]tells, 8)
			}
			t, block = &block[0], block[1:]
			out[k] = t
		}
		t.add(p, p.charged != "", p.charged == "" && p.doubtful && w.backsOff(p.UID), now.Terminating, now.Node != "", now.Role, now.Single)
	}
	w.heard = len(out)
	return out
}

// backsOff: the pod's back-off is not over, and nothing else blocks it, which is the ledger's word. So long the pod counts as one that may have been
// bound.
func (w *World) backsOff(uid ledger.UID) bool {
	s, _ := w.Ledger.PodState(uid)
	return s.State == ledger.Waiting && s.BlockedBy.Code == reason.BackOff
}

// stateOf is the ledger's word; Accepted if it has no such application.
func (w *World) stateOf(k appKey) application.State {
	all := w.applications()
	i := slices.IndexFunc(all, func(a ledger.ApplicationState) bool { return a.Queue == k.queue && a.Name == k.name })
	if i < 0 {
		return application.Accepted
	}
	return all[i].State
}

// lookAtStarts notes what applications have shown. It is called after each call that may have changed that.
func (w *World) lookAtStarts() {
	if !w.opts.Gates || w.begins {
		return
	}
	tree := w.tree()
	all := w.whatPodsTell()
	w.dropPasts(tree, all)
	var holding []appKey
	for k, t := range all { // sorted below
		if t.holding > 0 {
			holding = append(holding, k)
		}
	}
	slices.SortFunc(holding, byQueue)
	for _, k := range holding {
		t := all[k]
		p := w.pasts[k]
		if p == nil || p.inDoubt && p.started && w.stateOf(k) == application.Starting {
			p = &past{began: w.now}
			w.pasts[k] = p
		}
		p.inDoubt = t.holding == t.doubted
		if p.first == 0 && t.bound > 0 && p.began+w.timeouts[k.queue].least <= w.now {
			p.vague = true // its time may have been up before any pod of it had a node
		}
		w.note(k, p, t, gatedIn(tree, k.queue))
	}
	clear(w.movedIn)
}

// dropPasts forgets applications that hold nothing any more, and notes what queues have learnt that are not in the tree.
func (w *World) dropPasts(tree queue.Tree, all map[appKey]*tells) {
	for k, p := range w.pasts { // each for itself: order does not matter
		switch t := all[k]; {
		case t == nil && p.inDoubt && w.unsettled:
			p.missed, p.vague = true, true
		case t == nil || t.holding == 0:
			delete(w.pasts, k)
		}
	}
	for leaf := range w.learnt { // each for itself: order does not matter
		if _, ok := tree.Find(leaf); !ok {
			w.hazy[leaf] = true // with the queue goes what it learnt, as soon as the ledger looks
		}
	}
}

func byQueue(a, b appKey) int {
	return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.name, b.name))
}

func (w *World) note(k appKey, p *past, t *tells, gated bool) {
	if t.bound > 0 {
		if p.first == 0 || t.firstBound < p.first {
			p.first = t.firstBound
		}
		p.last = max(p.last, t.lastBound)
	}
	p.vague = p.vague || t.vague
	switch {
	case t.getsOn():
		sure, moved := w.movedIn[k] // what a pod ends that moved is no start of this queue
		if !p.learnt && gated && !moved {
			l := &w.learnt
			(*l)[k.queue] = append((*l)[k.queue], p.last-p.first)
			(*l)[k.queue] = (*l)[k.queue][max(0, len((*l)[k.queue])-20):]
		}
		// Until the ledger looks at the queues, those count that it knew before.
		if p.missed || !p.learnt && !sure && (gated && p.vague || w.unsettled || moved) {
			w.hazy[k.queue] = true
		}
		p.started, p.learnt, p.missed = true, true, false
	case t.single():
		p.started = true
	case t.boundDrivers > 0:
		p.driven = true
	case p.driven:
		p.started = true
	}
}

func gatedIn(tree queue.Tree, q queue.Path) bool {
	i, ok := tree.Find(q)
	return ok && hasGate(&tree.Nodes[i])
}

func hasGate(n *queue.Node) bool { return n.Spec.Policy == queue.StateAware && len(n.Children) == 0 }

// starts says whether an application is starting: for sure, or perhaps, since its time may be up.
func (w *World) starts(k appKey, t *tells) (sure, perhaps bool) {
	p := w.pasts[k]
	if p == nil && t.doubted > 0 {
		return false, true // its queue came back, and with it the doubt
	}
	if t.holding == 0 || p == nil || p.started || t.single() || t.getsOn() {
		return false, false
	}
	since := p.first
	if since == 0 {
		since = p.began
	}
	up := since+w.timeouts[k.queue].least <= w.now || p.vague
	return !up, up
}

// starters is how many may be starting.
func starters(d queue.Declaration) int {
	if d.Spec.MaxStarting.Stated {
		return int(d.Spec.MaxStarting.Most)
	}
	return 1
}

// others counts the applications of a leaf besides one that are starting for sure, and of those the ones with a bound pod.
func (w *World) others(k appKey, all map[appKey]*tells) (starting, bound int) {
	for o, t := range all { // each for itself: order does not matter
		if o.queue != k.queue || o == k {
			continue
		}
		if sure, _ := w.starts(o, t); sure {
			starting++
			if t.bound > 0 {
				bound++
			}
		}
	}
	return starting, bound
}

// auditPassing: an application that begins to hold something has found the gate open. Called before the pod is charged.
func (w *World) auditPassing(p *pod, leaf queue.Path) {
	if !w.opts.Gates {
		return
	}
	tree := w.tree()
	if !gatedIn(tree, leaf) {
		return
	}
	all := w.whatPodsTell()
	k := appKey{leaf, p.seen.Application}
	if t := all[k]; t == nil || t.holding > 0 || t.single() {
		return
	}
	w.Passed++
	if n, _ := w.others(k, all); n >= starters(w.known.queues[leaf]) {
		w.fail("pod %s of application %s was released, and %d others of at most %d are starting in queue %s", p.UID, k.name, n, starters(w.known.queues[leaf]), leaf)
	}
}

// auditReserving: an application that gets its first node leaves room for no more starters than may be.
func (w *World) auditReserving(p *pod) {
	if !w.opts.Gates {
		return
	}
	tree := w.tree()
	if !gatedIn(tree, p.charged) {
		return
	}
	all := w.whatPodsTell()
	k := appKey{p.charged, p.seen.Application}
	if sure, _ := w.starts(k, all[k]); !sure || all[k].bound > 0 {
		return
	}
	if _, n := w.others(k, all); n >= starters(w.known.queues[p.charged]) {
		w.fail("pod %s of application %s got a node, and %d others of at most %d are starting in queue %s", p.UID, k.name, n, starters(w.known.queues[p.charged]), p.charged)
	}
}

// gateHolds: the application has to wait for others that are starting.
func (w *World) gateHolds(k appKey, tree queue.Tree) bool {
	if !w.opts.Gates || !gatedIn(tree, k.queue) {
		return false
	}
	all := w.whatPodsTell()
	t := all[k]
	if t == nil || t.holding > 0 || t.single() {
		return false
	}
	n := 0
	for _, a := range w.applications() {
		o := appKey{a.Queue, a.Name}
		if o.queue != k.queue || o == k || all[o] == nil {
			continue
		}
		sure, perhaps := w.starts(o, all[o])
		if sure || perhaps && a.State == application.Starting {
			n++
		}
	}
	return n >= starters(w.known.queues[k.queue])
}

// play gives a pod a role in its application.
func (g *generator) play(p *ledger.Pod) {
	switch g.IntN(10) {
	case 0, 1:
		p.Application += fmt.Sprintf("-alone-%d", g.pods)
		p.Single = true
	case 2:
		p.Single = true // which need not be true
	case 3, 4:
		p.Role = application.Driver
	case 5, 6:
		p.Role = application.Executor
	}
}

// gateQueue changes something about a queue's gate.
func (g *generator) gateQueue(d *queue.Declaration) {
	switch g.IntN(6) {
	case 0, 1:
		d.Spec.Policy = queue.StateAware
	case 2:
		d.Spec.Policy = queue.Policy(g.IntN(4))
	case 3:
		d.Spec.MaxStarting = queue.AtMost(int64(1 + g.IntN(3)))
	case 4:
		d.Spec.StartingTimeout = queue.StartingTimeout{Nanoseconds: second/2 + g.Int64N(3*second)}
	case 5:
		d.Spec.StartingTimeout = queue.StartingTimeout{Adaptive: g.IntN(3) == 0, Nanoseconds: 20 * second * g.Int64N(2)}
	}
}

// boundAt is when a pod says that it got its node.
func (g *generator) boundAt(now int64) int64 {
	if !g.ageless || g.IntN(4) > 0 {
		return now
	}
	return now * int64(g.IntN(3)) // not said, as it is, or in the future
}
