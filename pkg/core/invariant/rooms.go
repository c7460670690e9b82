package invariant

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// walk carries the plan out unit by unit and leaves the final usages. If staying is set, that victim and its
// group stay. It checks at every step the target, that units are whole, and which pod may be evicted for
// which; and at the end every max, because all victims go at once.
func (r *replay) walk(staying string) []string {
	var out []string
	r.usage = make([]resource.List, len(r.w.Queues))
	for i := range r.w.Queues {
		r.usage[i] = r.w.Queues[i].Usage
	}
	for i := range r.p.Claims {
		for j := range r.p.Claims[i].Units {
			out = append(out, r.step(i, &r.p.Claims[i].Units[j], staying)...)
		}
	}
	for i := range r.p.Claims {
		for _, u := range r.p.Claims[i].Units {
			for _, a := range u.Pods {
				if by, placed := r.payments[a.UID]; placed && by == i {
					out = append(out, r.maxima(a)...)
				}
			}
		}
	}
	return out
}

func (r *replay) step(claim int, u *preemption.Unit, staying string) []string {
	var out []string
	c := &r.p.Claims[claim]
	placed, missing := 0, 0
	for _, a := range u.Pods {
		switch by, ok := r.payments[a.UID]; {
		case !ok:
			missing++
		case by == claim:
			placed++
			r.add(a.Queue, a.Request, true)
		}
	}
	if placed == 0 {
		return nil
	}
	if missing > 0 {
		out = append(out, fmt.Sprintf("claim of %s: of the unit of %s %d pods have no nomination", r.name(c.Queue), u.Pods[0].UID, missing))
	}
	if c.Kind == preemption.BelowGuaranteed {
		out = append(out, r.paysGuarantee(c, u)...)
	} else if r.compare(c.Queue, r.usage[c.Queue], c.Target) > 0 {
		out = append(out, fmt.Sprintf("claim of %s: with %s it uses (%s), more than its target of (%s)", r.name(c.Queue), u.Pods[0].UID, r.usage[c.Queue], c.Target))
	}
	top, idealTop := r.top(c, u, false), r.top(c, u, true)
	var outside []preemption.Victim
	for _, a := range u.Pods {
		for _, v := range r.victims[a.UID] {
			if r.payments[a.UID] == claim && !r.stays(v.UID, staying) {
				out = append(out, r.allowed(v, idealTop)...)
				r.add(v.Queue, r.runs[v.UID].Request, false)
				if !r.name(top).Contains(r.name(v.Queue)) {
					outside = append(outside, v)
				}
			}
		}
	}
	for _, v := range outside {
		out = append(out, r.aboveIdeal(v, top)...)
	}
	if c.Kind == preemption.BelowGuaranteed {
		out = append(out, r.guarantees(c, u, staying)...)
	}
	return out
}

// aboveIdeal checks a victim from outside a queue that has all it is entitled to, after it is gone with the others
// of its unit: only what is above the ideal may go to a queue that is within its own.
func (r *replay) aboveIdeal(v preemption.Victim, top int) []string {
	for _, q := range r.below(v) {
		if len(r.p.Ideal) != len(r.w.Queues) || r.compare(q, r.usage[q], r.idealFrom(q, r.commonAncestor(v.Queue, v.ForQueue))) < 0 {
			return []string{fmt.Sprintf("victim %s: it is taken from outside %s, which has all it is entitled to", v.UID, r.name(top))}
		}
	}
	return nil
}

func (r *replay) add(q int, amounts resource.List, more bool) {
	for _, at := range r.path(q) {
		if more {
			r.usage[at] = r.usage[at].Add(amounts)
		} else {
			r.usage[at] = r.usage[at].Sub(amounts)
		}
	}
}

// stays reports whether a victim would stay if staying did: it does itself, or another of its group does.
func (r *replay) stays(uid, staying string) bool {
	return staying != "" && (uid == staying || r.runs[uid].Gang != "" && r.runs[uid].Gang == r.runs[staying].Gang)
}

// top returns the highest queue from which pods may be taken: all queues below it, down to the claim's, stay
// within their entitlements, or within the larger of entitlement and ideal, or lack of their guarantees what the unit asks for. All of this is as far as
// it counts for queues from there.
func (r *replay) top(c *preemption.Payment, u *preemption.Unit, ideal bool) int {
	path := r.path(c.Queue)
	at := len(path) - 2
	for at > 0 && r.lackFrom(path[at-1], path[at:len(path)-1], c, u, ideal) {
		at--
	}
	return path[max(at, 0)]
}

// lackFrom reports whether all these queues around the claim, and the claim's queue, lack something for queues that meet them at from.
func (r *replay) lackFrom(from int, around []int, c *preemption.Payment, u *preemption.Unit, ideal bool) bool {
	for _, q := range around {
		above := r.compare(q, r.usage[q], r.entitled(q, from)) > 0
		if ideal && len(r.p.Ideal) == len(r.w.Queues) {
			above = above && r.compare(q, r.usage[q], r.idealFrom(q, from)) > 0
		}
		if above && !r.lacksToo(q, from, c, u) {
			return false
		}
	}
	if c.Kind == preemption.BelowGuaranteed {
		return len(r.owed(c.Queue, c, u, r.target(c, from))) > 0
	}
	return r.compare(c.Queue, r.usage[c.Queue], r.target(c, from)) <= 0
}

func (r *replay) idealFrom(q, from int) resource.List {
	due, _ := r.covered(q, from, r.ideal)
	return due
}

// allowed checks a victim before it is evicted.
func (r *replay) allowed(v preemption.Victim, top int) []string {
	var out []string
	if r.name(v.ForQueue).Contains(r.name(v.Queue)) {
		out = append(out, fmt.Sprintf("victim %s: its queue %s is inside %s, which claims", v.UID, r.name(v.Queue), r.name(v.ForQueue)))
	}
	if !r.name(top).Contains(r.name(v.Queue)) {
		out = append(out, fmt.Sprintf("victim %s: it is taken from outside %s, which has all it is entitled to and its ideal", v.UID, r.name(top)))
	}
	if !r.w.Queues[v.Queue].Preemptible {
		out = append(out, fmt.Sprintf("victim %s: queue %s is not preemptible", v.UID, r.name(v.Queue)))
	}
	if k := r.w.Settings.MaxIgnoredOverCapacity; k > 0 {
		leaf := &r.w.Queues[v.Queue]
		due := r.entitled(v.Queue, r.commonAncestor(v.Queue, v.ForQueue))
		var bar []resource.Entry
		for i := range due.Len() {
			e := due.At(i)
			bar = append(bar, resource.Entry{Name: e.Name, Value: resource.Part(e.Value, 1000+k, 1000)})
		}
		if r.compare(v.Queue, leaf.Usage.Add(leaf.Announced), resource.Of(bar...)) <= 0 {
			out = append(out, fmt.Sprintf("victim %s: what queue %s has above its entitlement is to be ignored", v.UID, r.name(v.Queue)))
		}
	}
	return out
}

func (r *replay) maxima(a preemption.Claimant) []string {
	var out []string
	for _, q := range r.path(a.Queue) {
		limits := r.w.Queues[q].Max
		for i := range limits.Len() {
			if e := limits.At(i); r.usage[q].Get(e.Name) > e.Value {
				out = append(out, fmt.Sprintf("claimant %s: with it queue %s uses %s %s of a max of %s", a.UID, r.name(q),
					resource.Format(e.Name, r.usage[q].Get(e.Name)), e.Name, resource.Format(e.Name, e.Value)))
			}
		}
	}
	return out
}

// rooms checks that every node has room for its claimants once the victims are gone; with staying, only nodes
// on which a pod then stays.
func (r *replay) rooms(staying string) []string {
	var out []string
	for i := range r.w.Nodes {
		if len(r.onNode[i]) > 0 && (staying == "" || slices.ContainsFunc(r.leaving[i], func(uid string) bool { return r.stays(uid, staying) })) {
			out = append(out, r.roomOn(i, staying)...)
		}
	}
	return out
}

func (r *replay) roomOn(node int, staying string) []string {
	n := &r.w.Nodes[node]
	free, slots := n.Free, n.Slots
	for _, uid := range r.leaving[node] {
		if !r.stays(uid, staying) {
			free = free.Add(r.runs[uid].Request)
			slots++
		}
	}
	var asked resource.List
	for _, uid := range r.onNode[node] {
		asked = asked.Add(r.asks[uid].Request)
	}
	var out []string
	if pods := len(r.onNode[node]); pods > slots {
		out = append(out, fmt.Sprintf("node %s: %d claimants, and room for %d", n.Name, pods, slots))
	}
	for i := range asked.Len() {
		if e := asked.At(i); e.Value > 0 && e.Value > free.Get(e.Name) {
			out = append(out, fmt.Sprintf("node %s: its claimants ask for %s %s, and %s will be free", n.Name,
				resource.Format(e.Name, e.Value), e.Name, resource.Format(e.Name, free.Get(e.Name))))
		}
	}
	return out
}

// disruption checks the PodDisruptionBudgets.
func (r *replay) disruption(f preemption.Feasibility) []string {
	var out []string
	used := map[int]int{}
	for _, v := range r.p.Victims {
		for _, b := range f.Budgets(v.UID) {
			used[b]++
			if used[b] == f.Allowed(b)+1 {
				out = append(out, fmt.Sprintf("victim %s: its disruption budget lets %d pods go, and this is one more", v.UID, f.Allowed(b)))
			}
		}
	}
	return out
}

// filters asks about each placed claimant in turn, after the victims for it and for the claimants before it
// are gone. If the node is refused, its room may come from a victim for a later claimant: the filters must agree
// once all victims on the node are gone. The planner asked in the same order, so what a Feasibility caches of a
// picture serves both.
func (r *replay) filters(f preemption.Feasibility, staying string) []string {
	var out []string
	f.Rollback(0)
	defer f.Rollback(0)
	for i := range r.p.Claims {
		for _, n := range r.p.Claims[i].Nominations {
			var gone, here, all []string
			for _, v := range r.victims[n.UID] {
				if !r.stays(v.UID, staying) {
					gone = append(gone, v.UID)
					if v.Node == n.Node {
						here = append(here, v.UID)
					}
				}
			}
			for _, uid := range r.leaving[n.Node] {
				if !r.stays(uid, staying) {
					all = append(all, uid)
				}
			}
			a := r.asks[n.UID]
			if !f.Fits(a, n.Node, here) && (len(all) == len(here) || !f.Fits(a, n.Node, all)) {
				out = append(out, fmt.Sprintf("claimant %s: the filters refuse node %s", n.UID, r.w.Nodes[n.Node].Name))
			}
			f.Commit(a, n.Node, gone)
		}
	}
	return out
}

// needed checks that the plan breaks if any one of its victims stays, with its group.
func (r *replay) needed(f preemption.Feasibility) []string {
	var out []string
	for _, v := range r.p.Victims {
		if len(r.rooms(v.UID)) > 0 || len(r.walk(v.UID)) > 0 || f != nil && len(r.filters(f, v.UID)) > 0 {
			continue
		}
		out = append(out, fmt.Sprintf("victim %s: nobody needs its room", v.UID))
	}
	r.walk("")
	return out
}
