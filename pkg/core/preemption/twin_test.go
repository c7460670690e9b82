package preemption_test

import (
	"math/bits"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// twin pays a claim by trying everything: for each pod of each unit every node and every set of victims, with every rule looked up again from
// its definition. It knows no bounds, no preference and no order but the smallest number of drivers, then of pods. It is for a handful of pods.
type twin struct {
	w       *preemption.World
	f       *filters
	usage   []resource.List
	free    []resource.List
	slots   []int
	gone    map[string]bool
	guarded map[int]int // the outermost queue from which a claim has taken pods of it
	taken   resource.List
	any     bool
	claim   *preemption.Claim
	units   []preemption.Unit
	reaches []twinReach // of the units
	ideal   []resource.List
	drivers int
	pods    int
	steps   int
}

// twinReach says of whom a unit may be paid: of those who keep their ideal, or all who keep their entitlement; and how far down the claim's
// path the victims may meet it.
type twinReach struct {
	ideal bool
	to    int
}

type twinPod struct {
	*preemption.Candidate
	node int
}

func newTwin(w *preemption.World, f *filters, ideal []resource.List) *twin {
	t := &twin{w: w, f: f, ideal: ideal, gone: map[string]bool{}, guarded: map[int]int{}}
	t.taken, t.any = w.Queues[0].Announced, !w.Queues[0].Announced.IsZero()
	for _, q := range w.Queues {
		t.usage = append(t.usage, q.Usage)
	}
	for _, n := range w.Nodes {
		t.free = append(t.free, n.Free)
		t.slots = append(t.slots, n.Slots)
	}
	return t
}

// evictionUnits are what may still be evicted: single pods, and groups as one.
func (t *twin) evictionUnits() [][]twinPod {
	var out [][]twinPod
	for n := range t.w.Nodes {
		for i := range t.w.Nodes[n].Candidates {
			c := &t.w.Nodes[n].Candidates[i]
			if t.gone[c.UID] {
				continue
			}
			at := -1
			if c.Gang != "" {
				at = slices.IndexFunc(out, func(a []twinPod) bool { return a[0].Gang == c.Gang })
			}
			if at < 0 {
				out = append(out, nil)
				at = len(out) - 1
			}
			out[at] = append(out[at], twinPod{c, n})
		}
	}
	return out
}

func (t *twin) path(q int) []int {
	var out []int
	for ; q >= 0; q = t.w.Queues[q].Parent {
		out = append([]int{q}, out...)
	}
	return out
}

func (t *twin) depth(q int) int { return len(t.path(q)) }

func (t *twin) compare(q int, a, b resource.List) int {
	return preemption.CompareDominant(t.w.Queues[q].Rule, t.w.Total, a, b)
}

func (t *twin) charge(q int, r resource.List, add bool) {
	for _, at := range t.path(q) {
		if add {
			t.usage[at] = t.usage[at].Add(r)
		} else {
			t.usage[at] = t.usage[at].Sub(r)
		}
	}
}

func (t *twin) move(a []twinPod, goes bool) {
	for _, v := range a {
		t.gone[v.UID] = goes
		t.charge(v.Queue, v.Request, !goes)
		if goes {
			t.free[v.node] = t.free[v.node].Add(v.Request)
			t.slots[v.node]++
			t.taken = t.taken.Add(v.Request)
		} else {
			t.free[v.node] = t.free[v.node].Sub(v.Request)
			t.slots[v.node]--
			t.taken = t.taken.Sub(v.Request)
		}
	}
}

// meet is the last queue that both paths have.
func (t *twin) meet(q int) int {
	at := 0
	for _, p := range t.path(t.claim.Queue) {
		if slices.Contains(t.path(q), p) {
			at = p
		}
	}
	return at
}

func (t *twin) below(q int) []int {
	p := t.path(q)
	return p[slices.Index(p, t.meet(q))+1:]
}

// from is the highest queue inside which the claim finds its victims for a unit, as an index on its path.
func (t *twin) from(ideal bool, unit resource.List) int {
	p := t.path(t.claim.Queue)
	m := len(p) - 2
	for m > 0 && t.short(p[m-1], p[m:], ideal, unit) {
		m--
	}
	return m
}

// short reports whether queues around the claim, charged with a unit already, lack something themselves for those outside who meet them at meet: they are
// within their shares, or for those who keep their ideal within their own ideals, or not above their guarantees of something for which the unit asks. The
// last is the claim's own queue, which must be within what it claims of them.
func (t *twin) short(meet int, around []int, ideal bool, unit resource.List) bool {
	for i, q := range around {
		if i == len(around)-1 {
			due, cut := t.due(q, meet)
			if !cut {
				return true
			}
			if t.claim.Kind == preemption.BelowGuaranteed {
				return paid(t.w.Queues[q].Rule, unit, t.usage[q], t.claim.Target.Min(due)) != ""
			}
			return t.compare(q, t.usage[q], t.claim.Target.Min(due)) <= 0
		}
		due, _ := t.due(q, meet)
		if t.compare(q, t.usage[q], due) > 0 && !(ideal && t.compare(q, t.usage[q], t.idealFor(q, meet)) <= 0) && !t.lacked(q, meet, unit) {
			return false
		}
	}
	return true
}

// covered is what counts of a queue's amount for those who meet it at a queue above: no more than what counts of its parent's, divided in proportion.
func (t *twin) covered(q, meet int, of func(q int) resource.List) (resource.List, bool) {
	parent := t.w.Queues[q].Parent
	if parent == meet {
		return of(q), false
	}
	above, cut := t.covered(parent, meet, of)
	var out []resource.Entry
	for i := range of(q).Len() {
		e := of(q).At(i)
		var all int64
		for s := range t.w.Queues {
			if t.w.Queues[s].Parent == parent {
				all += of(s).Get(e.Name)
			}
		}
		cut = cut || all > max(of(parent).Get(e.Name), 0)
		if has := max(above.Get(e.Name), 0); all > has && e.Value > 0 {
			e.Value = e.Value * has / all
		}
		out = append(out, e)
	}
	return resource.Of(out...), cut
}

func (t *twin) due(q, meet int) (resource.List, bool) {
	return t.covered(q, meet, func(q int) resource.List { return t.w.Queues[q].Entitlement })
}

func (t *twin) idealFor(q, meet int) resource.List {
	out, _ := t.covered(q, meet, func(q int) resource.List { return t.ideal[q] })
	return out
}

// guaranteed is what a queue is guaranteed for those who meet it at meet, as far as it asks for it.
func (t *twin) guaranteed(q, meet int) resource.List {
	out := t.w.Queues[q].Guaranteed.Min(t.w.Queues[q].Demand)
	if due, cut := t.due(q, meet); cut {
		return out.Min(due)
	}
	return out
}

// keepsIdeal reports whether all queues from the victim's up to where it meets the claim have their ideal.
func (t *twin) keepsIdeal(leaf int) bool {
	return !slices.ContainsFunc(t.below(leaf), func(q int) bool { return t.compare(q, t.usage[q], t.idealFor(q, t.meet(leaf))) < 0 })
}

func (t *twin) meetsAt(leaf int) int { return len(t.path(t.meet(leaf))) - 1 }

// within is the first reach in which the plan has paid each of the units. It leaves the twin's picture as the plan does, so it is asked of a
// twin of its own.
func (t *twin) within(units []preemption.Unit, victims []preemption.Victim) []twinReach {
	var out []twinReach
	for _, u := range units {
		for _, c := range u.Pods {
			t.charge(c.Queue, c.Request, true)
		}
		r := twinReach{ideal: true, to: t.from(true, requestOf(u))}
		var leaves []int
		for _, v := range victims {
			if slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == v.For }) {
				t.evict(v.UID)
				leaves = append(leaves, v.Queue)
			}
		}
		for _, leaf := range leaves {
			r.ideal = r.ideal && t.keepsIdeal(leaf)
			r.to = max(r.to, t.meetsAt(leaf))
		}
		out = append(out, r)
	}
	return out
}

func (t *twin) evict(uid string) {
	for _, a := range t.evictionUnits() {
		for _, one := range a {
			if one.UID == uid {
				t.move([]twinPod{one}, true)
			}
		}
	}
}

// before are the reaches that come before this one: nobody in them must be able to pay.
func (t *twin) before(r twinReach, unit resource.List) []twinReach {
	var out []twinReach
	for _, ideal := range []bool{true, false} {
		for to := t.from(ideal, unit); to < len(t.path(t.claim.Queue))-1; to++ {
			if ideal == r.ideal && to >= r.to {
				return out
			}
			out = append(out, twinReach{ideal, to})
		}
	}
	return out
}

// lacked reports whether a queue, charged with a unit already, is not above its guarantee of something for which the unit asks.
func (t *twin) lacked(q, meet int, unit resource.List) bool {
	return t.claim.Kind == preemption.BelowGuaranteed && paid(t.w.Queues[q].Rule, unit, t.usage[q], t.guaranteed(q, meet)) != ""
}

// paid is of which resource a queue is not above a target, among those that a unit asks for: cpu before memory.
func paid(rule queue.Rule, unit, usage, target resource.List) resource.Name {
	for _, n := range []resource.Name{resource.CPU, resource.Memory} {
		if rule.Policy == queue.Fair && n != rule.Resource {
			continue
		}
		if due, named := target.Lookup(n); named && unit.Get(n) > 0 && usage.Get(n) <= due {
			return n
		}
	}
	return ""
}

// keeps reports whether a queue that lost a pod has what it is guaranteed of what the pod asks for: of cpu if the claim pays cpu, of both if it
// pays memory.
func (t *twin) keeps(q, meet int, pod, unit resource.List) bool {
	if t.claim.Kind != preemption.BelowGuaranteed {
		return true
	}
	w := t.w.Queues[q]
	target := t.claim.Target
	if meet != t.w.Queues[t.claim.Queue].Parent {
		if due, cut := t.due(t.claim.Queue, meet); cut {
			target = target.Min(due)
		}
	}
	pays := paid(t.w.Queues[t.claim.Queue].Rule, unit, t.usage[t.claim.Queue], target)
	for _, n := range []resource.Name{resource.CPU, resource.Memory} {
		counts := w.Rule.Policy != queue.Fair || n == w.Rule.Resource
		if counts && pod.Get(n) > 0 && t.usage[q].Get(n) < t.guaranteed(q, meet).Get(n) {
			return false
		}
		if n == pays {
			break
		}
	}
	return true
}

func requestOf(u preemption.Unit) (sum resource.List) {
	for _, c := range u.Pods {
		sum = sum.Add(c.Request)
	}
	return sum
}

// lawful reports whether these victims might go, where bar says which queues were above theirs before.
func (t *twin) lawful(set [][]twinPod, r twinReach, from int, touchable []bool, unit resource.List) bool {
	for _, a := range set {
		for _, v := range a {
			if slices.Contains(t.path(v.Queue), t.claim.Queue) || t.meetsAt(v.Queue) < from || t.meetsAt(v.Queue) > r.to {
				return false
			}
			if r.ideal && !t.keepsIdeal(v.Queue) {
				return false
			}
			if v.Replaces > 0 && v.Replaces >= t.claim.Since {
				return false
			}
			if !t.w.Queues[v.Queue].Preemptible {
				return false
			}
			if !touchable[v.Queue] {
				return false
			}
			for _, q := range t.below(v.Queue) {
				due, _ := t.due(q, t.meet(v.Queue))
				if !t.keeps(q, t.meet(v.Queue), v.Request, unit) || t.compare(q, t.usage[q], due) < 0 {
					return false
				}
			}
			for _, q := range t.path(v.Queue) {
				from, guarded := t.guarded[q]
				if !guarded {
					continue
				}
				if due, _ := t.due(q, from); t.compare(q, t.usage[q], due) < 0 && !slices.Contains(t.below(v.Queue), q) {
					return false
				}
			}
			for _, b := range t.f.Budgets(v.UID) {
				used := 0
				for uid, gone := range t.gone {
					if gone && slices.Contains(t.f.Budgets(uid), b) {
						used++
					}
				}
				if used > t.f.allowed[b] {
					return false
				}
			}
		}
	}
	return true
}

// fits reports whether the claimant fits now, under every max.
func (t *twin) fits(c *preemption.Claimant, node int) bool {
	for i := range c.Request.Len() {
		if e := c.Request.At(i); e.Value > 0 && e.Value > t.free[node].Get(e.Name) {
			return false
		}
	}
	if t.slots[node] < 1 || t.f.barred[c.Class+"/"+string(rune('0'+node))] {
		return false
	}
	for _, q := range t.path(c.Queue) {
		limits := t.w.Queues[q].Max
		for i := range limits.Len() {
			if t.usage[q].Get(limits.At(i).Name) > limits.At(i).Value {
				return false
			}
		}
	}
	return true
}

func (t *twin) affords(set [][]twinPod, alone bool) bool {
	if alone {
		return true
	}
	var of resource.List
	for _, a := range set {
		for _, v := range a {
			of = of.Add(v.Request)
		}
	}
	for i := range of.Len() {
		e := of.At(i)
		if e.Value > 0 && t.taken.Get(e.Name) > t.w.Total.Get(e.Name)*t.w.Settings.TotalPerRound/1000*t.w.Settings.NaturalTerminationFactor/1000 {
			return false
		}
	}
	return true
}

func (t *twin) touchable() []bool {
	out := make([]bool, len(t.w.Queues))
	for i, q := range t.w.Queues { // as the round found them
		out[i] = true
		if k := t.w.Settings.MaxIgnoredOverCapacity; k > 0 {
			var bar []resource.Entry
			if slices.Contains(t.path(t.claim.Queue), i) {
				continue
			}
			due, _ := t.due(i, t.meet(i))
			for j := range due.Len() {
				e := due.At(j)
				bar = append(bar, resource.Entry{Name: e.Name, Value: e.Value * (1000 + k) / 1000})
			}
			out[i] = t.compare(i, q.Usage.Add(q.Announced), resource.Of(bar...)) > 0
		}
	}
	return out
}

// cheapest returns the smallest number of drivers and pods, false where it gave up.
func (t *twin) cheapest(drivers, pods int) (int, int, bool) {
	for d := 0; d <= drivers; d++ {
		most := 99
		if d == drivers {
			most = pods
		}
		for k := d; k <= min(most, 12); k++ {
			t.drivers, t.pods, t.steps = d, k, 3_000_000
			if t.pay(0, 0, 0, t.any) {
				return d, k, true
			}
			if t.steps <= 0 {
				return 0, 0, false
			}
		}
	}
	return drivers, pods + 1, true // not even as the plan does it
}

func (t *twin) pay(i, j, from int, others bool) bool {
	if i == len(t.units) {
		return true
	}
	u := t.units[i]
	if j == len(u.Pods) {
		return t.pay(i+1, 0, 0, others || !t.taken.IsZero())
	}
	if j == 0 {
		for _, c := range u.Pods {
			t.charge(c.Queue, c.Request, true)
		}
		from = t.from(t.reaches[i].ideal, requestOf(u))
	}
	if t.try(i, j, from, others) {
		return true
	}
	if j == 0 {
		for _, c := range u.Pods {
			t.charge(c.Queue, c.Request, false)
		}
	}
	return false
}

func (t *twin) try(i, j, from int, others bool) bool {
	c := &t.units[i].Pods[j]
	units, touchable := t.evictionUnits(), t.touchable()
	for mask := range 1 << len(units) {
		if bits.OnesCount(uint(mask)) > t.pods {
			continue
		}
		var set [][]twinPod
		pods, drivers := 0, 0
		for k, a := range units {
			if mask>>k&1 == 1 {
				set = append(set, a)
				pods += len(a)
				for _, v := range a {
					if v.Driver {
						drivers++
					}
				}
			}
		}
		if pods > t.pods || drivers > t.drivers {
			continue
		}
		if t.steps--; t.steps <= 0 {
			return false
		}
		for _, a := range set {
			t.move(a, true)
		}
		t.pods -= pods
		t.drivers -= drivers
		if t.lawful(set, t.reaches[i], from, touchable, requestOf(t.units[i])) && t.affords(set, !others) {
			for n := range t.w.Nodes {
				if t.fits(c, n) && t.needed(c, n, set) && t.sit(c, n, i, j, from, others) {
					return true
				}
			}
		}
		t.pods += pods
		t.drivers += drivers
		for _, a := range set {
			t.move(a, false)
		}
	}
	return false
}

func (t *twin) sit(c *preemption.Claimant, n, i, j, from int, others bool) bool {
	t.free[n] = t.free[n].Sub(c.Request)
	t.slots[n]--
	if t.pay(i, j+1, from, others) {
		return true
	}
	t.free[n] = t.free[n].Add(c.Request)
	t.slots[n]++
	return false
}

// needed reports whether the claimant would not fit without any one of these.
func (t *twin) needed(c *preemption.Claimant, n int, set [][]twinPod) bool {
	for _, a := range set {
		t.move(a, false)
		fits := t.fits(c, n)
		t.move(a, true)
		if fits {
			return false
		}
	}
	return true
}

// follow makes the twin's picture the one after a payment of a plan.
func (t *twin) follow(pay preemption.Payment, victims []preemption.Victim) {
	t.claim = &pay.Claim
	for _, at := range pay.Nominations {
		for _, u := range pay.Units {
			for _, c := range u.Pods {
				if c.UID == at.UID {
					t.charge(c.Queue, c.Request, true)
					t.free[at.Node] = t.free[at.Node].Sub(c.Request)
					t.slots[at.Node]--
				}
			}
		}
	}
	for _, v := range victims {
		if !slices.ContainsFunc(pay.Nominations, func(p preemption.Nomination) bool { return p.UID == v.For }) {
			continue
		}
		for _, a := range t.evictionUnits() {
			for _, one := range a {
				if one.UID == v.UID {
					t.move([]twinPod{one}, true)
					t.any = true
					for _, q := range t.below(one.Queue) {
						if from, there := t.guarded[q]; !there || t.depth(t.meet(v.Queue)) < t.depth(from) {
							t.guarded[q] = t.meet(v.Queue)
						}
					}
					break
				}
			}
		}
	}
}

// overdrawn reports whether a node promises more than it has.
func (t *twin) overdrawn() bool {
	for n, free := range t.free {
		for i := range free.Len() {
			if free.At(i).Value < 0 {
				return true
			}
		}
		if t.slots[n] < 0 {
			return true
		}
	}
	return false
}
