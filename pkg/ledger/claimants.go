package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// claims adds the open claims to the world, with the next pods of their queues in the order of release, as far as limits from the queue
// down allow them together. The plan checks the limits above, since the victims below them count.
func (l *Ledger) claims(w *preemption.World, again []*record, all bool) {
	for i, n := range l.queues.Nodes[1:] {
		a := l.queues.accounts[n.Path]
		if a.starving == nil || a.starving.pause.Until > l.now && !all {
			continue
		}
		if !all {
			a.starving.requested = false
		}
		for _, k := range kinds {
			since := a.starving.clocks[k].Claimed
			if since == 0 && all && a.timeout(k).InForce() {
				since = a.starving.clocks[k].Since
			}
			if since == 0 {
				continue
			}
			target := a.lessHeld(l.shares.targetOf(a, k, w.Queues[i+1].Demand))
			w.Claims = append(w.Claims, preemption.Claim{Queue: i + 1, Kind: k, Since: since, Target: target})
		}
	}
	w.Claims = preemption.Order(*w, w.Claims)
	if len(w.Claims) == 0 {
		return
	}
	t := l.try()
	defer t.end()
	for _, r := range l.nominations.pods { // in the order in which they were given
		if r.state == Waiting && r.leaf != nil && !slices.Contains(again, r) {
			t.move(r, Released)
		}
	}
	l.rounds.pace.Rest = false
	for i := range w.Claims {
		c := &w.Claims[i]
		c.Units = t.claimants(l.queues.accounts[w.Queues[c.Queue].Path], c.Target, maxClaimants-len(t.charged))
		c.More = len(t.charged) >= maxClaimants
		l.rounds.pace.Rest = l.rounds.pace.Rest || c.More
	}
}

// claimants charges the next pods of a queue as long as it stays within its target, and returns them. It passes over pods that are too
// large: a smaller one may be owed.
func (t *trial) claimants(a *account, target resource.List, most int) (units []preemption.Unit) {
	l := t.ledger
	l.walk.ceiling = a
	defer func() { l.walk.ceiling = nil }()
	l.walk.beginWithAll()
	rule := a.parent.spec.Rule()
	for n := 0; n < most; {
		first, from := len(t.charged), len(t.before)
		r := t.nextBelow(a, l.walk.open)
		if r == nil {
			break
		}
		pods := t.charged[first:]
		if preemption.CompareDominant(rule, l.shares.total, a.usage.List(), target) > 0 || l.shares.tooManyDrivers(pods) {
			t.charged = t.charged[:first]
			t.takeBack(from)
			l.walk.passOver(r) // pods of its class are too large too
			continue
		}
		n += len(pods)
		u := preemption.Unit{}
		if r.group.startsTogether() {
			u.Gang = r.group.Key
		}
		for _, r := range pods {
			c := preemption.Claimant{UID: string(r.UID), Queue: r.leaf.ordinal - 1, Request: r.Request, Class: r.class.key}
			if r.nomination != nil {
				c.Nominated = r.nomination.node.Name
			}
			u.Pods = append(u.Pods, c)
		}
		units = append(units, u)
	}
	l.walk.refreshStale()
	return units
}

// tooManyDrivers checks the driver share, which the walk does not check for the queue that claims.
func (s *shares) tooManyDrivers(charged []*record) bool {
	for _, r := range charged {
		if _, over := s.driverTooMany(r); over {
			return true
		}
	}
	return false
}

// passOver leaves the pod's class out of the walk, and all classes of its group: otherwise pods of the group would be taken for single pods.
func (w *treeWalk) passOver(r *record) {
	w.leaveOut(r.class)
	if r.group.startsTogether() {
		for _, o := range r.group.pods { // each for itself: order does not matter
			if o.class != nil {
				w.leaveOut(o.class)
			}
		}
	}
}
