package ledger

// Misfit notes that the attempt of a pod, which is about to fail, has found no node. From the failure on, a round of preemption is
// requested for the queues above the pod that are starved beyond their timeout: it does not wait for the interval.
//
// It returns the node on which a plan makes room for the pod, "" for none. Then no round is requested, and the nomination stays: the pod
// was tried on other room. A pod that does not fit where room was made for it loses its nomination by the failure.
func (l *Ledger) Misfit(uid UID) (node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r := l.pods[uid]; {
	case r == nil:
	case r.nominatedElsewhere():
		return r.nomination.node.Name
	case !r.hasNomination():
		_, r.misfit = l.recheck(r) // if not, a rule of ours refused the pod, and room would not help
	}
	return ""
}

// nominatedElsewhere: the pod is tried on other room than that which a plan makes for it. If that attempt fails, the nomination stays.
func (r *record) nominatedElsewhere() bool {
	return r.hasNomination() && r.state == Released && r.assumedOn != r.nomination.node && !r.group.startsTogether()
}

// requestRound follows the failed attempt of a pod: see Misfit.
func (r *record) requestRound(now int64) {
	misfit := r.misfit && r.madeRoom == ""
	r.misfit = false
	if !misfit {
		return
	}
	for a := r.leaf; a != nil; a = a.parent {
		if a.starving != nil {
			a.starving.requestRound(a, now)
		}
	}
}

// NominatedTo returns the node to which a plan nominates the pod, "" if none does.
func (l *Ledger) NominatedTo(uid UID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil && r.hasNomination() {
		return r.nomination.node.Name
	}
	return ""
}

func (r *record) hasNomination() bool { return r.nomination != nil && r.nomination.claim != nil }
