package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// claims adds the open claims to the world, with the next pods of their queues in the order of release, as far as limits from the queue down allow
// them together. The plan checks the limits above, since the victims below them count.
func (l *Ledger) claims(w *preemption.World, again []*record, all bool) {
	for i, n := range l.queues.Nodes[1:] {
		a := l.queues.accounts[n.Path]
		if a.starving == nil || a.starving.pause.Until > l.now && !all {
			continue
		}
		for _, k := range kinds {
			since := a.starving.clocks[k].Claimed
			if since == 0 && all && a.timeout(k).InForce() {
				since = a.starving.clocks[k].Since
			}
			if since == 0 {
				continue
			}
			w.Claims = append(w.Claims, preemption.Claim{Queue: i + 1, Kind: k, Since: since, Target: l.shares.targetOf(a, k, w.Queues[i+1].Demand)})
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

// claimants charges the next pods of a queue as long as it stays within its target, and returns them. It passes over pods that are too large: a
// smaller one may be owed.
func (t *trial) claimants(a *account, target resource.List, most int) (units []preemption.Unit) {
	l := t.ledger
	l.ceiling = a
	defer func() { l.ceiling = nil }()
	l.mark++
	for _, c := range l.classes.queued { // each for itself: order does not matter
		c.mark = l.mark
		t.open |= c.lane.Set()
	}
	rule := a.parent.spec.Rule()
	for n := 0; n < most; {
		first, from := len(t.charged), len(t.before)
		r := t.nextBelow(a, t.open)
		if r == nil {
			break
		}
		pods := t.charged[first:]
		if preemption.CompareDominant(rule, l.shares.total, a.usage.List(), target) > 0 || l.haveTooManyDrivers(pods) {
			t.charged = t.charged[:first]
			t.takeBack(from)
			r.passOver() // pods of its class are too large too
			continue
		}
		n += len(pods)
		u := preemption.Unit{}
		if r.group.open() {
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
	l.freshen()
	return units
}

// haveTooManyDrivers checks the driver share, which the walk does not check for the queue that claims.
func (l *Ledger) haveTooManyDrivers(charged []*record) bool {
	for _, r := range charged {
		if _, over := l.driverTooMany(r); over {
			return true
		}
	}
	return false
}

// passOver leaves the pod's class out of the walk, and all classes of its group: otherwise pods of the group would be taken for single pods.
func (r *record) passOver() {
	r.class.mark = 0
	if r.group.open() {
		for _, o := range r.group.pods { // each for itself: order does not matter
			if o.class != nil {
				o.class.mark = 0
			}
		}
	}
}
