package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// heldBack is what of the demand of queues could not run if there were room: what waiting drivers request beyond the driver share, and the pods that wait
// with them, and what users ask for beyond what each may have, or for drivers beyond their part. Of a leaf and of a user it is the larger of two, since a pod
// may be held by both.
type heldBack map[*queueAccount]resource.List

func (l *contents) heldBack() heldBack { return l.heldBackBy(l.shares.heldUsers) }

// heldBackAtLast counts what users ask for beyond what each may have when their queue uses all that it could. The ideal assignment needs that.
func (l *contents) heldBackAtLast() heldBack { return l.heldBackBy(l.shares.heldUsersAtLast) }

func (l *contents) heldBackBy(heldUsers func(leaf *queueAccount) resource.List) heldBack {
	held := heldBack{}
	for i := len(l.queues.Nodes) - 1; i >= 0; i-- { // children before parents
		a := l.queues.accounts[l.queues.Nodes[i].Path] // not waitingDrivers: where a share has shrunk, that is noted when a walk comes by
		here := held[a]
		if a.holdsDrivers() { // mostly not so
			here = l.shares.heldDrivers(a)
		}
		if a.users != nil && a.users.asking > 0 {
			here = here.Max(heldUsers(a))
		}
		if here.Len() == 0 {
			continue
		}
		held[a] = here
		if up := a.parent; up != nil { // what the max forbids is no demand of the parent
			held[up] = held[up].Add(a.cappedDemand().Sub(a.cappedDemandWithout(here)))
		}
	}
	return held
}

// claimable is what a queue could use if there were room: its demand without what is held back, within every max on the path.
func (a *queueAccount) claimable(held heldBack) resource.List {
	d := a.cappedDemandWithout(held[a])
	for up := a.parent; up != nil; up = up.parent {
		if up.spec.Max.Len() > 0 {
			d = d.CapBy(up.spec.Max)
		}
	}
	return d.Max(a.usage.List())
}

// cappedDemandWithout is cappedDemand without what is held back.
func (a *queueAccount) cappedDemandWithout(held resource.List) resource.List {
	if held.Len() == 0 {
		return a.cappedDemand()
	}
	return a.demand.List().Sub(held).CapBy(a.spec.Max).Max(a.usage.List())
}

// partHeld is what may not start of what waits, if so much of the scarcest resource is free of what is asked for. A pod needs all of its resources, so that
// one says which part of the pods may start.
func partHeld(waits resource.List, free, of int64) resource.List {
	entries := make([]resource.Entry, waits.Len())
	for i := range entries {
		e := waits.At(i)
		entries[i] = resource.Entry{Name: e.Name, Value: e.Value - resource.Part(e.Value, free, of)}
	}
	return resource.OfSorted(entries)
}

// scarcest is the resource of which the smallest part of what is asked for is free. of 0: all of everything is.
type scarcest struct{ free, of int64 }

func (s *scarcest) look(free, asked int64) {
	if free < asked && (s.of == 0 || resource.CompareFractions(free, asked, s.free, s.of) < 0) {
		s.free, s.of = free, asked
	}
}

// heldOf is what may not start of what waits.
func (s scarcest) heldOf(waits resource.List) resource.List {
	if s.of == 0 {
		return resource.List{}
	}
	return partHeld(waits, s.free, s.of)
}

// heldUsers is what the users of a leaf ask for beyond what each may have there now.
func (s *shares) heldUsers(leaf *queueAccount) resource.List {
	return s.heldUsersBy(leaf, func(p *sizePart, _ resource.Entry) int64 { return p.amount })
}

// heldUsersAtLast is what they ask for beyond what each may have in the end. Beyond the entitlement the limits grow with each pod that starts. They do so
// only if the users fill the entitlement to some resource with what they may have now.
func (s *shares) heldUsersAtLast(leaf *queueAccount) resource.List {
	held := s.heldUsers(leaf)
	fill := false
	for i := range held.Len() {
		e := held.At(i)
		fill = fill || resource.SatSub(leaf.demand.Get(e.Name), e.Value) >= s.entitledTo(leaf, e.Name)
	}
	if !fill {
		return held
	}
	share := leaf.userShare()
	return s.heldUsersBy(leaf, func(_ *sizePart, e resource.Entry) int64 {
		return share.Potential(s.entitledTo(leaf, e.Name), s.mostFor(leaf, e.Name), e.Value)
	})
}

// mostOf is how much of a resource a user of weight 1 may have with one more pod of a size.
type mostOf func(*sizePart, resource.Entry) int64

func (s *shares) heldUsersBy(leaf *queueAccount, most mostOf) (held resource.List) {
	drivers := leaf.holdsDrivers()
	for _, u := range leaf.users.byName { // sums: order does not matter
		if u.asks == 0 {
			continue
		}
		own := u.held(leaf.users.calculator, most)
		if drivers {
			own = own.Max(s.heldDriversOf(leaf, u))
		}
		held = held.Add(own)
	}
	return held
}

func (u *leafUser) held(calculator queue.Calculator, most mostOf) resource.List {
	waits := u.demand.List().Sub(u.usage.List())
	var least scarcest
	for i := range waits.Len() {
		e := waits.At(i)
		if f, limited := u.free(e.Name, calculator, most); limited {
			least.look(f, e.Value)
		}
	}
	return least.heldOf(waits)
}

// free is how much more of a resource the user may have with the largest pod that waits; false: none that waits asks for any. A user who has nothing may
// have one pod.
func (u *leafUser) free(name resource.Name, calculator queue.Calculator, most mostOf) (free int64, limited bool) {
	used, uses := u.usage.Get(name), limit.UsesAnything(&u.usage)
	for _, z := range u.sizes {
		for i := range z.request.Len() {
			e := z.request.At(i)
			if e.Name != name || e.Value <= 0 || !calculator.Counts(name) {
				continue
			}
			limited = true
			free = max(free, resource.SatSub(limit.WeightedAmount(most(&z.parts[i], e), u.weight), used))
			if !uses {
				free = max(free, e.Value)
			}
		}
	}
	return free, limited
}
