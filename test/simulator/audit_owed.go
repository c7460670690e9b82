package simulator

import (
	"math/big"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// atMostUnowed is for how long nodes may be held that a queue is not owed: the ledger judges once a second, and a round comes a little later.
const atMostUnowed = 2 * second

// owedEvery is how often that is looked at, while nodes are held: a look costs as much as a snapshot.
const owedEvery = second / 4

// auditOwed: nodes are not held for long for a queue that would be above its fair share with them, while another one waits for room that would be below
// its own without what it runs there, or would have less of what it waits for than it is guaranteed. It has arithmetic of its own.
func (w *World) auditOwed() {
	var who queue.Path
	if w.heldFor != "" {
		if w.now < w.owedLookAt {
			return
		}
		w.owedLookAt = w.now + owedEvery
		who = w.unowed()
	}
	switch {
	case who == "":
		w.unowedSince = 0
	case w.unowedSince == 0:
		w.unowedSince = w.now
	case w.now-w.unowedSince > atMostUnowed:
		w.fail("nodes are held for group %s since %d, and queue %s waits for room below its share or guarantee since %d", w.heldFor, w.heldSince, who, w.unowedSince)
	}
}

// unowed is a queue that waits below its share or guarantee for what is held above the share of another; "": none does, or that cannot be said.
func (w *World) unowed() queue.Path {
	crew := w.crews()[w.heldFor]
	if crew == nil || crew.taken > 0 || len(crew.ready) == 0 || len(w.kept()) > 0 {
		return ""
	}
	leaf := crew.ready[0].home
	for _, p := range crew.ready {
		if p.home != leaf {
			return ""
		}
	}
	used, held := w.withoutHeld()
	snapshot := w.Ledger.Snapshot()
	states := map[queue.Path]ledger.QueueState{}
	for _, q := range snapshot.Queues {
		states[q.Path] = q
	}
	compare := func(q queue.Path, usage, share size) int {
		rule, total := states[q.Parent()].Spec.Rule(), sizeOf(snapshot.Total)
		return partOf(rule, total, usage).Cmp(partOf(rule, total, share))
	}
	for q := leaf; q != queue.Root && q != ""; q = q.Parent() {
		if compare(q, used[q].plus(held), sizeOf(states[q].FairShare)) <= 0 {
			continue
		}
		for _, o := range snapshot.Queues { // in path order
			if !o.InTree || o.Path == q.Parent() || !q.Parent().Contains(o.Path) || q.Contains(o.Path) {
				continue
			}
			share, guaranteed := sizeOf(o.FairShare), sizeOf(o.Spec.Guaranteed)
			if counts := coveredShare(states, o.Path, q.Parent()); counts != share {
				share = counts
				for i := range guaranteed {
					guaranteed[i] = min(guaranteed[i], counts[i])
				}
			}
			below, rule := compare(o.Path, used[o.Path], share) < 0, states[o.Path.Parent()].Spec.Rule()
			lacks := guaranteed.minus(used[o.Path])
			if w.lacksRoom(o.Path, func(asks size) bool { return below || asks.someOf(lacks, rule) }) {
				return o.Path
			}
		}
	}
	return ""
}

// coveredShare is what counts of the share of a queue for the others below from: no more than what counts of its parent's share, in proportion to what all
// children of that have.
func coveredShare(states map[queue.Path]ledger.QueueState, q, from queue.Path) size {
	share := sizeOf(states[q].FairShare)
	if q.Parent() == from {
		return share
	}
	above := coveredShare(states, q.Parent(), from)
	for i := range share {
		all := new(big.Int)
		for path, o := range states { // a sum: order does not matter
			if path.Parent() == q.Parent() && path != queue.Root && o.InTree {
				all.Add(all, big.NewInt(sizeOf(o.FairShare)[i]))
			}
		}
		if has := big.NewInt(above[i]); all.Cmp(has) > 0 {
			share[i] = has.Mul(has, big.NewInt(share[i])).Quo(has, all).Int64()
		}
	}
	return share
}

// withoutHeld is what queues are charged without their pods on held nodes, and what these nodes have for our pods.
func (w *World) withoutHeld() (used sums, held size) {
	used = sums{}
	open, _ := w.Ledger.NodesOpenTo("nobody")
	isHeld := func(node string) bool {
		_, known := w.known.nodes[node]
		return known && !slices.Contains(open, node)
	}
	for name, n := range w.known.nodes { // a sum: order does not matter
		if isHeld(name) {
			held = held.plus(sizeOf(n.Allocatable))
		}
	}
	for _, p := range w.pods { // sums: order does not matter
		now := &p.seen
		switch {
		case now.Foreign && isHeld(now.Node):
			held = held.minus(p.asks)
		case p.charged != "" && !isHeld(now.Node) && !isHeld(p.on):
			used.add(p.charged, p.asks)
		}
	}
	for i := range held {
		held[i] = max(held[i], 0)
	}
	return used, held
}

// lacksRoom: a pod of the queue that asks for something of that kind waits for room and nothing else, by the ledger's word.
func (w *World) lacksRoom(q queue.Path, kind func(asks size) bool) bool {
	rehearsal := w.Ledger.Rehearse()
	for _, p := range w.known.pods { // any will do
		if p.seen.Node == "" && !p.seen.Foreign && q.Contains(p.home) && kind(p.asks) && rehearsal.Stopped(p.UID).Code == reason.WaitingForRoom {
			return true
		}
	}
	return false
}

// partOf is the largest part of the cluster that counts.
func partOf(rule queue.Rule, total, s size) *big.Rat {
	most := new(big.Rat)
	for i, n := range resources {
		if s[i] <= 0 || !rule.Counts(n) {
			continue
		}
		part := big.NewRat(1<<62, 1) // of nothing
		if total[i] > 0 {
			part = big.NewRat(s[i], total[i])
		}
		if part.Cmp(most) > 0 {
			most = part
		}
	}
	return most
}
