package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// From a plan to the start of its claimant, step by step:
//
//  1. Adopt nominates the claimant (giveNode): its room is taken on its node from now on, although the victims still run there. So the node is
//     overfull in the ledger, and no other pod is sent there (nodeTable.fits, NodesNominatedToOthers). What the victims free under a max
//     belongs to the claimant too (nominations.exceedMax). Adopt makes the victims Chosen, or Announced if they
//     show an announcement already (addVictim).
//     From here on preemption.VictimState says how far the eviction of each has come, and what each event changes (evictions.next).
//  2. PendingActions has them announced. Announced starts the wait (maxWaitBeforeKill).
//  3. Until the eviction is accepted, each PendingActions looks whether the victim is still needed and may still go; else it stays
//     (withdrawVictims), and its announcement is taken back. When the wait is over, the others are to be evicted. Evicted: the API server
//     has agreed, and nothing takes that back. EvictionFailed: it is tried again after a back-off. If a disruption budget refuses for 30
//     seconds, another victim is looked for.
//  4. The victim terminates (ObservePod, podLeaves). It is charged until it is gone, but every plan counts it as gone (copyForPlan).
//     The eviction memory notes it, so that the pod that replaces it is no victim of the same claims (arrives, preemption.Claim.Exempts).
//  5. The victim has ended (ForgetPod). Its charge is refunded, its room is free, and it is a victim no more (updatePreemption, ended).
//  6. Before the order of queues, Choose asks whether the room of a nominated pod is there (nextNominated, nodeTable.roomIsThere). If it is, and no
//     limit and no closed gate stops the pod, it is charged and handed to kube-scheduler. A group is released once the room of all of its pods is
//     there.
//  7. kube-scheduler tries the pod, its nominated node first. Reserve ends the nomination (updatePreemption): the claimant starts. If the
//     attempt fails before Reserve, for whatever reason, Fail ends the nomination, and the claims of its queue pause (failNomination). A
//     claimant that was tried on other room keeps its nomination if that attempt fails (nominatedElsewhere). If a bind fails, the
//     nomination is gone since Reserve.
//
// In steps 2 to 6 the claimant may lose its nomination: see tendNominations and preemption.NominationState. Those of its victims whose
// eviction is not accepted then go for another claimant of the same claim on the node that needs their room, or stay (endNomination,
// reassign).

// Victim is a pod to be evicted so that another has room.
type Victim struct {
	UID                   UID
	Namespace, Name, Node string
	Queue                 queue.Path // of its leaf
	// ForQueue is the queue that claims; ForUID, ForNamespace and ForName are the pod that needs the room.
	ForQueue     queue.Path
	ForUID       UID
	ForNamespace string
	ForName      string
	Kind         preemption.Kind
	// Above is the queue from whose surplus the victim is taken. It had Surplus of Resource above its fair share, Share.
	Above    queue.Path
	Resource resource.Name
	Surplus  int64
	Share    int64
	preemption.VictimState
}

// victim is what the record of a victim has in addition.
type victim struct {
	Victim
	claimant *record // the pod for whose nomination it is evicted
	claim    *queueAccount
	// conflicts: the claimant would not fit beside it whatever room there is (a port, an affinity).
	conflicts bool
	with      string // the group that is evicted with it, "" for none
}

// evictions owns the victims of adopted plans, from the choice to the last trace of them. It hears of plans that are adopted (add), of what
// the cluster says about announcements, of evictions that succeed or fail, and of pods that leave. It says what is to be announced, evicted
// and taken back, and which new pods replace victims. What an event changes about a victim is decided in preemption.VictimState.
type evictions struct {
	victims   []*record // in the order in which they were chosen
	announced []*record // pods whose objects show an announcement
	// withdrawals are of the pods that were victims and stay, until their announcement is taken back.
	withdrawals map[UID]Withdrawal
	memory      evictionMemory
	counts      PreemptionCounts
}

// add makes a pod a victim of its claimant.
func (e *evictions) add(r *record, v *victim) {
	r.victim = v
	delete(e.withdrawals, r.UID)
	e.victims = append(e.victims, r)
	e.counts.Chosen++
	v.claimant.nomination.addVictim(r)
	r.touch()
}

// next has the rules apply an event to a victim; NothingToDo: the pod is none.
func (e *evictions) next(r *record, event preemption.VictimEvent, now int64) (is preemption.VictimOutcome) {
	if r == nil || r.victim == nil {
		return preemption.NothingToDo
	}
	r.victim.VictimState, is = r.victim.Next(event, now)
	return is
}

// remove takes a victim off the list.
func (e *evictions) remove(v *record) {
	if p := v.victim.claimant.nomination; p != nil {
		p.removeVictim(v)
	}
	v.victim = nil
	e.victims = slices.DeleteFunc(e.victims, func(o *record) bool { return o == v })
	v.touch()
}

// judge takes in whether a victim should stay, and what follows from it.
func (e *evictions) judge(v *record, why reason.WithdrawnCause, now int64) preemption.VictimOutcome {
	outcome := e.next(v, preemption.VictimEvent{Kind: preemption.Judged, Cause: why}, now)
	v.exemptUntil = max(v.exemptUntil, v.victim.ExemptUntil)
	return outcome
}

// withdraw lets a victim stay, and with it the group that was to be evicted with it; false: it was no victim, or its eviction was accepted.
func (e *evictions) withdraw(v *record, why reason.WithdrawnCause, now int64) bool {
	if e.next(v, preemption.VictimEvent{Kind: preemption.Stays, Cause: why}, now) != preemption.Changed {
		return false
	}
	with := v.victim.with
	why = v.victim.Why
	e.withdrawn(v)
	if with == "" || v.group == nil {
		return true
	}
	for _, o := range v.group.pods {
		if o.victim == nil || o.victim.with != with {
			continue
		}
		if e.next(o, preemption.VictimEvent{Kind: preemption.GroupStays, Cause: why}, now) == preemption.Changed {
			e.withdrawn(o)
		}
	}
	return true
}

// withdrawn notes a victim that stays: its announcement is to be taken back.
func (e *evictions) withdrawn(v *record) {
	if !v.Terminating {
		if e.withdrawals == nil {
			e.withdrawals = map[UID]Withdrawal{}
		}
		e.withdrawals[v.UID] = Withdrawal{UID: v.UID, Namespace: v.Namespace, Name: v.Name, ForQueue: v.victim.ForQueue, Why: v.victim.Why}
	}
	e.counts.Withdrawn++
	e.remove(v)
}

// giveTo makes another pod the claimant of a victim.
func (e *evictions) giveTo(v, claimant *record) {
	v.victim.claimant, v.victim.conflicts = claimant, false
	v.victim.ForUID, v.victim.ForNamespace, v.victim.ForName = claimant.UID, claimant.Namespace, claimant.Name
	claimant.nomination.addVictim(v)
}

// ended notes a victim that runs no more.
func (e *evictions) ended(v *record, now int64) {
	e.next(v, preemption.VictimEvent{Kind: preemption.PodEnded}, now)
	e.remove(v)
}

// claimOpened counts a claim.
func (e *evictions) claimOpened() { e.counts.Claims++ }

// outOfDate counts nominations that did not lead to a start.
func (e *evictions) outOfDate(n int) { e.counts.Stale += uint64(n) }

// readAnnouncement takes in whether the object of a pod shows an announcement.
func (e *evictions) readAnnouncement(r *record) {
	r.touch()
	if r.Announced != 0 && !slices.Contains(e.announced, r) {
		e.announced = append(e.announced, r)
	}
}

// toTakeBack are the announcements that pods show although they are no victims.
func (e *evictions) toTakeBack(pods map[UID]*record) (ws []Withdrawal) {
	e.announced = slices.DeleteFunc(e.announced, func(r *record) bool { return pods[r.UID] != r || r.Announced == 0 || r.state != Bound })
	for _, r := range e.announced {
		if r.victim != nil || r.Terminating {
			continue
		}
		w, known := e.withdrawals[r.UID]
		if !known {
			w = Withdrawal{UID: r.UID, Namespace: r.Namespace, Name: r.Name, Why: reason.NotPlanned}
		}
		ws = append(ws, w)
	}
	return ws
}

// toAnnounceAndEvict are the victims of which something is due, and when the next will be; 0: never.
func (e *evictions) toAnnounceAndEvict(now int64) (announce, evict []Victim, next int64) {
	for _, v := range e.victims {
		switch e.next(v, preemption.VictimEvent{Kind: preemption.Looked}, now) {
		case preemption.ToAnnounce:
			announce = append(announce, v.victim.Victim)
		case preemption.ToEvict:
			evict = append(evict, v.victim.Victim)
		case preemption.ToWait:
			if at := v.victim.EvictAt(); next == 0 || at < next {
				next = at
			}
		}
	}
	return announce, evict, next
}

// announcementWritten notes that a pod shows that it is to be evicted, and reports whether the wait begins.
func (e *evictions) announcementWritten(r *record, wait, now int64) bool {
	if e.next(r, preemption.VictimEvent{Kind: preemption.AnnouncementWritten, Wait: wait}, now) != preemption.Changed {
		return false
	}
	e.counts.Announced++
	return true
}

// accepted notes that the API server agreed to evict a pod, and reports whether that changes a victim. A pod that is no victim any more is gone
// by now, or was to stay: its eviction counts all the same, but not twice that of a victim.
func (e *evictions) accepted(r *record, now int64) bool {
	changed := e.next(r, preemption.VictimEvent{Kind: preemption.EvictionAccepted}, now) == preemption.Changed
	if changed || r == nil || r.victim == nil {
		e.counts.Evicted++
	}
	return changed
}

// failed notes that the API server did not agree to evict a victim.
func (e *evictions) failed(r *record, refused bool, now int64) {
	event := preemption.VictimEvent{Kind: preemption.EvictionFailed}
	if refused {
		event.Kind = preemption.EvictionRefused
	}
	if e.next(r, event, now) != preemption.Changed {
		return
	}
	e.counts.Failed++
	if refused {
		e.counts.Refused++
	}
}

// takenBack notes that the announcement on a pod was taken back.
func (e *evictions) takenBack(r *record) {
	delete(e.withdrawals, r.UID)
	e.announced = slices.DeleteFunc(e.announced, func(o *record) bool { return o == r })
}

// podLeaves notes a pod that begins to terminate, or is gone.
func (e *evictions) podLeaves(r *record, now int64) {
	delete(e.withdrawals, r.UID)
	if r.victim != nil {
		e.memory.Leaves(r.likeness(), r.Request, now)
	}
}

// anyPodLeaves reports whether any pod is leaving, and so may free the room that a nomination still lacks.
func (e *evictions) anyPodLeaves(nodes []*node, now int64) bool {
	if len(e.victims) > 0 {
		return true
	}
	for _, n := range nodes { // any: order does not matter
		if slices.ContainsFunc(n.on, func(r *record) bool { return r.leavingAt(now) }) {
			return true
		}
	}
	return false
}

// reassign gives a victim to another claimant of the same claim on its node that needs the room, and withdraws it if there is none. Another claim may not
// be owed it, whatever room it needs: that claim's ideal, guarantee and replacements are for a plan to judge.
func (l *moves) reassign(v *record, e *node) {
	if v.victim == nil || !v.victim.MayStay() {
		return
	}
	for _, o := range l.nominations.pods {
		p := o.nomination
		if p.node == e && p.claim == v.victim.claim && p.kind == v.victim.Kind && l.nodes.needsRoomOf(v, l.now) && v.leaf != nil && !v.leaf.isUnder(p.claim) {
			l.evictions.giveTo(v, o)
			return
		}
	}
	if l.evictions.withdraw(v, reason.NoClaimant, l.now) {
		l.version++
	}
}

// leavingAt: the pod is terminating, and not for so long that it counts as stuck.
func (r *record) leavingAt(now int64) bool {
	return r.state == Bound && r.Terminating && now <= r.Deadline+preemption.Overstay
}

// touch invalidates the copy of the pod's node.
func (r *record) touch() {
	if r.assumedOn != nil {
		r.assumedOn.changed()
	}
}

// Victims returns the victims of the plans that are being carried out, in the order in which they were chosen.
func (l *Ledger) Victims() []Victim {
	l.mu.Lock()
	defer l.mu.Unlock()
	vs := make([]Victim, 0, len(l.evictions.victims))
	for _, v := range l.evictions.victims {
		vs = append(vs, v.victim.Victim)
	}
	return vs
}
