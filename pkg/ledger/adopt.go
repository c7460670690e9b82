package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Adopt carries out a plan: its claimants are nominated, its victims are to be announced. It returns how many units it left out since the
// cluster has changed meanwhile. With observeOnly it does nothing.
func (l *Ledger) Adopt(w preemption.World, plan preemption.Plan, now int64) (stale int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.adopt(w, plan, now)
}

func (l *plans) adopt(w preemption.World, plan preemption.Plan, now int64) (stale int) {
	l.now = max(l.now, now)
	l.settleAll()
	if l.inspection.stopped {
		return 0
	}
	l.rounds.adopts()
	defer func() { l.evictions.outOfDate(stale) }()
	if preemption.SettingsOf(l.queues.root.spec.Preemption).ObserveOnly {
		l.rounds.carriedOut(l.version)
		return 0
	}
	l.rounds.planned(plan, !w.Queues[0].Announced.IsZero())
	hopeless := l.nominations.withoutRoom(&l.nodes, &l.queues, l.now)
	for _, payment := range plan.Claims {
		a := l.queues.accounts[w.Queues[payment.Claim.Queue].Path]
		if a != nil && a.starving != nil && payment.Declined() {
			a.starving.decline(payment.Kind, payment.Since, now)
			l.version++
		}
		for _, u := range payment.Units {
			planned := nominationsOf(payment.Nominations, u)
			if len(planned) == 0 {
				continue
			}
			if a == nil || a.starving == nil || !l.stillPossible(w, plan, u, planned) {
				stale++
				continue
			}
			for _, at := range planned {
				r := l.pods[UID(at.UID)]
				l.endNomination(r)
				l.giveNode(r, &nomination{node: l.nodes.byName[w.Nodes[at.Node].Name], claim: a, kind: payment.Kind, pays: at.Pays})
				l.wake(r)
			}
		}
	}
	after := freeAfter(l.pods, w, plan)
	for i := range plan.Victims {
		v := &plan.Victims[i]
		l.addVictim(w, v, after[v.Node])
	}
	for _, r := range hopeless {
		if p := r.nomination; p != nil && p.claim == nil && l.nominations.anyClaimOn(p.node) {
			l.endNomination(r) // the plan counted its room as free, and has given it to another
		}
	}
	for _, r := range l.nominations.withoutRoom(&l.nodes, &l.queues, l.now) {
		if r.nomination.claim != nil { // nothing will free its room
			l.endNomination(r)
			l.rounds.leavesRest()
		}
	}
	l.rounds.carriedOut(l.version)
	return stale
}

// wake takes a parked claimant out of kube-scheduler's queue: it is released when its room is there.
func (l *moves) wake(r *record) {
	if r.state == Parked {
		l.window.wake(r)
	}
}

// nominationsOf are those of the pods of a unit.
func nominationsOf(planned []preemption.Nomination, u preemption.Unit) (of []preemption.Nomination) {
	for _, p := range planned {
		if slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == p.UID }) {
			of = append(of, p)
		}
	}
	return of
}

// stillPossible reports whether the plan for a unit is still possible: its pods wait, its nodes and victims are there.
func (l *contents) stillPossible(w preemption.World, plan preemption.Plan, u preemption.Unit, planned []preemption.Nomination) bool {
	for _, at := range planned {
		r, e := l.pods[UID(at.UID)], l.nodes.byName[w.Nodes[at.Node].Name]
		if r == nil || r.leaf == nil || r.state != Waiting && r.state != Parked || e == nil || !e.known || !e.takes(&r.class.room) {
			return false
		}
	}
	for _, v := range plan.Victims {
		if !slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == v.For }) {
			continue
		}
		if r := l.pods[UID(v.UID)]; r == nil || r.state != Bound || r.victim != nil && !r.victim.MayStay() || r.Terminating && r.Deadline == 0 {
			return false
		}
	}
	return true
}

// addVictim adds a victim, if its claimant was nominated.
func (l *moves) addVictim(w preemption.World, v *preemption.Victim, after freeRoom) {
	r, c := l.pods[UID(v.UID)], l.pods[UID(v.For)]
	if r == nil || r.victim != nil || r.state != Bound || r.Terminating || r.leaf == nil || c == nil || c.nomination == nil || c.nomination.claim == nil {
		return
	}
	above := w.Queues[v.Above]
	l.evictions.add(r, &victim{claimant: c, claim: c.nomination.claim, with: v.With, conflicts: !l.nodes.needsAfter(after, r), Victim: Victim{
		UID: r.UID, Namespace: r.Namespace, Name: r.Name, Node: r.Node, Queue: r.leaf.path,
		ForQueue: c.nomination.claim.path, ForUID: c.UID, ForNamespace: c.Namespace, ForName: c.Name, Kind: c.nomination.kind,
		Above: above.Path, Resource: v.Resource, Surplus: v.Surplus, Share: above.Entitlement.Get(v.Resource),
		VictimState: preemption.NewVictimState(r.Announced, w.Settings.MaxWaitBeforeKill, l.now),
	}})
	l.version++
}

// freeRoom is what is free on a node: amounts, and how many more pods it takes.
type freeRoom struct {
	free  resource.List
	slots int
}

// freeAfter returns what is free on each node that loses a victim once the plan is carried out, by the node's index in the world.
func freeAfter(pods map[UID]*record, w preemption.World, plan preemption.Plan) map[int]freeRoom {
	requestOf := func(uid string) resource.List {
		if r := pods[UID(uid)]; r != nil {
			return r.Request
		}
		return resource.List{}
	}
	after := map[int]freeRoom{}
	for _, v := range plan.Victims {
		n, known := after[v.Node]
		if !known {
			n = freeRoom{w.Nodes[v.Node].Free, w.Nodes[v.Node].Slots}
		}
		after[v.Node] = freeRoom{n.free.Add(requestOf(v.UID)), n.slots + 1}
	}
	for _, payment := range plan.Claims {
		for _, at := range payment.Nominations {
			if n, known := after[at.Node]; known {
				after[at.Node] = freeRoom{n.free.Sub(requestOf(at.UID)), n.slots - 1}
			}
		}
	}
	return after
}

// needsAfter reports whether the claimants would lack room with the victim there. If not, a filter demanded its eviction.
func (t *nodeTable) needsAfter(after freeRoom, r *record) bool {
	return after.slots < 1 || t.capacityOf(r.assumedOn).Overfull(after.free.Sub(r.Request), r.Request)
}
