package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Plan is what one round decides.
type Plan struct {
	// Claims are those of the world, in its order, with what became of them.
	Claims []Payment
	// Victims are in the order of the claimants for whom they go.
	Victims []Victim
	// Taken is what the victims hold together.
	Taken resource.List
	// Ideal is what each queue of the world would have, were everybody served as the shares say and nobody had more than it asks for.
	Ideal []resource.List
	// Stopped says why the round was not made at all: "" if it was.
	Stopped Stop
	// StoppedFor is the busiest resource, and StoppedAt how much of it is used, where the utilisation is too low.
	StoppedFor resource.Name
	StoppedAt  int64
}

// Payment is a claim and the places found for it.
type Payment struct {
	Claim
	Owed   resource.List // what the target is above the usage, of each resource
	Places []Place
	// Unpaid says why nothing more was found; "" where the claim is covered.
	Unpaid reason.UnpaidCause
}

// Place is where a claimant will run once its victims are gone.
type Place struct {
	UID   string
	Queue int
	Node  int
}

// Victim is a pod that is to go.
type Victim struct {
	UID   string
	Queue int // of its leaf
	Node  int
	// For is the claimant that needs its room, ForQueue the queue whose claim that is.
	For      string
	ForQueue int
	// Above is the queue from which it is taken: the one below the claim's and its own common ancestor. Surplus is what that queue has above
	// its entitlement before this pod goes, of Resource, which it uses most of.
	Above    int
	Resource resource.Name
	Surplus  int64
	// With names the group that goes with it, "" where it goes alone.
	With string
}

// Stop is why no round is made.
type Stop string

// The causes.
const (
	// NotBusy: the cluster is not above its utilisation threshold.
	NotBusy Stop = "NotBusy"
)

// Make makes a plan. The same world and the same answers give the same plan.
func Make(w World, f Feasibility) Plan {
	p := &planner{w: &w, f: f, optionsOf: map[demand]*nodeOptions{}, placed: map[string]bool{}, broken: map[string]bool{}, shapes: map[shape]int{}}
	claims := Order(w, w.Claims)
	p.plan.Ideal = ideal(&w)
	if name, used, idle := notBusy(&w); idle {
		p.plan.Stopped, p.plan.StoppedFor, p.plan.StoppedAt = NotBusy, name, used
		for _, c := range claims {
			p.plan.Claims = append(p.plan.Claims, Payment{Claim: c, Owed: lacking(c.Target, w.Queues[c.Queue].Usage)})
		}
		return p.plan
	}
	p.build(&w)
	p.round, p.commits = p.newRound(), f.Commits()
	for i := range claims {
		p.plan.Claims = append(p.plan.Claims, p.pay(&claims[i]))
	}
	p.spare()
	p.write()
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
	// optionsOf are the options found for the current claim; recent are their demands, the oldest first.
	optionsOf map[demand]*nodeOptions
	recent    []demand
	failed    []failure // of single pods, in the picture as it is
	paid      []*activeClaim
	placed    map[string]bool // claimants that have a place
	broken    map[string]bool // groups that do not get what they need to start: their other pods are of no use
	shapes    map[shape]int
	// alone: nobody goes yet in this round beside the unit at hand.
	alone bool
	// stamp counts what the filters were told, ranked the orders of the queues by surplus.
	stamp, ranked int
	commits       int // that stood when the plan was begun
	standing      []int
	// work bounds what is spent on preferences, not on finding places.
	work int
}

// shape is what makes two claimants alike to a search.
type shape struct {
	queue          int
	class, request string
}

// enough is the work for which a claim may look for the best of the places that cost the same.
const enough = 400_000

// pay finds places for the units of a claim, in their order, and then looks for fewer victims.
func (p *planner) pay(c *Claim) Payment {
	o := p.begin(c)
	clear(p.optionsOf)
	p.failed = p.failed[:0]
	p.recent = p.recent[:0]
	p.work = enough
	out := Payment{Claim: *c, Owed: p.owed(o)}
	units := p.units(c)
	commits, before := p.f.Commits(), p.round.any
	owed := false
	for i := range units {
		u := &units[i]
		if p.broken[u.Gang] {
			continue
		}
		p.chargeUnit(u, true)
		why := p.payUnit(o, units[i:])
		if why == "" {
			continue
		}
		p.chargeUnit(u, false)
		if u.Gang != "" {
			p.broken[u.Gang] = true
		}
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
	p.guard(o)
	p.paid = append(p.paid, o)
	return out
}

// units are those of a claim without the claimants that an earlier claim inside it, or around it, has placed.
func (p *planner) units(c *Claim) []unit {
	var out []unit
	for i := range c.Units {
		u := unit{Unit: &c.Units[i]}
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
			u.pods = append(u.pods, asker{Claimant: a, request: p.dense(a.Request, 0), shape: id})
		}
		if len(u.pods) > 0 {
			out = append(out, u)
		}
	}
	return out
}

// payUnit places the first of these units, charged already, as a whole, or says why not.
func (p *planner) payUnit(o *activeClaim, units []unit) reason.UnpaidCause {
	u := &units[0]
	switch {
	case !p.isOwed(o):
		return reason.NothingOwed
	case p.overLimit(o, u):
		return reason.LimitForbids
	case len(o.placed) > 0 && !p.queues[o.Queue].within(o.round):
		return reason.RoundSpent
	}
	if why := p.hopeless(u); why != "" {
		return why
	}
	before := p.f.Commits()
	p.alone = !p.round.any
	why := reason.NoPlace
	var seats []seat
	for _, drivers := range []bool{false, true} {
		h := &hunt{activeClaim: o, lcaBound: p.lcaBound(o), drivers: drivers}
		if seats, why = p.seatAll(h, u, p.wanted(o, units)); why == "" {
			break
		}
		p.rollback(u, seats, before)
		if why == reason.RoundSpent {
			return why
		}
	}
	if why != "" {
		why = p.explain(o)
		if len(u.pods) == 1 {
			p.failed = append(p.failed, failure{asker: u.pods[0], why: why, stamp: p.stamp})
		}
		return why
	}
	o.placed = append(o.placed, placed{unit: u, seats: seats})
	for i, s := range seats {
		p.round.any = p.round.any || len(s.victims) > 0
		p.placed[u.pods[i].UID] = true
	}
	return ""
}

// seatAll finds places for all pods of a unit.
func (p *planner) seatAll(h *hunt, u *unit, wanted int) ([]seat, reason.UnpaidCause) {
	var seats []seat
	for i := range u.pods {
		h.asker = &u.pods[i]
		h.looked, h.tries = false, 0
		p.open()
		if standing := p.rank(h.activeClaim, nil); !slices.Equal(standing, p.standing) {
			p.standing = standing
			p.ranked++
		}
		h.standing = p.standing
		s, why := p.find(h, max(wanted, len(u.pods)-i))
		if why != "" {
			return seats, why
		}
		seats = append(seats, s)
	}
	return seats, ""
}

// wanted is how many claimants in a row, from the first of these units on, are alike and owed together.
func (p *planner) wanted(o *activeClaim, units []unit) int {
	n := 0
	for i := range units {
		u := &units[i]
		if len(u.pods) > 1 || u.pods[0].shape != units[0].pods[0].shape {
			break
		}
		if i > 0 {
			p.chargeUnit(u, true)
			if !p.isOwed(o) || !p.queues[o.Queue].within(o.round) {
				p.chargeUnit(u, false)
				break
			}
		}
		n++
	}
	for i := 1; i < n; i++ {
		p.chargeUnit(&units[i], false)
	}
	return n
}
