package reservation

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// maxSteps is how many blocks a definition may have in all periods of its recurrence: they are stored in its object, and every placement reads them.
const maxSteps = 1000

// agent places the requests of a definition as late as possible: what comes later finds room nearer to the present.
type agent struct {
	Definition
	from   int64 // nothing is placed before
	room   *freeRoom
	blocks []Block
	most   int // blocks
	short  shortfall
}

// shortfall is which request could not be placed.
type shortfall struct {
	request  int
	deadline int64
	gangs    int64 // that had room
}

// place places the definition before the deadline, or returns false.
func (a *agent) place(room *freeRoom, deadline int64) bool {
	a.begin(room)
	switch a.Interpreter {
	case Any:
		for i := range a.Requests {
			if a.spread(i, deadline) {
				return true
			}
			a.begin(room)
		}
		return false
	case All:
		for i := range a.Requests {
			if !a.spread(i, deadline) {
				return false
			}
		}
		return true
	case Order:
		for i := len(a.Requests) - 1; i >= 0; i-- {
			if !a.spread(i, deadline) {
				return false
			}
			deadline = a.blocks[len(a.blocks)-1].From
		}
		return true
	}
	return a.together(deadline)
}

func (a *agent) begin(room *freeRoom) { a.room, a.blocks = room.clone(), nil }

// spread places the gangs of a request, as many together as fit, the others earlier.
func (a *agent) spread(i int, deadline int64) bool {
	r := a.Requests[i]
	gang := a.room.amounts(r.gang())
	to := deadline
	for left := r.gangs(); left > 0; {
		if to-r.Duration < a.from || len(a.blocks) >= a.most {
			a.short = shortfall{request: i, deadline: deadline, gangs: r.gangs() - left}
			return false
		}
		n, full := a.room.fits(gang, to-r.Duration, to)
		if n == 0 {
			to = full
			continue
		}
		n = min(n, left)
		a.room.take(gang, n, to-r.Duration, to)
		a.blocks = append(a.blocks, Block{Request: i, Pods: n * r.Concurrency, From: to - r.Duration, To: to})
		left -= n
	}
	return true
}

// together places the requests end to end, as late as possible.
func (a *agent) together(deadline int64) bool {
	for end := deadline; ; {
		next, ok := a.chain(end)
		if ok || next < a.from {
			a.short.deadline = deadline
			return ok
		}
		end = next
	}
}

// chain places the requests so that the last ends at this instant. If one has no room, it returns the next earlier end with which that may be different.
func (a *agent) chain(end int64) (next int64, ok bool) {
	a.blocks = nil
	to := end
	for i := len(a.Requests) - 1; i >= 0; i-- {
		r := a.Requests[i]
		a.short.request = i
		if to-r.Duration < a.from || len(a.blocks) >= a.most {
			return a.from - 1, false
		}
		if n, full := a.room.fits(a.room.amounts(r.gang()), to-r.Duration, to); n == 0 {
			return full + end - to, false
		}
		a.blocks = append(a.blocks, Block{Request: i, Pods: r.Pods, From: to - r.Duration, To: to})
		to -= r.Duration
	}
	return end, true
}

// search looks for a place of a definition in a plan.
type search struct {
	plan Plan
	now  int64
	user string
	room *freeRoom
	from int64 // of room
	to   int64
}

// try places a definition.
func (s *search) try(d Definition) ([]Block, Refusal) {
	if refusal := s.plan.check(s.now, d); refusal.Code != "" {
		return nil, refusal
	}
	from, to := d.window(s.now)
	s.look(d, from, to)
	periods := int64(1)
	if d.Recurrence > 0 {
		periods = s.plan.Policy.Period / d.Recurrence
	}
	a := agent{Definition: d.wholeRequests(), from: from, most: int(maxSteps / periods)}
	if !a.place(s.room, to) {
		r := a.Requests[a.short.request]
		refusal := Refusal{
			Code: NoRoom, Field: field(a.short.request, ""), Gang: r.gang(), Asked: r.gangs(), Limit: a.short.gangs,
			From: from, To: a.short.deadline, Duration: r.Duration,
		}
		if len(a.blocks) >= a.most {
			refusal.Code, refusal.Limit = TooManySteps, int64(a.most)
		}
		return nil, refusal
	}
	return a.blocks, s.plan.average(Reservation{User: s.user, Definition: d, Steps: stepsOf(a.blocks, d.Requests)})
}

// look makes sure that room is that of these instants, or of the periods from then on.
func (s *search) look(d Definition, from, to int64) {
	if s.room != nil && s.from == from && (to <= s.to || d.Recurrence > 0) {
		return
	}
	if d.Recurrence > 0 {
		s.room = s.plan.freeEvery(from, d.Recurrence)
	} else {
		if s.room != nil { // other deadlines will follow
			to = s.now + s.plan.Policy.Horizon
		}
		s.room = s.plan.free(from, to)
	}
	s.from, s.to = from, to
}

// put places a reservation, or says why not, and with which deadline it would fit.
func (p Plan) put(now int64, r *Reservation) ([]Block, Refusal) {
	s := search{plan: p, now: now, user: r.User}
	blocks, refusal := s.try(r.Definition)
	if refusal.Code == "" {
		r.Steps = stepsOf(blocks, r.Definition.Requests)
		return blocks, refusal
	}
	if refusal.mayFitLater() {
		refusal.Searched = now + p.Policy.Horizon
		if d := r.Definition; d.Recurrence > 0 {
			refusal.Searched = resource.SatAdd(d.Arrival, d.Recurrence)
		}
		refusal.Fits = s.nearest(r.Definition, refusal.Searched)
	}
	return nil, refusal
}

// nearest returns a later deadline with which the definition fits, 0 if it finds none. With one request it is the earliest there is, unless an average
// stands in the way: with several, an earlier one may do that the agent fails to use.
func (s *search) nearest(d Definition, last int64) int64 {
	fits := func(deadline int64) bool {
		d.Deadline = deadline
		_, refusal := s.try(d)
		return refusal.Code == ""
	}
	low := max(d.Deadline, resource.SatAdd(max(d.Arrival, s.now), d.shortest())-1)
	high := low
	for step := int64(1); high == low || !fits(high); step *= 2 {
		if high >= last {
			return 0
		}
		low, high = high, min(high+step, last)
	}
	for low+1 < high {
		if middle := low + (high-low)/2; fits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
