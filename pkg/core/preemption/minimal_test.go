package preemption_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

var (
	runsFlag = flag.Int("runs", 0, "number of random worlds, instead of each test's own")
	seedFlag = flag.Int("seed", -1, "the only random world, -1: all")
)

func runs(own int) int {
	if *runsFlag > 0 {
		return *runsFlag
	}
	return own
}

func units(cpu, memory int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory})
}

// tiny is a random world of a few queues, nodes and pods, with every rule at work now and then.
func tiny(r *rand.Rand) (*preemption.World, *filters) {
	nodes := 1 + r.IntN(3)
	w := worldOf(resource.List{})
	f := &filters{barred: map[string]bool{}, budgets: map[string][]int{}, exact: w}
	amount := func(most int64) resource.List {
		cpu := 1 + r.Int64N(most)
		if r.IntN(3) > 0 {
			return units(cpu, cpu)
		}
		return units(cpu, r.Int64N(most+1))
	}
	for range nodes {
		n := addNode(w, units(2+r.Int64N(6), 2+r.Int64N(6)))
		w.Total = w.Total.Add(w.Nodes[n].Free)
		if r.IntN(8) == 0 {
			w.Nodes[n].Slots = 1 + r.IntN(3)
		}
	}
	w.Queues[0].Entitlement = w.Total
	w.Used = w.Total
	part := func(of resource.List, thousandths int64) resource.List {
		return units(of.Get(resource.CPU)*thousandths/1000, of.Get(resource.Memory)*thousandths/1000)
	}
	var leaves []int
	for _, top := range []queue.Path{"root.a", "root.b", "root.c"}[:2+r.IntN(2)] {
		t := addQueue(w, top, part(w.Total, 50+r.Int64N(450)))
		if r.IntN(3) > 0 {
			leaves = append(leaves, t)
			continue
		}
		for _, name := range []string{".x", ".y"} {
			leaves = append(leaves, addQueue(w, top+queue.Path(name), part(w.Queues[t].Entitlement, 100+r.Int64N(600))))
		}
	}
	for i := range w.Queues {
		q := &w.Queues[i]
		if i > 0 && r.IntN(12) == 0 {
			q.Preemptible = false
		}
		if i > 0 && r.IntN(8) == 0 {
			q.Max = q.Entitlement.Add(amount(3))
		}
		if r.IntN(8) == 0 {
			q.Rule = queue.Rule{Policy: queue.Fair, Resource: resource.Memory}
		}
	}
	for i := range w.Queues { // what is not preemptible is rarely undone below
		if parent := w.Queues[i].Parent; parent >= 0 && !w.Queues[parent].Preemptible && r.IntN(4) > 0 {
			w.Queues[i].Preemptible = false
		}
	}
	starved := leaves[r.IntN(len(leaves))]
	if r.IntN(6) == 0 && w.Queues[starved].Parent > 0 {
		starved = w.Queues[starved].Parent
	}
	w.Queues[starved].Entitlement = w.Queues[starved].Entitlement.Add(amount(6))
	for i := range 6 + r.IntN(5) {
		c := preemption.Candidate{
			UID: fmt.Sprintf("pod-%d", i), Queue: leaves[r.IntN(len(leaves))], Request: amount(4), Bound: r.Int64N(5),
			Priority: int32(r.IntN(2)), Driver: r.IntN(6) == 0, Announced: r.IntN(12) == 0,
		}
		if c.Queue == starved && r.IntN(4) > 0 {
			continue
		}
		if r.IntN(5) == 0 {
			c.Gang = fmt.Sprint("gang-", c.Queue)
		}
		if r.IntN(6) == 0 {
			c.Replaces = r.Int64N(3) // claims are from 0 to 2
		}
		if r.IntN(8) == 0 {
			f.budgets[c.UID] = []int{0}
		}
		for n := range nodes { // full nodes, or nobody has to go
			if w.Nodes[n].Slots > 0 && c.Request.Fits(w.Nodes[n].Free) {
				run(w, n, c)
				break
			}
		}
	}
	for i := range w.Queues {
		if e := w.Queues[i].Entitlement; i > 0 && r.IntN(3) == 0 {
			w.Queues[i].Guaranteed = units(r.Int64N(e.Get(resource.CPU)+1), r.Int64N(e.Get(resource.Memory)+1))
		}
	}
	f.allowed = []int{r.IntN(2)}
	settings(w, r)
	tinyClaims(w, f, r, starved, leaves)
	return w, f
}

func settings(w *preemption.World, r *rand.Rand) {
	if r.IntN(10) == 0 { // a victim of an earlier round still runs
		q, of := r.IntN(len(w.Queues)), units(r.Int64N(3), r.Int64N(3))
		for ; q >= 0; q = w.Queues[q].Parent {
			w.Queues[q].Announced = of
		}
	}
	if r.IntN(8) == 0 {
		w.Settings.TotalPerRound = 100 + r.Int64N(400)
	}
	if r.IntN(8) == 0 {
		w.Settings.NaturalTerminationFactor = 200 + r.Int64N(600)
	}
	if r.IntN(8) == 0 {
		w.Settings.MaxIgnoredOverCapacity = 100 + r.Int64N(300)
	}
}

func tinyClaims(w *preemption.World, f *filters, r *rand.Rand, starved int, leaves []int) {
	for n, q := range []int{starved, leaves[r.IntN(len(leaves))]}[:1+r.IntN(2)] {
		if n > 0 && q == starved {
			continue
		}
		inside := q
		for _, leaf := range leaves {
			if w.Queues[leaf].Parent == q {
				inside = leaf
			}
		}
		c := preemption.Claim{Queue: q, Kind: preemption.Kind(r.IntN(2)), Since: r.Int64N(3), Target: w.Queues[q].Entitlement}
		for i := range 1 + r.IntN(4) {
			u := preemption.Unit{}
			size := 1
			if r.IntN(5) == 0 {
				size, u.Gang = 2, fmt.Sprint("group-", q, "-", i)
			}
			request := units(1+r.Int64N(3), 1+r.Int64N(3))
			if len(c.Units) > 0 && r.IntN(2) == 0 {
				request = c.Units[0].Pods[0].Request
			}
			for j := range size {
				u.Pods = append(u.Pods, preemption.Claimant{UID: fmt.Sprint("claimant-", q, "-", i, "-", j), Queue: inside, Request: request, Class: fmt.Sprint("class-", q)})
			}
			for _, a := range u.Pods {
				for at := a.Queue; at >= 0; at = w.Queues[at].Parent {
					w.Queues[at].Demand = w.Queues[at].Demand.Add(a.Request)
				}
			}
			c.Units = append(c.Units, u)
		}
		if r.IntN(4) == 0 {
			f.barred[fmt.Sprint("class-", q, "/", r.IntN(len(w.Nodes)))] = true
		}
		w.Claims = append(w.Claims, c)
	}
}

func placedUnits(pay preemption.Payment) []preemption.Unit {
	var out []preemption.Unit
	for _, u := range pay.Units {
		has := func(c preemption.Claimant) bool {
			return slices.ContainsFunc(pay.Nominations, func(p preemption.Nomination) bool { return p.UID == c.UID })
		}
		if slices.ContainsFunc(u.Pods, has) {
			out = append(out, u)
		}
	}
	return out
}

// othersCouldPay looks for another way to pay the first unit of a claim alone, by those who should have paid.
func othersCouldPay(t *twin) (twinReach, bool) {
	units, reaches := t.units, t.reaches
	defer func() { t.units, t.reaches = units, reaches }()
	for _, c := range units[0].Pods {
		t.charge(c.Queue, c.Request, true)
	}
	earlier := t.before(reaches[0], requestOf(units[0]))
	for _, c := range units[0].Pods {
		t.charge(c.Queue, c.Request, false)
	}
	t.units = units[:1]
	for _, r := range earlier {
		again := *t
		again.usage, again.free, again.slots, again.gone = slices.Clone(t.usage), slices.Clone(t.free), slices.Clone(t.slots), maps.Clone(t.gone)
		again.reaches, again.drivers, again.pods, again.steps = []twinReach{r}, 12, 12, 3_000_000
		if again.pay(0, 0, 0, again.any) {
			return r, true
		}
	}
	return twinReach{}, false
}

func othersTake(p preemption.Plan, pay preemption.Payment) bool {
	return slices.ContainsFunc(p.Victims, func(v preemption.Victim) bool { return v.ForQueue != pay.Queue })
}

// No more than the exact minimum, which is found by trying everything: never more than one pod above, equal in at least 95 of 100.
func TestVictimsAreTheFewestThatDo(t *testing.T) {
	compared, equal, paid, gaveUp, wrong := 0, 0, 0, 0, 0
	for seed := range runs(2000) {
		if *seedFlag >= 0 && seed != *seedFlag {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		w, f := tiny(r)
		p := preemption.Make(*w, f)
		for _, pay := range p.Claims {
			drivers, pods := 0, 0
			for _, v := range p.Victims {
				if v.ForQueue == pay.Queue {
					pods++
					for _, n := range w.Nodes {
						for _, c := range n.Candidates {
							if c.UID == v.UID && c.Driver {
								drivers++
							}
						}
					}
				}
			}
			if pods > 0 {
				paid++
				try, planned := newTwin(w, f, p.Ideal), newTwin(w, f, p.Ideal)
				for _, before := range p.Claims {
					if before.Queue == pay.Queue {
						break
					}
					try.follow(before, p.Victims)
					planned.follow(before, p.Victims)
				}
				if try.overdrawn() {
					continue // victims of this claim make room for an earlier one too
				}
				try.claim, try.units = &pay.Claim, placedUnits(pay)
				planned.claim = &pay.Claim
				try.reaches = planned.within(try.units, p.Victims)
				if by, others := othersCouldPay(try); others {
					t.Logf("seed %d: claim of %s: the first unit is paid within %v, and could be within %v", seed, w.Queues[pay.Queue].Path, try.reaches[0], by)
					wrong++
				}
				d, k, ok := try.cheapest(drivers, pods)
				switch {
				case !ok:
					gaveUp++
				case (d > drivers || d == drivers && k > pods) && (othersTake(p, pay) || len(pay.Nominations) > 1):
					// Victims of one unit, or one claim, make room for another too, so it is not known where this one's may come from.
				case d > drivers || d == drivers && k > pods:
					t.Fatalf("seed %d: claim of %s: the plan takes %d pods (%d drivers), and no lawful choice of so few was found", seed, w.Queues[pay.Queue].Path, pods, drivers)
				case d < drivers || pods > k+1:
					t.Fatalf("seed %d: claim of %s: the plan takes %d pods (%d drivers), %d (%d) would do", seed, w.Queues[pay.Queue].Path, pods, drivers, k, d)
				default:
					compared++
					if pods == k {
						equal++
					}
				}
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d claims are paid although others should have paid", wrong, paid)
	}
	t.Logf("%d claims with victims, %d compared, %d equal, %d given up", paid, compared, equal, gaveUp)
	if *seedFlag >= 0 {
		return
	}
	if compared < runs(2000)/10 || equal*100 < compared*95 || gaveUp*20 > paid {
		t.Errorf("of %d claims, %d were compared and %d take the fewest pods, %d were given up", paid, compared, equal, gaveUp)
	}
}
