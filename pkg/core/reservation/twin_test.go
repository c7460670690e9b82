package reservation_test

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// end is after everything that a random world plans.
const end = 160

var names = [2]resource.Name{"cpu", "memory"}

// amounts are those of cpu and memory in one unit of time.
type amounts [2]int64

func amountsOf(l resource.List) amounts { return amounts{l.Get(names[0]), l.Get(names[1])} }

func (a amounts) list() resource.List {
	return resource.Of(resource.Entry{Name: names[0], Value: a[0]}, resource.Entry{Name: names[1], Value: a[1]})
}

// twin plans by brute force: it has a number for every unit of time, and tries every unit.
type twin struct {
	capacity amounts
	policy   reservation.Policy
	now      int64
	accepted []booking
	gone     []booking // what they had before they went still counts in averages
}

type booking struct {
	name, user string
	d          reservation.Definition
	use        [end]amounts
	last       int64 // the end of its first period
}

func (w *twin) limit() (out amounts) {
	for r := range out {
		out[r] = w.capacity[r] * w.policy.InstantaneousShare / queue.Whole
	}
	return out
}

func (w *twin) used(at int64) (sum amounts) {
	for _, b := range w.accepted {
		for r := range sum {
			sum[r] += b.use[at][r]
		}
	}
	return sum
}

func (w *twin) find(name string) int {
	return slices.IndexFunc(w.accepted, func(b booking) bool { return b.name == name })
}

func (w *twin) cancel(name string) {
	if i := w.find(name); i >= 0 {
		b := w.accepted[i]
		for at := w.now; at < end; at++ {
			b.use[at] = amounts{}
		}
		w.gone = append(slices.Clone(w.gone), b)
		w.accepted = slices.Delete(slices.Clone(w.accepted), i, i+1)
	}
}

// attempt is the placing of one definition.
type attempt struct {
	*twin
	d        reservation.Definition
	from, to int64
	own      [end]amounts // in the first period
	blocks   []reservation.Block
}

// free is what is free at an instant of the first period, in all periods.
func (a *attempt) free(at int64) amounts {
	least := amounts{1 << 40, 1 << 40}
	for t := at; t < end; t += a.d.Recurrence {
		used, limit := a.used(t), a.limit()
		for r := range least {
			least[r] = min(least[r], limit[r]-used[r]-a.own[at][r])
		}
		if a.d.Recurrence == 0 {
			break
		}
	}
	return least
}

func (a *attempt) room(gang amounts, from, to int64) int64 {
	n := int64(1 << 40)
	for at := from; at < to; at++ {
		free := a.free(at)
		for r := range free {
			if gang[r] > 0 {
				n = min(n, max(free[r], 0)/gang[r])
			}
		}
	}
	return n
}

// spread places one request as late as possible.
func (a *attempt) spread(i int, deadline int64) bool {
	r := a.d.Requests[i]
	gang, left := amountsOf(r.Resources), r.Pods/r.Concurrency
	for k := range gang {
		gang[k] *= r.Concurrency
	}
	for to := deadline; left > 0; to-- {
		from := to - r.Duration
		if from < a.from {
			return false
		}
		n := min(left, a.room(gang, from, to))
		if n == 0 {
			continue
		}
		for at := from; at < to; at++ {
			for k := range gang {
				a.own[at][k] += n * gang[k]
			}
		}
		a.blocks = append(a.blocks, reservation.Block{Request: i, Pods: n * r.Concurrency, From: from, To: to})
		left -= n
	}
	return true
}

func (a *attempt) reset() { a.own, a.blocks = [end]amounts{}, nil }

func (a *attempt) place() bool {
	switch a.d.Interpreter {
	case reservation.Any:
		for i := range a.d.Requests {
			if a.reset(); a.spread(i, a.to) {
				return true
			}
		}
		return false
	case reservation.All:
		for i := range a.d.Requests {
			if !a.spread(i, a.to) {
				return false
			}
		}
		return true
	case reservation.Order:
		deadline := a.to
		for i := len(a.d.Requests) - 1; i >= 0; i-- {
			if !a.spread(i, deadline) {
				return false
			}
			deadline = a.blocks[len(a.blocks)-1].From
		}
		return true
	}
	for to := a.to; to >= a.from; to-- {
		if a.reset(); a.together(to) {
			return true
		}
	}
	return false
}

func (a *attempt) together(to int64) bool {
	for i := len(a.d.Requests) - 1; i >= 0; i-- {
		r := a.d.Requests[i]
		all := amountsOf(r.Resources)
		for k := range all {
			all[k] *= r.Pods
		}
		from := to - r.Duration
		if from < a.from || a.room(all, from, to) == 0 {
			return false
		}
		for at := from; at < to; at++ {
			a.own[at] = all
		}
		a.blocks = append(a.blocks, reservation.Block{Request: i, Pods: r.Pods, From: from, To: to})
		to = from
	}
	return true
}

// always is what the definition has at every instant.
func (a *attempt) always() (use [end]amounts) {
	for at := range use {
		for t := int64(at); t >= 0; t -= a.d.Recurrence {
			for k := range use[at] {
				use[at][k] += a.own[t][k]
			}
			if a.d.Recurrence == 0 {
				break
			}
		}
	}
	return use
}

// averages reports whether all windows in which the definition has something are within the policy.
func (w *twin) averages(user string, own [end]amounts) bool {
	all := own
	for _, b := range append(slices.Clone(w.accepted), w.gone...) {
		if b.user == user {
			for at := range all {
				for r := range all[at] {
					all[at][r] += b.use[at][r]
				}
			}
		}
	}
	for from := int64(0); from+w.policy.Window <= end; from++ {
		var mine, sum amounts
		for at := from; at < from+w.policy.Window; at++ {
			for r := range sum {
				mine[r] += own[at][r]
				sum[r] += all[at][r]
			}
		}
		for r := range sum {
			if mine[r] > 0 && sum[r]*queue.Whole > w.capacity[r]*w.policy.AverageShare*w.policy.Window {
				return false
			}
		}
	}
	return true
}

// shortest is the least time that a definition takes.
func shortest(d reservation.Definition) (sum int64) {
	var durations []int64
	for _, r := range d.Requests {
		durations = append(durations, r.Duration)
		sum += r.Duration
	}
	switch d.Interpreter {
	case reservation.All:
		return slices.Max(durations)
	case reservation.Any:
		return slices.Min(durations)
	}
	return sum
}

// submit returns the code of the refusal, "" if there is none, and the blocks.
func (w *twin) submit(name, user string, d reservation.Definition) (reservation.Code, []reservation.Block) {
	without := *w
	without.cancel(name)
	a := attempt{twin: &without, d: d, from: d.Arrival, to: d.Deadline}
	if code := a.check(); code != "" {
		return code, nil
	}
	if !a.place() {
		return reservation.NoRoom, nil
	}
	use := a.always()
	if !without.averages(user, use) {
		return reservation.AverageExceeded, nil
	}
	b := booking{name: name, user: user, d: d, use: use}
	for _, block := range a.blocks {
		b.last = max(b.last, block.To)
	}
	without.accepted = append(slices.Clone(without.accepted), b)
	*w = without
	return "", a.blocks
}

// check makes sure that the definition fits somewhere, and moves the window to the first period that is not too late.
func (a *attempt) check() reservation.Code {
	limit := a.limit()
	for _, r := range a.d.Requests {
		for k, v := range amountsOf(r.Resources) {
			together := r.Concurrency
			if a.d.Interpreter == reservation.OrderNoGap {
				together = r.Pods
			}
			if v*together > limit[k] {
				return reservation.GangTooLarge
			}
		}
	}
	least := shortest(a.d)
	if p := a.d.Recurrence; p > 0 {
		switch {
		case a.policy.Period%p != 0:
			return reservation.RecurrenceInvalid
		case a.to-a.from > p:
			return reservation.RecurrenceTooShort
		case a.to-a.from < least:
			return reservation.WindowTooShort
		}
		for a.to-a.now < least {
			a.from, a.to = a.from+p, a.to+p
		}
	}
	a.from = max(a.from, a.now)
	switch {
	case a.to <= a.now:
		return reservation.DeadlinePassed
	case a.to > a.now+a.policy.Horizon:
		return reservation.DeadlineTooFar
	case a.to-a.from < least:
		return reservation.WindowTooShort
	}
	return ""
}

// enforce drops the last accepted wherever there is too much, unit of time by unit of time.
func (w *twin) enforce() (dropped []string) {
	limit := w.limit()
	for at := w.now; at < w.now+w.policy.EnforcementWindow; at++ {
		for r := 0; r < len(limit); {
			if w.used(at)[r] <= limit[r] {
				r++
				continue
			}
			for i := len(w.accepted) - 1; i >= 0; i-- {
				if w.accepted[i].use[at][r] > 0 {
					dropped = append(dropped, w.accepted[i].name)
					w.cancel(w.accepted[i].name)
					break
				}
			}
		}
	}
	return dropped
}

// nearest tries every later deadline. It is not sure if an average stands in the way of any: then a later one may not fit where an earlier one did.
func (w *twin) nearest(name, user string, d reservation.Definition) (deadline int64, sure bool) {
	for d.Deadline++; d.Deadline <= w.now+w.policy.Horizon; d.Deadline++ {
		again := *w
		switch code, _ := again.submit(name, user, d); {
		case code == reservation.AverageExceeded:
			return 0, false
		case code == "" && deadline == 0:
			deadline = d.Deadline
		}
	}
	return deadline, true
}
