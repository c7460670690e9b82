package simulator

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// adversaryLeaf is the queue of the adversary in random worlds.
const adversaryLeaf queue.Path = "root.adversary"

// atMostWithheld is for how long more may be kept for the adversary than it is owed: the ledger judges once a second, and a round comes a little later.
const atMostWithheld = 2 * second

// adversary draws the queue of the adversary: mostly of a tiny weight, and sometimes with a limit on the size of a pod.
func (g *generator) adversary() queue.Declaration {
	d := queue.Declaration{Path: adversaryLeaf, Spec: unlimited()}
	d.Spec.Weight = []int64{0, 1, 1, 10, 100, 1000}[g.IntN(6)]
	d.Spec.Policy = queue.Policy(g.IntN(3))
	if g.IntN(3) == 0 {
		d.Spec.MaxPod = size{cpu: 2000, memory: 4 * gib}.list()
	}
	if g.IntN(3) == 0 {
		d.Spec.MaxDriverShare = queue.Limit{} // the default
	}
	return d
}

// idleFor is how many milli-cpu are free while a pod of somebody else waits: what an adversary is proud of.
func (w *World) idleFor() (idle int64) {
	waits := false
	for _, p := range w.known.pods {
		now := &p.seen
		waits = waits || now.Node == "" && !now.Foreign && !now.Terminating && p.charged == "" && !w.adversary.owns(p)
	}
	for _, r := range w.kube.rooms { // a sum: order does not matter
		if waits && r.known && r.node.Usable {
			idle += max(r.node.Allocatable.Get(resource.CPU)-r.used[cpu], 0)
		}
	}
	return idle
}

// auditWithheld: what is kept for the adversary, on held nodes and for nominated pods, is within its share or guarantee, as far as pods of others want it and fit
// there: those that wait for room and nothing else, in queues that are below their fair share, with what is kept for them, until these reach it. It may
// be more for a moment. The shares are those that the queues show.
func (w *World) auditWithheld() {
	a := w.adversary
	if a == nil || w.now < a.lookAt {
		return
	}
	a.lookAt = w.now + second/4
	who := w.withheldFrom()
	switch {
	case who == "":
		a.withheldSince = 0
	case a.withheldSince == 0:
		a.withheldSince = w.now
	case w.now-a.withheldSince > atMostWithheld:
		w.fail("since %d, more is kept for the adversary than its share, and pods of %s want it (held for %q)", a.withheldSince, who, w.heldFor)
	}
}

// withheldFrom is a queue from which more is withheld than the adversary is owed; "": there is none.
func (w *World) withheldFrom() queue.Path {
	rooms := w.roomsKept()
	if len(rooms) == 0 {
		return ""
	}
	snapshot := w.Ledger.Snapshot()
	states, total := map[queue.Path]ledger.QueueState{}, sizeOf(snapshot.Total)
	for _, q := range snapshot.Queues {
		states[q.Path] = q
	}
	charges, kept := w.charges(), w.heldOrNominated()
	above := func(q queue.Path, usage size) int {
		rule := states[q.Parent()].Spec.Rule()
		return partOf(rule, total, usage).Cmp(partOf(rule, total, sizeOf(states[q].FairShare)))
	}
	waiting := w.waitForRoomBesideAdversary()
	for _, o := range snapshot.Queues { // in path order
		if !o.InTree || o.Path.Parent() != queue.Root || o.Path == w.adversary.leaf {
			continue
		}
		gets, usage, left := size{}, charges[o.Path].plus(kept[o.Path]), slices.Clone(rooms)
		for _, p := range waiting {
			if !o.Path.Contains(p.home) || above(o.Path, usage) >= 0 {
				continue
			}
			for i := range left {
				if left[i].fits(p) {
					left[i].used = left[i].used.plus(p.asks)
					left[i].pods++
					gets, usage = gets.plus(p.asks), usage.plus(p.asks)
					break
				}
			}
		}
		if gets != (size{}) && above(w.adversary.leaf, charges[w.adversary.leaf].plus(gets)) > 0 {
			return o.Path
		}
	}
	return ""
}

// waitForRoomBesideAdversary are the pods of other queues that wait for room and nothing else, alone and without a nomination.
func (w *World) waitForRoomBesideAdversary() (waiting []*pod) {
	rehearsal, nominated := w.Ledger.Rehearse(), w.kept()
	for _, p := range w.known.pods {
		now := &p.seen
		alone := now.Node == "" && !now.Foreign && now.PodGroup == "" && nominated[p.UID] == ""
		if alone && !w.adversary.leaf.Contains(p.home) && rehearsal.Stopped(p.UID).Code == reason.WaitingForRoom {
			waiting = append(waiting, p)
		}
	}
	return waiting
}

// heldOrNominated is what is kept for each queue: the requests of its nominated pods, and what is free on nodes that are held for a group of others.
func (w *World) heldOrNominated() sums {
	out := sums{}
	for uid := range w.kept() { // sums: order does not matter
		out.add(w.pods[uid].home, w.pods[uid].asks)
	}
	held, some := w.Ledger.NodesOpenTo("nobody")
	crew := w.crews()[w.heldFor]
	if !some || crew == nil || w.adversary.ours(w.heldFor) {
		return out
	}
	var free size
	for name, r := range w.kube.rooms { // a sum: order does not matter
		if r.known && r.node.Usable && !slices.Contains(held, name) {
			free = free.plus(r.free())
		}
	}
	counted := map[queue.Path]bool{}
	for _, p := range crew.ready {
		for q := p.home; q != "" && !counted[q]; q = q.Parent() {
			counted[q], out[q] = true, out[q].plus(free)
		}
	}
	return out
}

// roomsKept are the nodes with room that is kept for the adversary, and that room alone: all that is free on a held node, and on others as much as
// the nominated pods of its queue ask for. What is within its guarantee is not among that: see owedByGuarantee.
func (w *World) roomsKept() (rooms []room) {
	held, some := w.Ledger.NodesOpenTo("nobody")
	mine := some && w.adversary.ours(w.heldFor)
	isHeld := func(name string) bool { return mine && !slices.Contains(held, name) }
	owed := func(*pod) bool { return false }
	asked, guaranteed := map[string]size{}, map[string]size{}
	for uid, node := range w.kept() { // sums: order does not matter
		p := w.pods[uid]
		if !w.adversary.leaf.Contains(p.home) {
			continue
		}
		if len(asked)+len(guaranteed) == 0 { // a look costs as much as a snapshot
			owed = w.owedByGuarantee(isHeld)
		}
		if owed(p) {
			guaranteed[node] = guaranteed[node].plus(p.asks)
		} else {
			asked[node] = asked[node].plus(p.asks)
		}
	}
	for _, name := range w.kube.names {
		r := *w.kube.rooms[name]
		switch {
		case !r.known || !r.node.Usable:
		case isHeld(name):
			rooms = append(rooms, r)
		case asked[name] != size{}:
			r.used = r.used.plus(guaranteed[name])
			free := r.free()
			for i := range free {
				r.used[i] += max(free[i]-asked[name][i], 0)
			}
			rooms = append(rooms, r)
		}
	}
	return rooms
}

// owedByGuarantee says of a nominated pod of the adversary whether its room is owed above the share of its queue: the queue, with all that is kept for
// it, does not have more than it is guaranteed of something that the pod asks for, and the node could hold the pod if none of ours were there.
func (w *World) owedByGuarantee(isHeld func(node string) bool) func(*pod) bool {
	leaf, kept := w.adversary.leaf, w.kept()
	var guaranteed size
	var rule queue.Rule
	for _, q := range w.Ledger.Snapshot().Queues {
		switch q.Path {
		case leaf:
			guaranteed = sizeOf(q.Spec.Guaranteed)
		case leaf.Parent():
			rule = q.Spec.Rule()
		}
	}
	has := w.charges()[leaf].plus(w.heldOrNominated()[leaf])
	for _, name := range w.kube.names {
		if r := w.kube.rooms[name]; isHeld(name) && r.known && r.node.Usable {
			has = has.plus(r.free())
		}
	}
	return func(p *pod) bool {
		for i, n := range resources {
			if p.asks[i] > 0 && has[i] <= guaranteed[i] && rule.Counts(n) {
				return w.couldHold(kept[p.UID], p)
			}
		}
		return false
	}
}

// couldHold: the node has room for the pod beside those of other schedulers.
func (w *World) couldHold(node string, p *pod) bool {
	r := room{}
	if n, known := w.known.nodes[node]; known {
		r.node, r.known = n, true
	}
	for _, o := range w.known.pods { // sums: order does not matter
		if o.seen.Foreign && o.seen.Node == node {
			r.used = r.used.plus(o.asks)
			r.pods++
		}
	}
	return r.fits(p)
}

// free is what is left, of nothing less than nothing.
func (r *room) free() size {
	free := sizeOf(r.node.Allocatable).minus(r.used)
	for i := range free {
		free[i] = max(free[i], 0)
	}
	return free
}
