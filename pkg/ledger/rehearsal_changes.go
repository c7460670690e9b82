package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Declaration is what a queue declares. A queue that nobody declares declares nothing.
func (h *Rehearsal) Declaration(p queue.Path) (d queue.Declaration, declared bool) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	d, declared = l.queues.declared[p]
	if !declared {
		d = queue.Declaration{Path: p, Spec: queue.DefaultSpec(), PolicyInForce: queue.Unstated}
	}
	return d, declared
}

// Declare puts a declaration in force, Undeclare takes it away.
func (h *Rehearsal) Declare(d queue.Declaration) {
	h.fresh = false
	if h.stops == nil {
		h.ledger.mu.Lock()
		h.stops = h.ledger.queues.stops()
		h.ledger.mu.Unlock()
	}
	h.ledger.ObserveQueue(d)
}

// Undeclare takes the declaration of a queue away.
func (h *Rehearsal) Undeclare(p queue.Path) {
	h.fresh = false
	h.ledger.ForgetQueue(p)
}

// AddNode adds a node, RemoveNode takes it away.
func (h *Rehearsal) AddNode(n Node) {
	h.fresh = false
	h.ledger.ObserveNode(n)
}

// RemoveNode takes a node away that AddNode added.
func (h *Rehearsal) RemoveNode(name string) {
	h.ledger.ForgetNode(name)
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	h.restoreSeen()
}

// NodeFor returns what a node would have to be like for each of the pods to fit on it: like the smallest that all of them may use and that would
// hold each if it were empty; else like the largest that they may use, grown to their size. False: there is none that all may use.
func (h *Rehearsal) NodeFor(uids ...UID) (n Node, grown, ok bool) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	var request resource.List
	var pods []*record
	for _, uid := range uids {
		r := l.pods[uid]
		if r == nil || r.class == nil {
			return Node{}, false, false
		}
		pods, request = append(pods, r), request.Max(r.class.request)
	}
	var best *node
	var bestHolds bool
	for _, e := range l.nodes.all { // the best of all: order does not matter
		if slices.ContainsFunc(pods, func(r *record) bool { return !e.takes(&r.class.room) }) {
			continue
		}
		holds := e.Allocatable.Max(request).Equal(e.Allocatable)
		if best == nil || holds && !bestHolds || holds == bestHolds && smaller(e, best) == holds {
			best, bestHolds = e, holds
		}
	}
	if best == nil {
		return Node{}, false, false
	}
	n = best.Node
	n.Allocatable = n.Allocatable.Max(request)
	return n, !bestHolds, true
}

func smaller(a, b *node) bool {
	return cmp.Or(
		cmp.Compare(a.Allocatable.Get(resource.CPU), b.Allocatable.Get(resource.CPU)),
		cmp.Compare(a.Allocatable.Get(resource.Memory), b.Allocatable.Get(resource.Memory)),
		cmp.Compare(a.Name, b.Name)) < 0
}
