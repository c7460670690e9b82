package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Plan is what one round decides.
type Plan struct {
	// Claims are those of the world, in its order, with what became of them.
	Claims []Payment
	// Victims are in the order of the claimants for which they are evicted.
	Victims []Victim
	// Taken is what the victims use together.
	Taken resource.List
	// Ideal is what each queue of the world would have if every queue had its share but no more than it asks for.
	Ideal []resource.List
	// Stopped says why the round was not made at all: "" if it was.
	Stopped Stop
	// StoppedFor is the busiest resource, and StoppedAt how much of it is used, if the utilization is too low.
	StoppedFor resource.Name
	StoppedAt  int64
}

// Payment is a claim and the nominations found for it.
type Payment struct {
	Claim
	Owed        resource.List // by how much the target is above the usage, for each resource
	Nominations []Nomination
	// Unpaid says why nothing more was found; "" where the claim is covered.
	Unpaid reason.UnpaidCause
}

// Declined reports whether the claim ends because nobody may pay it: all surplus is ignored, and nothing that earlier rounds have paid is
// still to come.
func (p *Payment) Declined() bool {
	return p.Unpaid == reason.InDeadZone && len(p.Nominations) == 0 && p.Coming.IsZero()
}

// Nomination is the node where a claimant will run once its victims are gone.
type Nomination struct {
	UID   string
	Queue int
	Node  int
	// Pays is what its unit pays of a guarantee; "" for a claim of a fair share.
	Pays resource.Name
}

// Victim is a pod that is to be evicted.
type Victim struct {
	UID   string
	Queue int // of its leaf
	Node  int
	// For is the claimant that needs its room; ForQueue is the queue whose claim that is.
	For      string
	ForQueue int
	// Above is the queue from whose surplus it is taken: the child of the common ancestor on the victim's side. Surplus is what that queue
	// has above its entitlement before this pod is gone, of Resource, the one that it uses most of.
	Above    int
	Resource resource.Name
	Surplus  int64
	// With names the group that is evicted with it, "" if it is evicted alone.
	With string
}

// Stop is why no round is made.
type Stop string

// The causes.
const (
	// NotBusy: the cluster is not above its utilization threshold.
	NotBusy Stop = "NotBusy"
)

// Make makes a plan. The same world and the same answers give the same plan.
func Make(w World, f Feasibility) Plan {
	p := &planner{
		w: &w, f: f, optionsOf: map[optionsKey]*nodeOptions{}, placed: map[string]bool{}, broken: map[string]bool{}, shapes: map[shape]int{}, unitSteps: unitSteps,
	}
	claims := Order(w, w.Claims)
	p.plan.Ideal = ideal(&w)
	if name, used, idle := notBusy(&w); idle {
		p.plan.Stopped, p.plan.StoppedFor, p.plan.StoppedAt = NotBusy, name, used
		for _, c := range claims {
			p.plan.Claims = append(p.plan.Claims, Payment{Claim: c, Owed: lacking(c.Target, w.Queues[c.Queue].Usage)})
		}
		return p.plan
	}
	p.build(&w, p.plan.Ideal)
	p.noteTouchable()
	p.round, p.commits = p.newRound(), f.Commits()
	for i := range claims {
		p.plan.Claims = append(p.plan.Claims, p.pay(&claims[i]))
	}
	p.dropUnneeded()
	p.writePlan()
	return p.plan
}

// planner is a plan in the making.
type planner struct {
	picture
	w     *World
	f     Feasibility
	plan  Plan
	round round
	cover cover
	// optionsOf are the options found for the current claim; recent are their keys, the oldest first.
	optionsOf map[optionsKey]*nodeOptions
	recent    []optionsKey
	failed    []failure // of single pods, in the picture as it is
	paid      []*activeClaim
	placed    map[string]bool // claimants that have a node
	broken    map[string]bool // groups of which not enough pods get nodes: it is of no use to make room for the others
	shapes    map[shape]int
	// alone: the round has no victims yet beside those of the current unit.
	alone bool
	// stamp grows when the picture of the filters changes, ranked when the order of the queues by surplus does.
	stamp, ranked int
	commits       int // that stood when the plan was begun
	ranks         []int
	// work bounds the effort for the best of several solutions. It does not bound the search for any solution.
	work int
	// unitSteps is how many steps are left to assignExactly.
	unitSteps int
}

// shape is what two claimants must have in common so that what was found for one holds for the other.
type shape struct {
	queue          int
	class, request string
}

// claimWork is the work of a claim: see planner.work.
const claimWork = 400_000

// pay finds nodes for the units of a claim, in their order, and then looks for fewer victims.
func (p *planner) pay(c *Claim) Payment {
	o := p.activate(c)
	clear(p.optionsOf)
	p.failed = p.failed[:0]
	p.recent = p.recent[:0]
	p.work = claimWork
	out := Payment{Claim: *c, Owed: p.owed(o)}
	units := p.units(c)
	commits, before := p.f.Commits(), p.round.any
	owed := false
	for i := range units {
		u := &units[i]
		if p.broken[u.Gang] || u.After != "" && !p.placed[u.After] {
			p.breakGroup(u)
			continue
		}
		p.chargeUnit(u, true)
		why := p.payUnit(o, units[i:])
		if why == "" {
			continue
		}
		p.chargeUnit(u, false)
		p.breakGroup(u)
		if why != reason.NothingOwed {
			owed = true
			if out.Unpaid == "" {
				out.Unpaid = why
			}
		}
		if why == reason.RoundSpent {
			break
		}
	}
	if len(o.placed) == 0 && !owed {
		out.Unpaid = reason.NothingOwed
	}
	if c.More && (out.Unpaid == "" || out.Unpaid == reason.NothingOwed) {
		out.Unpaid = reason.RoundSpent
	}
	p.improve(o, commits, before)
	p.guardQueues(o)
	p.paid = append(p.paid, o)
	return out
}

// breakGroup notes that a unit of a group gets no nodes.
func (p *planner) breakGroup(u *unit) {
	if u.Gang != "" {
		p.broken[u.Gang] = true
	}
}

// units are the units of a claim, without the claimants for which an earlier claim has found a node. That claim was of a queue inside this
// one, or around it.
func (p *planner) units(c *Claim) []unit {
	var out []unit
	for i := range c.Units {
		u := unit{Unit: &c.Units[i], request: make([]int64, len(p.names))}
		for j := range c.Units[i].Pods {
			a := &c.Units[i].Pods[j]
			if p.placed[a.UID] {
				continue
			}
			key := shape{a.Queue, a.Class, a.Request.String()}
			id, ok := p.shapes[key]
			if !ok {
				id = len(p.shapes)
				p.shapes[key] = id
			}
			u.pods = append(u.pods, claimant{Claimant: a, request: p.dense(a.Request, 0), shape: id})
			change(u.request, u.pods[len(u.pods)-1].request, true)
		}
		if len(u.pods) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// payUnit finds nodes for all pods of the first of these units, or says why not. The unit is charged already.
func (p *planner) payUnit(o *activeClaim, units []unit) reason.UnpaidCause {
	u := &units[0]
	switch {
	case !p.isOwed(o, u):
		return reason.NothingOwed
	case p.overLimit(o, u):
		return reason.LimitForbids
	case (len(o.placed) > 0 || !o.Coming.IsZero()) && !p.inRound(o, u):
		return reason.RoundSpent
	}
	if why := p.knownFailure(u); why != "" {
		return why
	}
	p.alone = !p.round.any
	assignments, within, why := p.assignWithin(o, units)
	if why == reason.RoundSpent {
		return why
	}
	if why != "" {
		why = p.explain(o, u)
		if len(u.pods) == 1 {
			p.failed = append(p.failed, failure{claimant: u.pods[0], why: why, stamp: p.stamp})
		}
		return why
	}
	o.placed = append(o.placed, placedUnit{unit: u, reach: within, assignments: assignments})
	for i, s := range assignments {
		p.round.any = p.round.any || len(s.victims) > 0
		p.placed[u.pods[i].UID] = true
	}
	return ""
}
