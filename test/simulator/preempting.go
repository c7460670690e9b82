package simulator

import (
	"maps"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Plans are made and carried out here, with everything that can go wrong in between: the world has changed before a plan is adopted, pending actions
// are late, done twice or not at all, and a write that was answered with an error happened all the same.

// preempting is what a world knows of its preemption.
type preempting struct {
	nominated map[ledger.UID]string // nodes of claimants by the adopted plans; those that lost theirs stay until the next look
	// Plans, and what came of them: see World.Preempted.
	counts Preempted
}

// Preempted counts what became of plans.
type Preempted struct {
	Plans, Places, Victims, Stale, Announced, Evicted, Failed, Withdrawn, Nominated, Restarts int
	// Kept: audits that excused a pod since room on a node, or under a max, is kept for others.
	Kept int
}

// Add adds another world's.
func (p *Preempted) Add(o Preempted) {
	p.Plans, p.Places, p.Victims, p.Stale = p.Plans+o.Plans, p.Places+o.Places, p.Victims+o.Victims, p.Stale+o.Stale
	p.Announced, p.Evicted, p.Failed, p.Withdrawn = p.Announced+o.Announced, p.Evicted+o.Evicted, p.Failed+o.Failed, p.Withdrawn+o.Withdrawn
	p.Nominated, p.Restarts, p.Kept = p.Nominated+o.Nominated, p.Restarts+o.Restarts, p.Kept+o.Kept
}

// Preempted returns what became of the world's plans.
func (w *World) Preempted() Preempted { return w.preempting.counts }

// hurried has a queue claim soon, since the life of such a world is short, and the root only look on now and then.
func (g *generator) hurried(d *queue.Declaration) {
	g.preemptQueue(d)
	if d.Path != queue.Root {
		return
	}
	p := &d.Spec.Preemption
	p.ObserveOnly = g.IntN(10) == 0
	if g.IntN(4) > 0 {
		p.FairShareTimeout.Nanoseconds, p.GuaranteedTimeout.Nanoseconds = second/2*g.Int64N(4), second/2*g.Int64N(4)
		p.FairShareThreshold, p.UtilizationThreshold = queue.AtMost(800+g.Int64N(201)), queue.AtMost(g.Int64N(500))
		p.Interval.Nanoseconds, p.MaxWaitBeforeKill.Nanoseconds = second/2*g.Int64N(3), second/2*g.Int64N(8)
	}
}

// preempter is the planner and the executor: one look at what is due, and the next is planned.
func (w *World) preempter() {
	if !w.opts.Calm && w.rng.IntN(40) == 0 && !w.closing {
		w.restartAnyTime()
	}
	w.plan()
	pending := w.pendingActions()
	if w.closing {
		if pending || w.bindsOrRuns() {
			w.at(second/2+w.rng.Int64N(3*second), w.preempter)
		}
		return
	}
	w.at(w.rng.Int64N(second/2), w.preempter)
}

// bindsOrRuns: a pod of ours runs. It will end, and that changes what queues are owed.
func (w *World) bindsOrRuns() bool {
	for _, p := range w.known.pods { // any will do
		if !p.seen.Foreign && (p.seen.Node != "" || p.charged != "") {
			return true
		}
	}
	return false
}

// plan makes a plan if one is due. It is made beside everything else, and so taken a little later.
func (w *World) plan() {
	due, next := w.Ledger.LookAtStarvation(w.now)
	w.changed()
	if next != 0 && next <= w.now {
		w.fail("the look at %d asks to be called again at %d", w.now, next)
	}
	if !due {
		return
	}
	world, ok := w.Ledger.Preemption(w.now)
	if !ok {
		return
	}
	f := &filters{Feasibility: w.Ledger.Feasibility(world), world: world}
	plan := preemption.Make(world, f)
	w.preempting.counts.Plans++
	if wrong := invariant.Plan(world, plan, f); len(wrong) > 0 {
		w.fail("a plan: %s", strings.Join(wrong, "\n"))
		return
	}
	if w.rng.IntN(3) > 0 {
		w.adopt(world, plan)
		return
	}
	w.within(w.rng.Int64N(w.rng.Int64N(2*second)+1), func() { w.adopt(world, plan) })
}

func (w *World) adopt(world preemption.World, plan preemption.Plan) {
	c := &w.preempting.counts
	c.Stale += w.Ledger.Adopt(world, plan, w.now)
	c.Victims += len(plan.Victims)
	for _, p := range plan.Claims {
		for _, at := range p.Nominations {
			if uid, node := ledger.UID(at.UID), world.Nodes[at.Node].Name; w.Ledger.NominatedTo(uid) == node {
				w.preempting.nominated[uid] = node // else this part of the plan was out of date, and the pod may have an earlier nomination
				c.Places++
			}
		}
	}
	w.changed()
}

// pendingActions carries out some of what is due. It reports whether there is more to do, or a pod is still expected to come or to go.
func (w *World) pendingActions() (pending bool) {
	e := w.Ledger.PendingActions(w.now)
	for _, v := range e.Announce {
		w.carryOut(func() { w.announce(v) })
	}
	for _, v := range e.Evict {
		w.carryOut(func() { w.evict(v) })
	}
	for _, v := range e.Withdraw {
		w.carryOut(func() { w.withdrawVictim(v) })
	}
	for _, n := range e.Nominate {
		w.carryOut(func() { w.nominate(n) })
	}
	w.changed()
	return len(e.Announce)+len(e.Evict)+len(e.Withdraw)+len(e.Nominate)+len(w.Ledger.Victims())+len(w.kept()) > 0
}

// carryOut does an action now, later, twice or not at all.
func (w *World) carryOut(do func()) {
	n := w.rng.IntN(12)
	if n == 0 {
		return
	}
	if n > 4 {
		do()
	}
	if n == 1 || n == 5 {
		w.within(w.rng.Int64N(3*second), do)
	}
	if n > 1 && n < 5 {
		w.within(w.rng.Int64N(20*millisecond), do)
	}
}

// answered: the API server did something, and the scheduler hears that it did.
func (w *World) answered() bool { return w.rng.IntN(15) > 0 }

func (w *World) announce(v ledger.Victim) {
	p := w.pods[v.UID]
	if p == nil || !p.exists {
		return
	}
	if p.Announced == 0 {
		p.Announced = w.now
		w.podChanged(p)
		w.adversary.onNamed(p)
	}
	if w.answered() {
		w.preempting.counts.Announced++
		w.Ledger.Announced(v.UID, w.now)
	}
}

// evict: of a pod that is gone, or leaving as the watch shows, only the watch tells.
func (w *World) evict(v ledger.Victim) {
	p := w.pods[v.UID]
	if p == nil || !p.exists || p.seen.Terminating {
		return
	}
	if refused := w.rng.IntN(8) == 0; refused || w.rng.IntN(10) == 0 {
		w.preempting.counts.Failed++
		w.Ledger.EvictionFailed(v.UID, refused, w.now)
		return
	}
	if !p.Terminating {
		w.preempting.counts.Evicted++
		p.Terminating, p.Deadline = true, w.now+w.rng.Int64N(10*second)
		w.podChanged(p)
		gone := p.Deadline - w.now
		if w.rng.IntN(6) == 0 {
			gone += w.rng.Int64N(90 * second) // a finalizer, or a node that does not answer
		}
		w.at(gone, func() { w.vanish(p) })
	}
	if w.answered() {
		w.Ledger.Evicted(v.UID, w.now)
		w.changed()
	}
}

func (w *World) vanish(p *pod) {
	if p.exists {
		p.exists = false
		w.podChanged(p)
	}
}

func (w *World) withdrawVictim(v ledger.Withdrawal) {
	p := w.pods[v.UID]
	if p != nil && p.exists && p.Announced != 0 {
		p.Announced = 0
		w.podChanged(p)
	}
	if w.answered() {
		w.preempting.counts.Withdrawn++
		w.Ledger.Withdrawn(v.UID)
	}
}

func (w *World) nominate(n ledger.NominationUpdate) {
	p := w.pods[n.UID]
	if p == nil || !p.exists || p.Node != "" {
		return
	}
	p.Nominated = n.Node
	w.statusChanged(p)
	w.adversary.onNamed(p)
	if w.answered() {
		w.preempting.counts.Nominated++
		w.Ledger.Nominated(n)
	}
}

// outrank is kube-scheduler's own preemption by priority: the status of a pod that fitted nowhere names a node, and a
// pod there may be on its way out for it.
func (w *World) outrank(p *pod) {
	if !w.opts.Preemption || w.closing || w.rng.IntN(10) > 0 || !p.exists || p.Node != "" || p.Terminating {
		return
	}
	p.Nominated = w.anyNode()
	w.statusChanged(p)
	for _, uid := range sorted(w.Ledger.Outranked(p.UID)) {
		if o := w.pods[uid]; o != nil && o.Node == p.Nominated {
			w.end(o)
			return
		}
	}
}

// restartAnyTime ends the scheduler. What audits excuse since they know what happened under it, they excuse for the one that follows: it knows less.
func (w *World) restartAnyTime() {
	w.preempting.counts.Restarts++
	if w.rng.IntN(3) > 0 {
		w.writeGroups()
		w.WriteStatus()
	}
	clear(w.preempting.nominated)
	for key := range w.groups {
		w.disturbed[key] = true
	}
	for path := range w.queues {
		w.excess[path] += anything
		w.crowd[path] += anything
		w.hazy[path] = true
	}
	w.excess[users] += anything
	w.learnt = map[queue.Path][]int64{}
	w.heldFor, w.unsettled = "", true
	w.outdate()
	w.Restart()
}

// kept are the nodes where room is kept, by the pods that wait for it.
func (w *World) kept() map[ledger.UID]string {
	out := map[ledger.UID]string{}
	if !w.opts.Preemption {
		return out
	}
	for _, p := range w.known.pods { // each for itself
		if now := &p.seen; now.Nominated != "" && now.Node == "" && p.charged == "" && !now.Terminating {
			out[p.UID] = now.Nominated
		}
	}
	maps.DeleteFunc(w.preempting.nominated, func(uid ledger.UID, _ string) bool { return w.Ledger.NominatedTo(uid) == "" })
	for uid, node := range w.preempting.nominated { // each for itself: order does not matter
		if w.pods[uid].charged == "" {
			out[uid] = node
		}
	}
	return out
}
