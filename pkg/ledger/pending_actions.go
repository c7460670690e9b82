package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// NominationUpdate is a node to be written into the status of a pod. Node "" removes the nomination.
type NominationUpdate struct {
	UID             UID
	Namespace, Name string
	Node            string
}

// Withdrawal is a pod whose eviction was announced and that stays after all.
type Withdrawal struct {
	UID             UID
	Namespace, Name string
	// ForQueue is the queue for which it was to be evicted, "" where an earlier process announced it.
	ForQueue queue.Path
	Why      reason.WithdrawnCause
}

// PendingActions are the writes that the cluster needs now. What is not reported as done comes again.
type PendingActions struct {
	Announce []Victim     // announce the eviction on the pod, and report Announced
	Evict    []Victim     // due, and still needed as of now; report Evicted or EvictionFailed
	Withdraw []Withdrawal // take the announcement back, and report Withdrawn
	Nominate []NominationUpdate
	// Next is when there is more to do at the latest, unless something changes; 0: never.
	Next int64
}

// PreemptionCounts are counters since the start.
type PreemptionCounts struct {
	// Claims that were opened; victims Chosen, Announced, Evicted, Withdrawn; evictions that Failed, and those of them that were Refused by
	// a disruption budget; nominations on which a claimant did not fit after all, or that were out of date when adopted (Stale).
	Claims, Chosen, Announced, Evicted, Failed, Refused, Withdrawn, Stale uint64
	// Stopped: a violation stops preemption, see Inspect.
	Stopped bool
}

// PreemptionCounts returns the counters.
func (l *Ledger) PreemptionCounts() PreemptionCounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.evictions.counts
	c.Stopped = l.inspection.stopped
	return c
}

// PendingActions returns what is to be done by now. First it withdraws the victims that should not be evicted any more: see
// preemption.Withdraw.
func (l *Ledger) PendingActions(now int64) PendingActions {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.settleAll()
	l.tendNominations(now)
	l.withdrawVictims()
	l.tendNominations(now) // a victim that stays frees no room
	var e PendingActions
	if !l.inspection.stopped { // else no pod is announced or evicted
		e.Announce, e.Evict, e.Next = l.evictions.toAnnounceAndEvict(now)
	}
	if l.rounds.judgesAnnouncements(&l.queues) {
		e.Withdraw = l.evictions.toTakeBack(l.pods)
	}
	e.Nominate = l.nominations.updates(l.pods)
	return e
}

// withdrawVictims withdraws the victims that should stay: see preemption.Withdraw.
func (l *plans) withdrawVictims() {
	if len(l.evictions.victims) == 0 {
		return
	}
	net := netUsage{evictions: &l.evictions, nominations: &l.nominations, held: l.heldBack()}
	var in preemption.VictimInput
	for _, v := range slices.Clone(l.evictions.victims) { // in the order in which they were chosen
		if v.victim == nil || !v.victim.MayStay() {
			continue
		}
		l.victimInput(&in, v, &net)
		why := preemption.Withdraw(&in, l.now)
		switch l.evictions.judge(v, why, l.now) {
		case preemption.NothingToDo:
			continue
		case preemption.ToPlanAgain:
			l.endNomination(v.victim.claimant)
		}
		if l.evictions.withdraw(v, why, l.now) {
			l.version++
		}
		net.known = nil // victims that stay and claimants that do not come count for the next one
	}
}

// victimInput is what the core needs to know of a victim.
func (l *contents) victimInput(in *preemption.VictimInput, r *record, net *netUsage) {
	v := r.victim
	*in = preemption.VictimInput{
		Nominated: v.claimant.nomination != nil, Total: l.shares.total, From: in.From[:0],
		Preemptible: r.leaf != nil && r.leaf.parent != nil && r.leaf.preemption.Preemptible.Allowed(),
		Conflicts:   v.conflicts, InGroup: v.with != "", RefusedSince: v.RefusedSince,
	}
	if !in.Nominated {
		return
	}
	in.Pays, in.Request = v.claimant.nomination.pays, r.Request
	common := v.claim.lowestCommonAncestor(r.leaf)
	for a := r.leaf; a != nil && a.parent != nil && a != common; a = a.parent {
		share, part := l.shares.covered(a, common)
		q := preemption.QueueAfter{Rule: a.parent.spec.Rule(), Usage: net.of(a), FairShare: share}
		if in.Pays != "" {
			q.Guaranteed = l.shares.targetOf(a, preemption.BelowGuaranteed, a.claimable(net.held))
			if part {
				q.Guaranteed = q.Guaranteed.Min(share)
			}
		}
		in.From = append(in.From, q)
	}
	in.RoomWithout = !l.nodes.needsRoomOf(r, l.now)
}

// netUsage is what queues will use when all victims are gone and all claimants are there. It keeps what it has added up: hundreds of
// victims mostly come from few queues.
type netUsage struct {
	evictions   *evictions
	nominations *nominations
	held        heldBack // subtracted from demand, as for a plan
	known       map[*queueAccount]resource.List
}

func (n *netUsage) of(a *queueAccount) resource.List {
	if is, ok := n.known[a]; ok {
		return is
	}
	var sum resource.Sum
	sum.AddSum(&a.usage)
	for _, v := range n.evictions.victims {
		if v.leaf != nil && v.leaf.isUnder(a) && v.state.charged() {
			sum.Sub(v.Request)
		}
	}
	for _, r := range n.nominations.pods {
		if r.leaf != nil && r.leaf.isUnder(a) && !r.state.charged() {
			sum.Add(r.Request)
		}
	}
	if n.known == nil {
		n.known = map[*queueAccount]resource.List{}
	}
	n.known[a] = sum.List()
	return n.known[a]
}

// Announced notes that the eviction of a victim is announced. The wait begins.
func (l *Ledger) Announced(uid UID, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.evictions.announcementWritten(l.pods[uid], preemption.SettingsOf(l.queues.root.spec.Preemption).MaxWaitBeforeKill, now) {
		l.version++
	}
}

// Evicted notes that the API server agreed to evict a victim. The pod may be gone before that is heard, and counts all the same.
func (l *Ledger) Evicted(uid UID, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.evictions.accepted(l.pods[uid], now) {
		l.version++
	}
}

// EvictionFailed notes that it did not; it is tried again after a back-off as long as the victim is needed. refused: a disruption budget
// forbids it.
func (l *Ledger) EvictionFailed(uid UID, refused bool, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.evictions.failed(l.pods[uid], refused, now)
}

// Withdrawn notes that the announcement on a pod was taken back.
func (l *Ledger) Withdrawn(uid UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		l.evictions.takenBack(r)
	}
}

// Nominated notes that a nomination was written. If it is out of date by now, another write follows.
func (l *Ledger) Nominated(n NominationUpdate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[n.UID]; r != nil && r.Node == "" {
		r.Nominated, r.madeRoom = n.Node, ""
		l.nominations.checkStatus(r)
	}
}
