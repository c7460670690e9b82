package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// maxClaimants bounds the claimants of one round, and so how long it holds the lock. If there are more, the next round follows at once.
const maxClaimants = 512

// Preemption returns what a plan is made from; false: no claim is open.
func (l *Ledger) Preemption(now int64) (preemption.World, bool) {
	return l.preemptionWorld(now, false)
}

// WhatPreemption is Preemption as if all running clocks with a timeout had run out.
func (l *Ledger) WhatPreemption(now int64) preemption.World {
	w, _ := l.preemptionWorld(now, true)
	return w
}

func (l *Ledger) preemptionWorld(now int64, all bool) (preemption.World, bool) {
	w, cached, coming, ok := l.copyForPreemption(now, all)
	// Outside the lock: the copy of a node is never changed.
	w.SortApplications()
	usage := make([]resource.Sum, len(w.Queues))
	for i := range w.Queues {
		usage[i].Add(w.Queues[i].Usage)
	}
	for _, c := range cached {
		if !c.closed {
			w.Nodes = append(w.Nodes, c.Node)
		}
		for _, r := range c.leaving {
			w.Gone = append(w.Gone, r.uid)
			if r.queue < 0 {
				continue
			}
			for q := r.queue; q >= 0; q = w.Queues[q].Parent {
				usage[q].Sub(r.request)
				if r.victim {
					w.Queues[q].Announced = w.Queues[q].Announced.Add(r.request)
				}
			}
			if a, ok := w.ApplicationOf(r.queue, r.application); ok {
				a.Usage = a.Usage.Sub(r.request)
			}
		}
	}
	for i := range w.Queues {
		w.Queues[i].Usage = usage[i].List()
	}
	slices.SortFunc(w.Nodes, func(a, b preemption.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, p := range coming {
		at, there := slices.BinarySearchFunc(w.Nodes, p.node, func(n preemption.Node, name string) int { return cmp.Compare(n.Name, name) })
		if there {
			p.Node = at
			w.Coming = append(w.Coming, p.Nomination)
		}
	}
	slices.Sort(w.Gone)
	return w, ok
}

// copyForPreemption copies, of the nodes, only what has changed since the last time.
func (l *Ledger) copyForPreemption(now int64, all bool) (preemption.World, []*copiedNode, []coming, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.settleAll()
	l.countHeld()
	if all {
		l.lookAtClocks(now)
	} else if l.inspection.stopped {
		return preemption.World{}, nil, nil, false
	}
	w := preemption.World{Total: l.shares.total, Used: l.queues.root.usage.List(), Settings: preemption.SettingsOf(l.queues.root.spec.Preemption)}
	l.books.recheckDrivers(&l.queues)
	held := l.heldBackAtLast()
	w.Queues = make([]preemption.Queue, 0, len(l.queues.Nodes))
	for i, n := range l.queues.Nodes {
		w.Queues = append(w.Queues, l.preemptionQueue(i, n, held))
	}
	w.Applications = l.queues.mayLosePods(&l.shares, w.Queues, w.Total)
	if !all {
		l.evictions.memory.lookAtShares(w.Queues, l.pods)
	}
	again := l.nominations.withoutRoom(&l.nodes, &l.queues, l.now)
	l.claims(&w, again, all)
	if len(w.Claims) == 0 {
		return w, nil, nil, false
	}
	var placed []coming
	for _, r := range l.nominations.pods {
		if r.leaf == nil || r.state.charged() || slices.Contains(again, r) {
			continue
		}
		for a := r.leaf; a != nil; a = a.parent {
			q := &w.Queues[a.ordinal-1]
			q.Usage = q.Usage.Add(r.Request)
		}
		for i := range w.Claims {
			if c := &w.Claims[i]; w.Queues[c.Queue].Path.Contains(r.leaf.path) {
				c.Coming = c.Coming.Add(r.Request)
			}
		}
		placed = append(placed, coming{preemption.Nomination{UID: string(r.UID), Queue: r.leaf.ordinal - 1}, r.nomination.node.Name})
	}
	nodes := make([]*copiedNode, 0, len(l.nodes.all))
	for _, e := range l.nodes.all {
		c := e.copyForPlan(&l.queues, now)
		if !e.Usable || e.heldFor != nil { // no claimant may use it; but its leaving pods count as gone from their queues
			nodes = append(nodes, &copiedNode{leaving: c.leaving, closed: true})
			continue
		}
		for _, r := range again { // few: their room counts as free until they are nominated again
			if r.assumedOn == e {
				x := *c
				x.Free, x.Slots = x.Free.Add(r.Request), x.Slots+1
				c = &x
			}
		}
		nodes = append(nodes, l.nodes.withUnlisted(e, c, w.Claims))
	}
	if !all {
		l.rounds.begins(l.version, now)
	}
	return w, nodes, placed, true
}

// withUnlisted adds to a node what claimants ask for and the node does not limit.
func (t *nodeTable) withUnlisted(e *node, c *copiedNode, claims []preemption.Claim) *copiedNode {
	if len(t.unlisted) == 0 {
		return c
	}
	var more resource.List
	has := t.capacityOf(e)
	for _, claim := range claims {
		for _, u := range claim.Units {
			for i := range u.Pods {
				for j := range u.Pods[i].Request.Len() {
					n := u.Pods[i].Request.At(j).Name
					if !has.Limits(n) {
						more = more.Max(resource.Of(resource.Entry{Name: n, Value: resource.Unlimited}))
					}
				}
			}
		}
	}
	if more.Len() == 0 {
		return c
	}
	x := *c
	x.Free = x.Free.Add(more)
	return &x
}

func (l *contents) preemptionQueue(i int, n queue.Node, held heldBack) preemption.Queue {
	a := l.queues.accounts[n.Path]
	q := preemption.Queue{
		Path: n.Path, Parent: n.Parent, Rule: n.Spec.Rule(), Entitlement: l.shares.of(a), Usage: a.usage.List(), Demand: a.claimable(held), Max: n.Spec.Max,
		Weight: n.Spec.Weight, ByCapacity: n.Spec.Capacity.Stated, Guaranteed: n.Spec.Guaranteed, Active: a.active(),
		Preemptible: a.preemption.Preemptible.Allowed(), Inside: n.Spec.Rule(),
	}
	if i > 0 {
		q.Rule = a.parent.spec.Rule()
	}
	return q
}

// mayLosePods are the applications of the leaves that have more than the queues furthest outside must leave them, in no order. The order of their leaf says
// which of them loses pods first.
func (t *queueTree) mayLosePods(s *shares, queues []preemption.Queue, total resource.List) (all []preemption.Application) {
	for i := range queues {
		q := &queues[i]
		leaf := t.accounts[q.Path]
		if len(leaf.apps) < 2 || !q.Preemptible {
			continue
		}
		if kept, _ := s.covered(leaf, t.root); preemption.CompareDominant(q.Rule, total, q.Usage, kept) <= 0 {
			continue
		}
		for _, app := range leaf.apps { // order does not matter: they are sorted when they are used
			if usage := app.usage.List(); !usage.IsZero() {
				all = append(all, preemption.Application{
					Queue: i, Name: app.slot.Name, Usage: usage, Priority: app.priority, Submitted: app.slot.Submitted,
				})
			}
		}
	}
	return all
}
