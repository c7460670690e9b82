package reservation_test

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// full returns a plan of 1000 cores with that many reservations of one step each, over a month, of ten users.
func full(steps int) reservation.Plan {
	p := reservation.Plan{Capacity: cores(1000), Policy: reservation.DefaultPolicy()}
	for i := range int64(steps) {
		from := i * 30 * day / int64(steps)
		p.Accepted = append(p.Accepted, reservation.Reservation{
			Name: fmt.Sprint("r", i), User: fmt.Sprint("u", i%10),
			Steps: []reservation.Step{{From: from, To: from + hour + i%7*minute, Amounts: cores(1 + i%30)}},
		})
	}
	return p
}

func cores(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: 1000 * n}, resource.Entry{Name: resource.Memory, Value: n << 32})
}

// BenchmarkSubmit places one more definition beside 10,000 steps.
func BenchmarkSubmit(b *testing.B) {
	p := full(10_000)
	for name, d := range map[string]reservation.Definition{
		"once in an hour": {Arrival: 10 * day, Deadline: 10*day + 2*hour, Requests: requests(100)},
		"once in a month": {Arrival: day, Deadline: 30 * day, Requests: requests(900)},
		"every night":     {Arrival: day, Deadline: day + 6*hour, Recurrence: day, Requests: requests(100)},
		"in order":        {Arrival: day, Deadline: 20 * day, Interpreter: reservation.OrderNoGap, Requests: requests(800, 700, 600)},
		"it does not fit": {Arrival: day, Deadline: day + 2*hour, Requests: requests(1000)},
		"it never recurs": {Arrival: day, Deadline: day + 6*hour, Recurrence: day, Requests: requests(900)},
		"too large":       {Arrival: day, Deadline: day + 6*hour, Requests: []reservation.Request{{Pods: 1, Resources: cores(1001), Duration: hour, Concurrency: 1}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, v := p.Submit(day, "new", "u3", d)
				if v.Outcome != reservation.Accepted && v.Refusal.Code == "" {
					b.Fatal(v.Outcome)
				}
			}
		})
	}
}

func requests(pods ...int64) (out []reservation.Request) {
	for _, n := range pods {
		out = append(out, reservation.Request{Pods: n, Resources: cores(1), Duration: hour, Concurrency: 10})
	}
	return out
}

// BenchmarkEnforce drops a tenth of 10,000 steps.
func BenchmarkEnforce(b *testing.B) {
	p := full(10_000)
	p.Capacity, p.Policy.EnforcementWindow = cores(200), 3*day
	for b.Loop() {
		if _, dropped := p.Enforce(0); len(dropped) == 0 {
			b.Fatal("nothing was dropped")
		}
	}
}
