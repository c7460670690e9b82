package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/application"

// Outranked returns the pods that a pod may evict by its priority alone: bound pods of its own leaf queue that have a lower priority,
// are not terminating, and are no victims of preemption. nil: there are none. Two priorities must be lower: that of the pod's spec,
// which upstream compares, and the one that counts in the leaf, where all above maxPriority are equal. Pods of pod groups with several
// members neither evict nor are evicted in this way: a group starts and ends whole, and this is for one pod.
func (l *Ledger) Outranked(uid UID) map[UID]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || r.leaf == nil || r.inGangOfSeveral() || l.inspection.stopped {
		return nil
	}
	var all map[UID]bool
	for _, app := range r.leaf.apps { // a set: order does not matter
		for _, e := range app.members {
			if !e.givesWayTo(r) {
				continue
			}
			if all == nil {
				all = map[UID]bool{}
			}
			all[e.UID] = true
		}
	}
	return all
}

func (r *record) givesWayTo(o *record) bool {
	counts := &o.leaf.priorities
	return r.Priority < o.Priority && counts.OfPod(r.priority()) < counts.OfPod(o.priority()) && r.state == Bound && !r.Terminating && r.Announced == 0 && r.victim == nil && !r.inGangOfSeveral()
}

// priority is what the pod says about priority.
func (p *Pod) priority() application.PodPriority {
	return application.PodPriority{Value: p.Priority, Classed: p.Classed, Application: p.AskedPriority}
}

// inGangOfSeveral reports whether the pod is in a pod group that needs several pods.
func (r *record) inGangOfSeveral() bool { return r.group != nil && r.group.MinMember > 1 }

// MadeRoom notes that the attempt of a pod, which is about to fail, evicted pods that it outranks and nominated it to their node; "": to none.
// From the failure on the room is the pod's. Its status shows that only later, when the victims may be gone and other pods could take the room.
func (l *Ledger) MadeRoom(uid UID, node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		r.madeRoom = node
	}
}

// keepMadeRoom nominates a pod whose attempt has failed to the node where it made room.
func (l *moves) keepMadeRoom(r *record) {
	if r.madeRoom != "" {
		r.Nominated = r.madeRoom
		l.readNomination(r)
	}
}

// preemptedItself: kube-scheduler nominated the pod in its own attempt, not a plan.
func (r *record) preemptedItself() bool {
	return r.Nominated != "" && (r.nomination == nil || r.nomination.claim == nil)
}
