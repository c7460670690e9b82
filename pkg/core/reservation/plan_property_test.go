package reservation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
)

var runs = flag.Int("runs", 2000, "random plans that TestPlansEqualTheirTwin compares")

// Everything that a plan answers is what a twin answers that goes through time unit by unit; and whatever both say, the promises hold.
func TestPlansEqualTheirTwin(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(*runs) {
		w := newWorld(seed)
		for step := range 6 + w.rand.IntN(14) {
			if problem := w.step(counts); problem != "" {
				t.Fatalf("seed %d, step %d: %s\n%s", seed, step, problem, w.log)
			}
			if problem := w.promises(); problem != "" {
				t.Fatalf("seed %d, step %d: %s\n%s", seed, step, problem, w.log)
			}
		}
	}
	for _, what := range []string{
		"Accepted", "Updated", "Kept", "Unchanged", "Rejected", "dropped", "nearest",
		"All", "Any", "Order", "OrderNoGap", "recurs", "in pieces", "the past counts",
		"NoRoom", "AverageExceeded", "GangTooLarge", "WindowTooShort", "DeadlinePassed", "DeadlineTooFar",
	} {
		if counts[what] == 0 {
			t.Errorf("no world has: %s", what)
		}
	}
	t.Log(counts)
}

// world is a plan and its twin.
type world struct {
	rand   *rand.Rand
	plan   reservation.Plan
	twin   twin
	shrunk bool
	log    string
}

func newWorld(seed uint64) *world {
	w := &world{rand: rand.New(rand.NewPCG(seed, 0))}
	w.twin = twin{capacity: amounts{4 + w.rand.Int64N(9), 8 + w.rand.Int64N(9)}, now: 20, policy: reservation.Policy{
		InstantaneousShare: queue.Whole, AverageShare: queue.Whole, Window: 1 + w.rand.Int64N(12), EnforcementWindow: 1 + w.rand.Int64N(15),
		Period: 12, Horizon: 30,
	}}
	if w.rand.IntN(3) == 0 {
		w.twin.policy.InstantaneousShare = queue.Whole * (50 + w.rand.Int64N(51)) / 100
	}
	if w.rand.IntN(2) == 0 {
		w.twin.policy.AverageShare = queue.Whole * (20 + w.rand.Int64N(81)) / 100
	}
	w.plan = reservation.Plan{Capacity: w.twin.capacity.list(), Policy: w.twin.policy}
	w.log = fmt.Sprintf("capacity %v, %+v\n", w.twin.capacity, w.twin.policy)
	return w
}

func (w *world) definition() reservation.Definition {
	d := reservation.Definition{Interpreter: reservation.Interpreter(w.rand.IntN(4)), Arrival: w.twin.now - 3 + w.rand.Int64N(15)}
	d.Deadline = d.Arrival + 1 + w.rand.Int64N(20)
	if w.rand.IntN(2) == 0 { // soon: the past counts in its averages
		d.Arrival = w.twin.now - 2 + w.rand.Int64N(5)
		d.Deadline = d.Arrival + 2 + w.rand.Int64N(8)
	}
	if w.rand.IntN(3) == 0 {
		d.Recurrence = []int64{3, 4, 6, 12, 12, 12, 5}[w.rand.IntN(7)]
		if w.rand.IntN(10) > 0 {
			d.Deadline = d.Arrival + 1 + w.rand.Int64N(d.Recurrence)
		}
	}
	for range 1 + w.rand.IntN(3) {
		r := reservation.Request{Concurrency: 1 + w.rand.Int64N(3), Duration: 1 + w.rand.Int64N(5)}
		if w.rand.IntN(2) == 0 {
			r.Concurrency = 1
		}
		r.Pods = r.Concurrency * (1 + w.rand.Int64N(4))
		r.Resources = amounts{1 + w.rand.Int64N(3), w.rand.Int64N(4)}.list()
		d.Requests = append(d.Requests, r)
	}
	return d
}

func (w *world) step(counts map[string]int) string {
	switch w.rand.IntN(14) {
	case 0, 12, 13:
		w.twin.now = min(w.twin.now+1+w.rand.Int64N(8), 70)
		w.log += fmt.Sprintf("now %d\n", w.twin.now)
		w.plan = w.plan.Advance(w.twin.now)
		for i := len(w.twin.accepted) - 1; i >= 0; i-- {
			if b := w.twin.accepted[i]; b.d.Recurrence == 0 && b.last <= w.twin.now {
				w.twin.cancel(b.name)
			}
		}
	case 1:
		name := w.name()
		w.log += "cancel " + name + "\n"
		w.plan = w.plan.Cancel(w.twin.now, name)
		w.twin.cancel(name)
	case 2:
		if w.rand.IntN(2) == 0 {
			w.shrunk = true
			w.twin.capacity = amounts{2 + w.rand.Int64N(11), 4 + w.rand.Int64N(13)}
			w.log += fmt.Sprintf("capacity %v\n", w.twin.capacity)
			w.plan.Capacity = w.twin.capacity.list()
		}
		var got []string
		var dropped []reservation.Dropped
		w.plan, dropped = w.plan.Enforce(w.twin.now)
		for _, d := range dropped {
			got = append(got, d.Reservation.Name)
			counts["dropped"]++
		}
		if want := w.twin.enforce(); !slices.Equal(got, want) {
			return fmt.Sprintf("dropped %v, want %v", got, want)
		}
	default:
		return w.submit(counts)
	}
	return ""
}

func (w *world) name() string { return string(rune('a' + w.rand.IntN(6))) }

func (w *world) submit(counts map[string]int) string {
	name, user, d := w.name(), "u"+w.name()[:1], w.definition()
	user = []string{"ann", "bob"}[user[1]%2]
	known := w.twin.find(name)
	if known >= 0 && w.rand.IntN(5) == 0 {
		d = w.twin.accepted[known].d
	}
	w.log += fmt.Sprintf("submit %s of %s: %+v\n", name, user, d)
	before := w.plan
	var v reservation.Verdict
	w.plan, v = w.plan.Submit(w.twin.now, name, user, d)
	counts[[]string{"Rejected", "Kept", "Accepted", "Updated", "Unchanged"}[v.Outcome]]++
	if known >= 0 && w.twin.accepted[known].d.Equal(d) {
		if v.Outcome != reservation.Unchanged || !cmp.Equal(before.Booked(0, end), w.plan.Booked(0, end)) {
			return fmt.Sprintf("the same again: %+v", v)
		}
		return ""
	}
	old := w.twin
	code, blocks := w.twin.submit(name, user, d)
	if v.Refusal.Code != code {
		return fmt.Sprintf("%q %s, want %q", v.Refusal.Code, v.Refusal.Text(), code)
	}
	counts[string(code)]++
	if code == reservation.AverageExceeded {
		forgetful := old
		forgetful.gone = nil
		if code, _ := forgetful.submit(name, user, d); code == "" {
			counts["the past counts"]++
		}
	}
	if !slices.Equal(v.Blocks, blocks) {
		return fmt.Sprintf("placed at %+v, want %+v", v.Blocks, blocks)
	}
	want := map[bool]reservation.Outcome{false: reservation.Rejected, true: reservation.Kept}[known >= 0]
	if code == "" {
		want = map[bool]reservation.Outcome{false: reservation.Accepted, true: reservation.Updated}[known >= 0]
		w.count(counts, v.Blocks, d)
	}
	if v.Outcome != want {
		return fmt.Sprintf("outcome %v, want %v", v.Outcome, want)
	}
	return w.checkNearest(counts, old, v, name, user, d)
}

func (w *world) count(counts map[string]int, blocks []reservation.Block, d reservation.Definition) {
	counts[d.Interpreter.String()]++
	if d.Recurrence > 0 {
		counts["recurs"]++
	}
	for i := range blocks[1:] {
		if blocks[i].Request == blocks[i+1].Request {
			counts["in pieces"]++
		}
	}
}

// A deadline that a refusal names is one that fits, and for one request it is the earliest.
func (w *world) checkNearest(counts map[string]int, old twin, v reservation.Verdict, name, user string, d reservation.Definition) string {
	if fits := v.Refusal.Fits; fits > 0 {
		counts["nearest"]++
		later := d
		later.Deadline = fits
		if _, again := w.plan.Submit(w.twin.now, name, user, later); again.Refusal.Code != "" || fits <= d.Deadline {
			return fmt.Sprintf("it does not fit with deadline %d: %s", fits, again.Refusal.Text())
		}
	}
	if v.Refusal.Searched > 0 && len(d.Requests) == 1 && d.Recurrence == 0 {
		if want, sure := old.nearest(name, user, d); sure && want != v.Refusal.Fits {
			return fmt.Sprintf("fits with deadline %d, want %d", v.Refusal.Fits, want)
		}
	}
	return w.keepsWindow(v, d)
}

// keepsWindow says what is wrong with the blocks by the words of the definition.
func (w *world) keepsWindow(v reservation.Verdict, d reservation.Definition) string {
	if len(v.Blocks) == 0 {
		return ""
	}
	pods := make([]int64, len(d.Requests))
	from, to := make([]int64, len(pods)), make([]int64, len(pods))
	for i := range from {
		from[i] = end
	}
	arrival, deadline := d.Arrival, d.Deadline
	for d.Recurrence > 0 && deadline-w.twin.now < shortest(d) {
		arrival, deadline = arrival+d.Recurrence, deadline+d.Recurrence
	}
	for _, b := range v.Blocks {
		if b.Pods%d.Requests[b.Request].Concurrency != 0 {
			return fmt.Sprintf("%+v is not in whole gangs", b)
		}
		if b.From < max(arrival, w.twin.now) || b.To > deadline || b.To-b.From != d.Requests[b.Request].Duration {
			return fmt.Sprintf("%+v is not between arrival and deadline", b)
		}
		pods[b.Request] += b.Pods
		from[b.Request], to[b.Request] = min(from[b.Request], b.From), max(to[b.Request], b.To)
	}
	placed := 0
	for i, r := range d.Requests {
		if pods[i] == r.Pods {
			placed++
		} else if pods[i] != 0 {
			return fmt.Sprintf("request %d has %d pods", i, pods[i])
		}
		gap := d.Interpreter == reservation.OrderNoGap
		if i > 0 && (d.Interpreter == reservation.Order || gap) && (to[i-1] > from[i] || gap && to[i-1] != from[i]) {
			return fmt.Sprintf("request %d ends at %d, the next begins at %d", i-1, to[i-1], from[i])
		}
	}
	if want := map[bool]int{true: 1, false: len(pods)}[d.Interpreter == reservation.Any]; placed != want {
		return fmt.Sprintf("%d requests are placed, want %d", placed, want)
	}
	if d.Interpreter == reservation.OrderNoGap {
		for i := 1; i < len(v.Reservation.Steps); i++ {
			if v.Reservation.Steps[i].From != v.Reservation.Steps[i-1].To {
				return fmt.Sprintf("a gap before %d", v.Reservation.Steps[i].From)
			}
		}
	}
	return ""
}

// promises says which promise the plan breaks: the sum at each instant, the average of each user, and that both plans have the same.
func (w *world) promises() string {
	limit := w.twin.limit()
	for at := w.twin.now; at < end-w.twin.policy.Window; at++ {
		var sum amounts
		for i, r := range w.plan.Accepted {
			got := amountsOf(r.At(at))
			if want := w.twin.accepted[i].use[at]; got != want {
				return fmt.Sprintf("%s has %v at %d, want %v", r.Name, got, at, want)
			}
			sum[0], sum[1] = sum[0]+got[0], sum[1]+got[1]
		}
		if !w.shrunk && (sum[0] > limit[0] || sum[1] > limit[1]) {
			return fmt.Sprintf("at %d reservations have %v of %v", at, sum, limit)
		}
		var booked amounts
		if steps := w.plan.Booked(at, at+1); len(steps) > 0 {
			booked = amountsOf(steps[0].Amounts)
		}
		if booked != sum {
			return fmt.Sprintf("booked at %d: %v, want %v", at, booked, sum)
		}
	}
	if w.shrunk {
		return ""
	}
	for _, user := range []string{"ann", "bob"} {
		for i := range w.twin.accepted {
			without := w.twin
			b := without.accepted[i]
			without.accepted = slices.Delete(slices.Clone(without.accepted), i, i+1)
			if b.user == user && !without.averages(user, b.use) {
				return "the average of " + user + " is too high"
			}
		}
	}
	return ""
}
