package reservation

import (
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// check refuses what fits no plan of this capacity, whatever is reserved already.
func (p Plan) check(now int64, d Definition) Refusal {
	if len(d.Requests) == 0 {
		return Refusal{Code: NoRequests, Field: "requests"}
	}
	for i, r := range d.Requests {
		if refusal := r.check(i); refusal.Code != "" {
			return refusal
		}
	}
	limit := p.limit()
	for i, r := range d.wholeRequests().Requests {
		gang := r.gang()
		for j := range gang.Len() {
			if e := gang.At(j); e.Value > limit.Get(e.Name) {
				return Refusal{Code: GangTooLarge, Field: field(i, ""), Resource: e.Name, Asked: e.Value, Limit: limit.Get(e.Name)}
			}
		}
	}
	if refusal := p.checkRecurrence(d); refusal.Code != "" {
		return refusal
	}
	from, to := d.window(now)
	switch {
	case to <= now:
		return Refusal{Code: DeadlinePassed, Field: "deadline", From: now, To: to}
	case to > now+p.Policy.Horizon:
		return Refusal{Code: DeadlineTooFar, Field: "deadline", From: now, To: to, Limit: now + p.Policy.Horizon}
	case to-from < d.shortest():
		return Refusal{Code: WindowTooShort, Field: "deadline", From: from, To: to, Asked: d.shortest()}
	}
	return Refusal{}
}

// check refuses a request that contradicts itself.
func (r Request) check(i int) Refusal {
	atLeastOne := func(name string, n int64) Refusal {
		return Refusal{Code: RequestInvalid, Field: field(i, name), Asked: n, Limit: 1}
	}
	switch {
	case r.Pods < 1:
		return atLeastOne(".pods", r.Pods)
	case r.Duration < 1:
		return atLeastOne(".duration", r.Duration)
	case r.Concurrency < 1:
		return atLeastOne(".concurrency", r.Concurrency)
	case r.Pods%r.Concurrency != 0:
		return Refusal{Code: PodsNotWholeGangs, Field: field(i, ".pods"), Asked: r.Pods, Limit: r.Concurrency}
	}
	some := false
	for j := range r.Resources.Len() {
		if r.Resources.At(j).Value < 0 {
			return Refusal{Code: ResourcesInvalid, Field: field(i, ".resources"), Resource: r.Resources.At(j).Name, Asked: r.Resources.At(j).Value}
		}
		some = some || r.Resources.At(j).Value > 0
	}
	if !some {
		return Refusal{Code: ResourcesInvalid, Field: field(i, ".resources")}
	}
	return Refusal{}
}

// checkRecurrence refuses a recurrence that does not divide the period of the plan, or whose periods overlap.
func (p Plan) checkRecurrence(d Definition) Refusal {
	refusal := Refusal{Code: RecurrenceInvalid, Field: "recurrence", Asked: d.Recurrence, Limit: p.Policy.Period}
	switch between := resource.SatSub(d.Deadline, d.Arrival); {
	case d.Recurrence == 0:
		return Refusal{}
	case d.Recurrence < 0 || p.Policy.Period%d.Recurrence != 0:
		return refusal
	case between > d.Recurrence:
		return Refusal{Code: RecurrenceTooShort, Field: "recurrence", Asked: d.Recurrence, Limit: between}
	case between < d.shortest(): // of no period is there enough
		return Refusal{Code: WindowTooShort, Field: "deadline", From: d.Arrival, To: d.Deadline, Asked: d.shortest()}
	}
	return Refusal{}
}

func field(request int, name string) string { return "requests[" + strconv.Itoa(request) + "]" + name }
