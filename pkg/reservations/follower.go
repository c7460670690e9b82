package reservations

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Queue is a reservable queue.
type Queue struct {
	Path queue.Path
	// InForce: Capacity is known. Otherwise nothing is accepted there, and nothing is cancelled.
	InForce  bool
	Capacity resource.List // what it is entitled to
	Policy   reservation.Policy
	Lead     int64 // how many seconds before a step room is made for it
}

// Child is a queue that is needed below a reservable one.
type Child struct {
	Path queue.Path
	// For is namespace/name of the Reservation; "": the queue is for the other pods.
	For        string
	Reserved   resource.List // what it has at the moment, or is about to have
	Guaranteed resource.List // that, and of other resources what keeps the rest in proportion
}

// Result is what a step comes to.
type Result struct {
	Statuses map[string]Status // of every object, by namespace/name
	Children []Child           // parents are the reservable queues, in the order of their names
	Next     int64             // when something changes by itself, in seconds; math.MaxInt64: never
}

// Follower knows the plans.
type Follower struct {
	plans        map[queue.Path]*plan
	entries      map[string]*entry
	lastAccepted int64
}

// plan is that of one queue.
type plan struct {
	reservation.Plan
	Queue
}

// entry is what is known of one object.
type entry struct {
	Object
	Status
}

// New returns a Follower that knows nothing yet.
func New() *Follower {
	return &Follower{plans: map[queue.Path]*plan{}, entries: map[string]*entry{}}
}

// Step takes in what there is now (unix nanoseconds) and decides.
func (f *Follower) Step(now int64, queues []Queue, objects []Object) Result {
	seconds := now / 1e9
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(a, b Object) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Key(), b.Key())) })
	f.takeIn(seconds, objects)
	f.plan(seconds, queues)
	for _, p := range f.plans { // each for itself: order does not matter
		f.advance(p, seconds)
	}
	for i := range objects {
		f.decide(f.entries[objects[i].Key()], now)
	}
	result := Result{Statuses: make(map[string]Status, len(objects)), Next: math.MaxInt64}
	for _, path := range f.Queues() {
		p := f.plans[path]
		result.Children = append(result.Children, f.children(p, seconds)...)
		result.Next = min(result.Next, p.NextChange(seconds, p.Lead))
	}
	for key, e := range f.entries { // into a map: order does not matter
		result.Statuses[key] = e.Status
	}
	return result
}

// takeIn enters new objects with the status that is stored of them, and gives back what deleted ones had.
func (f *Follower) takeIn(now int64, objects []Object) {
	seen := make(map[string]bool, len(objects))
	for i := range objects {
		o := &objects[i]
		seen[o.Key()] = true
		if e := f.entries[o.Key()]; e != nil && e.UID == o.UID && e.Queue == o.Queue {
			e.Object = *o
			continue
		}
		f.forget(o.Key(), now)
		e := &entry{Object: *o, Status: o.Stored}
		f.entries[o.Key()] = e
		f.lastAccepted = max(f.lastAccepted, e.AcceptedTime)
		if p := f.plans[o.Queue]; p != nil && e.inPlan() {
			p.Plan.Accepted = append(slices.Clip(p.Plan.Accepted), e.reservation())
		}
	}
	for key := range f.entries { // each for itself: order does not matter
		if !seen[key] {
			f.forget(key, now)
		}
	}
}

func (f *Follower) forget(key string, now int64) {
	e := f.entries[key]
	if e == nil {
		return
	}
	delete(f.entries, key)
	if p := f.plans[e.Queue]; p != nil {
		p.Plan = p.Cancel(now, key)
	}
}

// plan takes in which queues are reservable. What is reserved in others is cancelled.
func (f *Follower) plan(now int64, queues []Queue) {
	there := make(map[queue.Path]bool, len(queues))
	for _, q := range queues {
		there[q.Path] = true
		p := f.plans[q.Path]
		if p == nil {
			p = &plan{Plan: reservation.Plan{Policy: q.Policy}}
			p.Plan = f.restored(p.Plan, q.Path, now)
			f.plans[q.Path] = p
		}
		if !q.InForce {
			q.Capacity = p.Plan.Capacity
		}
		p.Queue, p.Plan.Capacity, p.Plan.Policy = q, q.Capacity, q.Policy
	}
	for path := range f.plans { // each for itself: order does not matter
		if !there[path] {
			delete(f.plans, path)
		}
	}
	for _, e := range f.entries {
		if e.inPlan() && f.plans[e.Queue] == nil {
			e.cancel(notReservable(e.Queue))
		}
	}
}

// restored returns the plan of a queue as the statuses have it.
func (f *Follower) restored(p reservation.Plan, path queue.Path, now int64) reservation.Plan {
	var accepted []*entry
	var past []reservation.Past
	for _, key := range slices.Sorted(maps.Keys(f.entries)) {
		switch e := f.entries[key]; {
		case e.Queue != path || len(e.Steps) == 0:
		case e.inPlan():
			accepted = append(accepted, e)
		default:
			past = append(past, p.Had(e.reservation(), now)...)
		}
	}
	slices.SortStableFunc(accepted, func(a, b *entry) int { return cmp.Compare(a.AcceptedTime, b.AcceptedTime) })
	all := make([]reservation.Reservation, len(accepted))
	for i, e := range accepted {
		all[i] = e.reservation()
	}
	return p.Restored(all, past)
}

// advance takes out of a plan what has ended, and what has no room in it any more.
func (f *Follower) advance(p *plan, now int64) {
	before := p.Plan.Accepted
	p.Plan = p.Advance(now)
	for _, r := range before {
		if r.Phase(now) == reservation.PhaseEnded {
			f.entries[r.Name].end()
		}
	}
	if !p.InForce {
		return
	}
	next, dropped := p.Enforce(now)
	p.Plan = next
	for i := range dropped {
		f.entries[dropped[i].Reservation.Name].cancel(Refusal{Reason: ReasonLessCapacity, Message: dropped[i].Text()})
	}
}

// decide submits a spec that was not decided on yet.
func (f *Follower) decide(e *entry, now int64) {
	if e.ObservedGeneration == e.Generation || e.Unchecked {
		return
	}
	p := f.plans[e.Queue]
	switch {
	case e.Invalid != "":
		e.refuse(Refusal{Reason: ReasonInvalid, Message: e.Invalid})
		return
	case e.Forbidden != "":
		e.refuse(Refusal{Reason: ReasonForbidden, Field: "queue", Message: e.Forbidden})
		return
	case p == nil:
		e.pending(notReservable(e.Queue))
		return
	case !p.InForce:
		e.pending(Refusal{Reason: ReasonQueueNotReady, Message: "queue " + string(e.Queue) + " is not in force"})
		return
	}
	next, v := p.Submit(now/1e9, e.Key(), e.User, e.Definition)
	p.Plan = next
	switch v.Outcome {
	case reservation.Accepted, reservation.Updated:
		f.lastAccepted = max(now/1e3, f.lastAccepted+1)
		e.accept(v.Reservation, f.lastAccepted)
	case reservation.Unchanged:
		e.Refusal = Refusal{}
	default:
		e.refuse(Refusal{Reason: string(v.Refusal.Code), Field: v.Refusal.Field, Message: v.Refusal.Text(), Fits: v.Refusal.Fits})
		p.forgetDefinition(e)
		return
	}
	e.ObservedGeneration = e.Generation
}

// forgetDefinition leaves of a reservation, of which an update was refused, what a status keeps. So it makes no difference who leads.
func (p *plan) forgetDefinition(e *entry) {
	if i := slices.IndexFunc(p.Plan.Accepted, func(r reservation.Reservation) bool { return r.Name == e.Key() }); i >= 0 {
		p.Plan.Accepted = slices.Clone(p.Plan.Accepted)
		p.Plan.Accepted[i] = e.reservation()
	}
}

// children brings the reservations of a plan up to date, and returns the queues that are needed below its queue.
func (f *Follower) children(p *plan, now int64) []Child {
	out := []Child{{Path: p.Path.PlanDefault()}}
	guarantees := p.Guarantees(now, p.Lead)
	taken := make(map[queue.Path]bool, len(guarantees))
	guaranteed := make(map[string]bool, len(guarantees))
	for _, g := range guarantees {
		guaranteed[g.Name] = true
		if at := f.entries[g.Name].At; at != "" {
			taken[at] = true // it stays where it is
		}
	}
	for i, wide := range p.InProportion(guarantees) {
		g := guarantees[i]
		e := f.entries[g.Name]
		if e.At == "" {
			e.At = e.child(taken)
			taken[e.At] = true
		}
		out = append(out, Child{Path: e.At, For: g.Name, Reserved: g.Amounts, Guaranteed: wide.Amounts})
	}
	for _, r := range p.Plan.Accepted {
		e := f.entries[r.Name]
		e.Start, e.Phase = r.Start(now), PhaseAccepted
		if r.Phase(now) == reservation.PhaseActive {
			e.Phase = PhaseActive
		}
		if !guaranteed[r.Name] {
			e.At = ""
		}
	}
	return out
}

// Queues are the reservable queues, in the order of their names.
func (f *Follower) Queues() []queue.Path {
	return slices.SortedFunc(maps.Keys(f.plans), queue.ComparePaths)
}

// Plan returns the plan of a queue.
func (f *Follower) Plan(path queue.Path) (reservation.Plan, bool) {
	p := f.plans[path]
	if p == nil {
		return reservation.Plan{}, false
	}
	return p.Plan, true
}
