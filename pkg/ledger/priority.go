package ledger

// Outranked returns the pods that a pod may take the room of by its priority alone: those of its own leaf queue with a lower one that run, are not
// leaving, and go for nobody else yet. nil: there are none. Groups of several pods stay out of it on both sides: they come and go whole or not at
// all, and this is for one pod.
func (l *Ledger) Outranked(uid UID) map[UID]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	if r == nil || r.leaf == nil || r.inCompany() || l.inspection.stopped {
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
	return r.Priority < o.Priority && r.state == Bound && !r.Terminating && r.Announced == 0 && r.victim == nil && !r.inCompany()
}

// inCompany: the pod is of a group of several.
func (r *record) inCompany() bool { return r.group != nil && r.group.MinMember > 1 }

// MadeRoom notes that the attempt of a pod, which is about to fail, evicted pods that it outranks and nominated it to their node; "": to none.
// From the failure on the room is kept for it. Its status says so later: the victims may be gone by then, and others be after their room.
func (l *Ledger) MadeRoom(uid UID, node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		r.madeRoom = node
	}
}

// keepMadeRoom is for a pod whose attempt has failed.
func (l *Ledger) keepMadeRoom(r *record) {
	if r.madeRoom != "" {
		r.Nominated = r.madeRoom
		l.followNomination(r)
	}
}

// madeRoomItself: kube-scheduler nominated the pod in an attempt of its own, and not a plan.
func (r *record) madeRoomItself() bool {
	return r.Nominated != "" && (r.place == nil || r.place.claim == nil)
}

// HasPlace reports whether a plan has given the pod a place.
func (l *Ledger) HasPlace(uid UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.pods[uid]
	return r != nil && r.place != nil && r.place.claim != nil
}
