// Package invariant checks that a preemption plan keeps the rules, before any part of it is carried out.
//
// Input is the plan and the world that it was made from; output is sentences, one for each broken rule. Each
// check states its rule independently, from the definition: a check that called the code it checks would
// repeat its mistakes.
//
// The package repairs nothing and must not be called to make a decision.
package invariant

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Plan checks a plan against the world it was made from, before any eviction: every victim may be evicted and
// is needed, and every placed claimant gets its room. With f, the filters must agree; its picture is empty
// before and after. Without f (nil) only the arithmetic is checked.
func Plan(w preemption.World, p preemption.Plan, f preemption.Feasibility) []string {
	r := newReplay(&w, &p)
	out := r.known()
	if len(out) > 0 {
		return out // what cannot be looked up cannot be checked
	}
	out = append(out, r.gangs()...)
	out = append(out, r.walk("")...)
	out = append(out, r.entitlements()...)
	out = append(out, r.rooms("")...)
	out = append(out, r.budget()...)
	if f != nil {
		out = append(out, r.disruption(f)...)
		out = append(out, r.filters(f, "")...)
	}
	if len(out) > 0 {
		return out // whether a wrong plan needs all its victims says nothing
	}
	return r.needed(f)
}

// replay is the world while a plan is carried out step by step.
type replay struct {
	w           *preemption.World
	p           *preemption.Plan
	usage       []resource.List
	runs        map[string]running               // candidates
	asks        map[string]*preemption.Claimant  // claimants of any claim
	victims     map[string][]preemption.Victim   // by claimant
	nominations map[string]preemption.Nomination // by claimant
	payments    map[string]int                   // the claim that nominates a claimant
	gone        map[string]bool
	// onNode has the claimants that come to each node, leaving the victims on it.
	onNode, leaving [][]string
}

type running struct {
	*preemption.Candidate
	node int
}

func newReplay(w *preemption.World, p *preemption.Plan) *replay {
	r := &replay{
		w: w, p: p, runs: map[string]running{}, asks: map[string]*preemption.Claimant{}, victims: map[string][]preemption.Victim{},
		nominations: map[string]preemption.Nomination{}, payments: map[string]int{}, gone: map[string]bool{},
		onNode: make([][]string, len(w.Nodes)), leaving: make([][]string, len(w.Nodes)),
	}
	for n := range w.Nodes {
		for i := range w.Nodes[n].Candidates {
			c := &w.Nodes[n].Candidates[i]
			r.runs[c.UID] = running{c, n}
		}
	}
	for i := range p.Claims {
		for j := range p.Claims[i].Units {
			u := &p.Claims[i].Units[j]
			for k := range u.Pods {
				r.asks[u.Pods[k].UID] = &u.Pods[k]
			}
		}
	}
	return r
}

// known checks that victims and claimants exist, each once, and records them.
func (r *replay) known() []string {
	var out []string
	for i := range r.p.Claims {
		for _, n := range r.p.Claims[i].Nominations {
			_, twice := r.nominations[n.UID]
			inClaim := slices.ContainsFunc(r.p.Claims[i].Units, func(u preemption.Unit) bool {
				return slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == n.UID })
			})
			if twice || !inClaim || n.Node < 0 || n.Node >= len(r.w.Nodes) {
				out = append(out, fmt.Sprintf("claimant %s: it is nominated twice, or to no node, or it is not of the claim", n.UID))
				continue
			}
			r.nominations[n.UID], r.payments[n.UID] = n, i
			r.onNode[n.Node] = append(r.onNode[n.Node], n.UID)
		}
	}
	for _, v := range r.p.Victims {
		c, runs := r.runs[v.UID]
		_, placed := r.nominations[v.For]
		switch {
		case !runs || r.gone[v.UID]:
			out = append(out, fmt.Sprintf("victim %s: it goes twice, or does not run", v.UID))
		case c.node != v.Node || c.Queue != v.Queue:
			out = append(out, fmt.Sprintf("victim %s: it runs on another node or in another queue than the plan says", v.UID))
		case !placed || r.p.Claims[r.payments[v.For]].Queue != v.ForQueue:
			out = append(out, fmt.Sprintf("victim %s: claimant %s, for which it goes, has no nomination in that claim", v.UID, v.For))
		case r.p.Claims[r.payments[v.For]].Exempts(c.Candidate):
			out = append(out, fmt.Sprintf("victim %s: the pod that it replaces was evicted when queue %s waited already", v.UID, r.name(v.ForQueue)))
		}
		if runs {
			r.leaving[c.node] = append(r.leaving[c.node], v.UID)
		}
		r.gone[v.UID] = true
		r.victims[v.For] = append(r.victims[v.For], v)
	}
	return out
}

// gangs checks that the pods of a group are evicted together.
func (r *replay) gangs() []string {
	var out []string
	for _, v := range r.p.Victims {
		gang := r.runs[v.UID].Gang
		if gang == "" {
			continue
		}
		for n := range r.w.Nodes {
			for _, c := range r.w.Nodes[n].Candidates {
				if c.Gang == gang && !r.gone[c.UID] {
					out = append(out, fmt.Sprintf("victim %s: pod %s of its group %s stays", v.UID, c.UID, gang))
				}
			}
		}
	}
	return out
}

// path returns the queues from the root to q.
func (r *replay) path(q int) []int {
	var out []int
	for ; q >= 0; q = r.w.Queues[q].Parent {
		out = append(out, q)
	}
	slices.Reverse(out)
	return out
}

func (r *replay) name(q int) queue.Path { return r.w.Queues[q].Path }

// compare compares the dominant shares of two amounts in a queue.
func (r *replay) compare(q int, a, b resource.List) int {
	return preemption.CompareDominant(r.w.Queues[q].Rule, r.w.Total, a, b)
}

// below returns the queues from below the common ancestor down to the victim's leaf.
func (r *replay) below(v preemption.Victim) []int {
	var out []int
	for _, q := range r.path(v.Queue) {
		if !r.name(q).Contains(r.name(v.ForQueue)) {
			out = append(out, q)
		}
	}
	return out
}

// entitlements checks that each queue that lost pods keeps its entitlement, as far as that counts for the outermost claim that took them.
func (r *replay) entitlements() []string {
	var out []string
	outermost := r.outermost()
	for _, v := range r.p.Victims {
		for _, q := range r.below(v) {
			if due := r.entitled(q, outermost[q]); r.compare(q, r.usage[q], due) < 0 {
				out = append(out, fmt.Sprintf("victim %s: queue %s is left with (%s), below its entitlement of (%s)", v.UID, r.name(q), r.usage[q], due))
			}
		}
	}
	return out
}

// budget checks how much the round takes of each resource. One unit may exceed the budget if it is the only
// one that takes that resource.
func (r *replay) budget() []string {
	var taken resource.List
	announced := r.w.Queues[0].Announced // victims of earlier rounds that still run
	units := map[resource.Name]map[string]bool{}
	for _, v := range r.p.Victims {
		request := r.runs[v.UID].Request
		taken = taken.Add(request)
		for i := range request.Len() {
			e := request.At(i)
			if e.Value > 0 && units[e.Name] == nil {
				units[e.Name] = map[string]bool{}
			}
			if e.Value > 0 {
				units[e.Name][r.unit(v.For)] = true
			}
		}
	}
	var out []string
	if !taken.Equal(r.p.Taken) {
		out = append(out, fmt.Sprintf("the plan says that it takes (%s), but its victims hold (%s)", r.p.Taken, taken))
	}
	counted := r.w.Calculator().Of(taken)
	for i := range counted.Len() {
		e := counted.At(i)
		most := resource.Part(r.w.Total.Get(e.Name), r.w.Settings.TotalPerRound, 1000)
		most = resource.Part(most, r.w.Settings.NaturalTerminationFactor, 1000)
		all := resource.SatAdd(e.Value, announced.Get(e.Name))
		if e.Value > 0 && all > most && (len(units[e.Name]) > 1 || !announced.IsZero()) {
			out = append(out, fmt.Sprintf("the round takes %s %s, and may take %s",
				resource.Format(e.Name, all), e.Name, resource.Format(e.Name, most)))
		}
	}
	return out
}

// unit names the unit of a claimant by its first pod.
func (r *replay) unit(uid string) string {
	for _, u := range r.p.Claims[r.payments[uid]].Units {
		if slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == uid }) {
			return u.Pods[0].UID
		}
	}
	return uid
}
