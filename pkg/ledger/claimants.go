package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// claims adds the open claims to the world, with the next pods of their queues in the order of release, as far as the limits below the
// queue allow them together. The plan checks the limits of the queue and of those above, since it knows the victims below them.
func (l *plans) claims(w *preemption.World, again []*record, all bool) {
	for i, n := range l.queues.Nodes[1:] {
		a := l.queues.accounts[n.Path]
		if a.starving == nil || a.starving.pause.Until > l.now && !all {
			continue
		}
		if !all {
			a.starving.requested = false
		}
		for _, k := range kinds {
			clock := &a.starving.clocks[k]
			since := clock.Claimed
			if since == 0 && all && a.timeout(k).InForce() {
				since = clock.Since
			}
			if since == 0 {
				continue
			}
			target := a.lessHeld(l.shares.targetOf(a, k, w.Queues[i+1].Demand))
			w.Claims = append(w.Claims, preemption.Claim{Queue: i + 1, Kind: k, Since: since, AfterEviction: clock.AfterEviction, Target: target})
		}
	}
	w.Claims = preemption.Order(*w, w.Claims)
	if len(w.Claims) == 0 {
		return
	}
	t := l.try()
	defer t.end()
	for _, r := range l.nominations.pods { // in the order in which they were given
		if r.state == Waiting && r.InQueue() && !slices.Contains(again, r) { // one that a rule blocks could not be released
			t.move(r, Released)
		}
	}
	more := false
	for i := range w.Claims {
		c := &w.Claims[i]
		c.Units = t.claimants(l.queues.accounts[w.Queues[c.Queue].Path], c, maxClaimants-len(t.charged))
		c.More = len(t.charged) >= maxClaimants
		more = more || c.More
	}
	l.rounds.looksAtAll(!more)
}

// claimants charges the next pods of a queue as long as it stays within its target, and returns them. It passes over pods that are too
// large: a smaller one may be owed. A guarantee is claimed for pods that ask for what is lacking of it.
func (t *trial) claimants(a *queueAccount, c *preemption.Claim, most int) (units []preemption.Unit) {
	l := t.ledger
	l.walk.beginBelow(a)
	defer l.walk.endBelow()
	for n := 0; n < most; {
		first, from := len(t.charged), len(t.before)
		r := t.nextFor(a, c)
		if r == nil {
			break
		}
		pods := t.charged[first:]
		if !l.shares.isOwed(a, c, pods) || l.shares.tooManyDrivers(pods) || l.nodes.needsMoreThanItsPods(r.group) {
			t.charged = t.charged[:first]
			t.takeBack(from)
			l.walk.passOver(r) // no other pod of its class would be of use either
			continue
		}
		n += len(pods)
		u := preemption.Unit{After: t.after(pods)}
		if r.group.startsTogether() {
			u.Gang = r.group.Key
		}
		for _, r := range pods {
			p := preemption.Claimant{UID: string(r.UID), Queue: r.leaf.ordinal - 1, Request: r.Request, Class: r.class.key}
			if r.nomination != nil {
				p.Nominated = r.nomination.node.Name
			}
			u.Pods = append(u.Pods, p)
		}
		units = append(units, u)
	}
	return units
}

// nextFor charges the next pod for a claim of a queue, and returns it; nil: there is none.
func (t *trial) nextFor(a *queueAccount, c *preemption.Claim) *record {
	w := &t.ledger.walk
	if c.Kind == preemption.BelowGuaranteed {
		w.ask(guarantee.Lacking(a.parent.spec.Rule(), c.Target, c.Target, &a.usage, nil))
		defer w.askNoMore()
	}
	return t.nextBelow(a, w.open)
}

// isOwed reports whether a queue with these pods, which are charged, is not above the target of its claim.
func (s *shares) isOwed(a *queueAccount, c *preemption.Claim, pods []*record) bool {
	rule, usage := a.parent.spec.Rule(), a.usage.List()
	if c.Kind != preemption.BelowGuaranteed {
		return preemption.CompareDominant(rule, s.total, usage, c.Target) <= 0
	}
	var asks resource.List
	for _, r := range pods {
		asks = asks.Add(r.Request)
	}
	return preemption.Pays(rule, asks, usage, c.Target) != ""
}

// after notes which of the pods that were just charged lead their application, and returns the driver with which they wait, if it was charged before them.
func (t *trial) after(charged []*record) (driver string) {
	for _, r := range charged {
		if r.Role == application.Driver && r.app.podCounts.HoldingDrivers == driversOf(r.app, charged) {
			if t.leads == nil {
				t.leads = map[*appAccount]*record{}
			}
			t.leads[r.app] = r
		}
	}
	for _, r := range charged {
		if d := t.leads[r.app]; d != nil && !slices.Contains(charged, d) {
			return string(d.UID)
		}
	}
	return ""
}

// driversOf is how many of these pods are drivers of the application.
func driversOf(app *appAccount, pods []*record) (n int32) {
	for _, r := range pods { // a count: order does not matter
		if r.app == app && r.Role == application.Driver {
			n++
		}
	}
	return n
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
