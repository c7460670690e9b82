package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Room may be kept for pods that have not started: what is free on nodes that are held for a group or a large pod, and the requests of nominated pods.
//
//   - In the order of the queues it counts as usage of the pods' queue and of the queues above.
//   - Limits do not count it: they count charges alone. Nor does it cost a queue pods: preemption takes only from what pods have.
//   - Held room can keep a starvation clock of the queue from starting, but ends no clock and no claim. A claim does not ask for it again.
//   - Nominations pay a claim, but the claim stays open until the pods run.
//
// may_keep.go says how much may be kept, node_holds.go which pods may use a held node, and nominated_room.go which pods may use the
// room of a nominated one.

// kept is the room that is kept for a queue and for everything below it.
type kept struct {
	held      resource.Sum // free on nodes that are held
	nominated resource.Sum // requests of nominated pods that are not charged
	standing  resource.Sum // usage with both: see standing
	nominees  int
}

// keeps returns what is kept for the queue, to be changed.
func (a *queueAccount) keeps() *kept {
	if a.kept == nil {
		a.kept = &kept{}
	}
	return a.kept
}

// dropUnkept: nearly all queues have nothing kept for them, and cost nothing more.
func (a *queueAccount) dropUnkept() {
	if k := a.kept; k != nil && k.nominees == 0 && k.held.List().IsZero() {
		a.kept = nil
	}
}

// standing is the usage with what is kept. It is valid until the next call.
func (a *queueAccount) standing() *resource.Sum {
	k := a.kept
	if k == nil {
		return &a.usage
	}
	k.standing.Reset()
	k.standing.AddSum(&a.usage)
	k.standing.AddSum(&k.held)
	k.standing.AddSum(&k.nominated)
	return &k.standing
}

// withHeld is the usage with what is held.
func (a *queueAccount) withHeld() resource.List {
	if a.kept == nil {
		return a.usage.List()
	}
	return a.usage.List().Add(a.kept.held.List())
}

// lessHeld is what a claim still makes room for: less than its target by what is held.
func (a *queueAccount) lessHeld(target resource.List) resource.List {
	if a.kept == nil {
		return target
	}
	return missing(target, a.kept.held.List())
}

// countHeld brings what queues have of held nodes up to date with what is free there.
func (l *moves) countHeld() {
	h := &l.nodeHolds
	if h.For == nil || !h.For.moved {
		return
	}
	h.For.moved = false
	l.refreshLeaves(h.keepFree(freeOn(h.For, h.nodes)))
}

// keepFree takes in what is free on the held nodes, and gives the queues that much of them. It returns those queues if it is another amount than before.
func (h *nodeHolds) keepFree(free *resource.Sum) (changed []*queueAccount) {
	if h.free.Equal(free) {
		return nil
	}
	for _, a := range h.queues {
		k := a.keeps()
		k.held.SubSum(&h.free)
		k.held.AddSum(free)
		a.dropUnkept()
	}
	h.free = *free
	return h.queues
}

// refreshLeaves puts the leaves among these queues, and so all above them, where they belong by what is kept for them now.
func (l *moves) refreshLeaves(queues []*queueAccount) {
	for _, a := range queues {
		if len(a.kids) == 0 && l.queues.accounts[a.path] == a {
			l.books.refresh(a)
		}
	}
}

// freeOn is what is free on those of the nodes that are still held for a group or class.
func freeOn(w *waiter, nodes []*node) *resource.Sum {
	var free resource.Sum
	for _, e := range nodes {
		if e.heldFor == w && e.Usable {
			free.Add(e.Allocatable.Sub(e.used.List()).Max(resource.List{}))
		}
	}
	return &free
}

// countNominated brings what queues have of a nominated pod up to date: its request, from the nomination to the charge.
func (l *moves) countNominated(r *record) {
	p := r.nomination
	var leaf *queueAccount
	if !r.state.charged() {
		leaf = r.leaf
	}
	if leaf == p.keptIn && (leaf == nil || p.kept.Equal(r.Request)) {
		return
	}
	l.uncountNominated(p)
	if leaf == nil {
		return
	}
	p.keep(leaf, r.Request)
	for a := leaf; a.parent != nil; a = a.parent {
		k := a.keeps()
		k.nominated.Add(p.kept)
		k.nominees++
	}
	l.books.refresh(leaf)
}

// uncountNominated: nothing is kept for the nominated pod any more.
func (l *moves) uncountNominated(p *nomination) {
	if p.keptIn == nil {
		return
	}
	for a := p.keptIn; a.parent != nil; a = a.parent {
		a.kept.nominated.Sub(p.kept)
		a.kept.nominees--
		a.dropUnkept()
	}
	if l.queues.accounts[p.keptIn.path] == p.keptIn {
		l.books.refresh(p.keptIn)
	}
	p.keptNoMore()
}

// queuesOf returns the leaves of pods and the queues above them, without the root, each once.
func queuesOf(pods []*record) (queues []*queueAccount) {
	for i, r := range pods {
		if i > 0 && r.leaf == pods[i-1].leaf {
			continue // as mostly
		}
		for a := r.leaf; a != nil && a.parent != nil && !slices.Contains(queues, a); a = a.parent {
			queues = append(queues, a)
		}
	}
	return queues
}
