package reservation_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpus(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: n * 1000})
}

func guarantees(p reservation.Plan, now, lead int64) string {
	var out []string
	for _, g := range p.Guarantees(now, lead) {
		out = append(out, g.Name+"("+g.Amounts.String()+")")
	}
	return strings.Join(out, " ")
}

// a has 6 of 10 cores from 100 to 200, and b has 8 from 200 to 300. Room for b is made 20 seconds before, beside what a has until then.
func TestGuaranteesAreThoseOfTheMomentAndOfTheLeadTime(t *testing.T) {
	p := reservation.Plan{Capacity: cpus(10), Policy: reservation.DefaultPolicy()}
	p, _ = p.Submit(0, "a", "ann", one(cpus(6), 0, 200, 100))
	p, _ = p.Submit(0, "b", "bob", one(cpus(8), 0, 300, 100))
	for _, c := range []struct {
		now  int64
		want string
		next int64
	}{
		{0, "", 80}, {79, "", 80}, {80, "a(cpu=6)", 100}, {100, "a(cpu=6)", 180}, {179, "a(cpu=6)", 180},
		{180, "a(cpu=6) b(cpu=4)", 200}, {200, "b(cpu=8)", 280}, {300, "", math.MaxInt64},
	} {
		if got := guarantees(p, c.now, 20); got != c.want {
			t.Errorf("at %d: %q, want %q", c.now, got, c.want)
		}
		if got := p.NextChange(c.now, 20); got != c.next {
			t.Errorf("at %d the next change is at %d, want %d", c.now, got, c.next)
		}
	}
	if got := guarantees(p, 180, 0); got != "a(cpu=6)" {
		t.Errorf("without a lead time: %q", got)
	}
}

// In a gap between its steps a reservation has no guarantee, and is still at work.
func TestGuaranteesInAGap(t *testing.T) {
	p := reservation.Plan{Capacity: cpus(10), Policy: reservation.DefaultPolicy()}
	p = p.Restored([]reservation.Reservation{
		{Name: "a", Steps: []reservation.Step{{From: 100, To: 200, Amounts: cpus(3)}, {From: 300, To: 400, Amounts: cpus(4)}}}, {Name: "none"},
	}, nil)
	for now, want := range map[int64]string{89: "", 90: "a(cpu=3)", 200: "a()", 289: "a()", 290: "a(cpu=4)", 399: "a(cpu=4)", 400: ""} {
		if got := guarantees(p, now, 10); got != want {
			t.Errorf("at %d: %q, want %q", now, got, want)
		}
	}
}

func TestStartAndEndAreThoseOfThePeriod(t *testing.T) {
	r := reservation.Reservation{Steps: []reservation.Step{{From: 100, To: 200, Amounts: cpus(1)}}}
	for now, want := range map[int64]string{0: "100-200", 150: "100-200", 200: "100-200", 999: "100-200"} {
		if got := fmt.Sprintf("%d-%d", r.Start(now), r.End(now)); got != want {
			t.Errorf("once, at %d: %s, want %s", now, got, want)
		}
	}
	r.Definition.Recurrence = 1000
	for now, want := range map[int64]string{0: "100-200", 199: "100-200", 200: "1100-1200", 1150: "1100-1200", 1199: "1100-1200", 1200: "2100-2200", 9999: "10100-10200"} {
		if got := fmt.Sprintf("%d-%d", r.Start(now), r.End(now)); got != want {
			t.Errorf("again and again, at %d: %s, want %s", now, got, want)
		}
	}
}

// At every second each is guaranteed what it has and no more than it has until the lead time is over; all together no more than the capacity; and what one was
// guaranteed early it keeps until it begins. Between two changes that NextChange tells of, nothing is different.
func TestGuaranteesKeepWhatIsReserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := reservation.Plan{Capacity: cpus(10), Policy: reservation.DefaultPolicy()}
		p.Policy.Period = 60
		for i := range rapid.IntRange(1, 6).Draw(t, "reservations") {
			d := one(cpus(rapid.Int64Range(1, 10).Draw(t, "cores")), 0, rapid.Int64Range(1, 60).Draw(t, "deadline"), rapid.Int64Range(1, 20).Draw(t, "duration"))
			d.Recurrence = rapid.SampledFrom([]int64{0, 0, 60}).Draw(t, "recurrence")
			p, _ = p.Submit(0, fmt.Sprint(i), "ann", d)
		}
		lead := rapid.Int64Range(0, 15).Draw(t, "lead")
		next, before := int64(0), ""
		early := map[string]resource.List{}
		for now := range int64(150) {
			all := cpus(0)
			has := map[string]reservation.Guarantee{}
			for _, g := range p.Guarantees(now, lead) {
				all = all.Add(g.Amounts)
				has[g.Name] = g
			}
			if !all.Fits(p.Capacity) {
				t.Fatalf("at %d %s are guaranteed", now, all)
			}
			phases := ""
			for _, r := range p.Accepted {
				most := cpus(0)
				for at := now; at <= now+lead; at++ {
					most = most.Max(r.At(at))
				}
				is := has[r.Name].Amounts
				if !is.Fits(most) || !r.At(now).Fits(is) {
					t.Fatalf("at %d %s is guaranteed %s of %s", now, r.Name, is, most)
				}
				if r.At(now).IsZero() && !early[r.Name].Fits(is) && r.At(now-1).IsZero() {
					t.Fatalf("at %d %s is guaranteed %s, and was guaranteed %s", now, r.Name, is, early[r.Name])
				}
				early[r.Name] = is
				phases += fmt.Sprint(r.Phase(now))
			}
			if text := guarantees(p, now, lead) + phases; now >= next {
				next, before = p.NextChange(now, lead), text
			} else if text != before {
				t.Fatalf("at %d %s, before %s, and the next change was to be at %d", now, text, before, next)
			}
		}
	})
}
