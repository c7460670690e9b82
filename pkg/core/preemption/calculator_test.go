package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func memoryOf(l resource.List) resource.List {
	if v, named := l.Lookup(resource.Memory); named {
		return resource.Of(resource.Entry{Name: resource.Memory, Value: v})
	}
	return resource.List{}
}

// each changes every list of a world, and leaves the lists of the other world as they are.
func each(w preemption.World, change func(resource.List) resource.List) *preemption.World {
	w.Total, w.Used = change(w.Total), change(w.Used)
	w.Queues, w.Nodes, w.Claims = slices.Clone(w.Queues), slices.Clone(w.Nodes), slices.Clone(w.Claims)
	for i := range w.Queues {
		q := &w.Queues[i]
		for _, l := range []*resource.List{&q.Entitlement, &q.Usage, &q.Announced, &q.Demand, &q.Max, &q.Guaranteed} {
			*l = change(*l)
		}
	}
	for i := range w.Nodes {
		n := &w.Nodes[i]
		n.Free, n.Candidates = change(n.Free), slices.Clone(n.Candidates)
		for j := range n.Candidates {
			n.Candidates[j].Request = change(n.Candidates[j].Request)
		}
	}
	for i := range w.Claims {
		c := &w.Claims[i]
		c.Target, c.Coming, c.Units = change(c.Target), change(c.Coming), slices.Clone(c.Units)
		for j := range c.Units {
			c.Units[j].Pods = slices.Clone(c.Units[j].Pods)
			for k := range c.Units[j].Pods {
				c.Units[j].Pods[k].Request = change(c.Units[j].Pods[k].Request)
			}
		}
	}
	return &w
}

// chosen spells what a plan decides.
func chosen(p preemption.Plan) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Stopped)
	for _, c := range p.Claims {
		fmt.Fprintf(&b, "claim %d %s unpaid %q\n", c.Queue, c.Kind, c.Unpaid)
		for _, n := range c.Nominations {
			fmt.Fprintf(&b, "  %s on %d pays %s\n", n.UID, n.Node, n.Pays)
		}
	}
	for _, v := range p.Victims {
		fmt.Fprintf(&b, "  %s goes for %s above %d, surplus %d %s, with %q\n", v.UID, v.For, v.Above, v.Surplus, v.Resource, v.With)
	}
	return b.String()
}

// With the calculator Memory, and where no node lacks cpu and no max names it, a plan is that of the world without any cpu. Some
// clusters are busy in cpu alone.
func TestPlansWithMemoryAreThoseOfMemoryAlone(t *testing.T) {
	victims, idle := 0, 0
	for seed := range runs(2000) {
		r := rand.New(rand.NewPCG(uint64(seed), 23))
		drawn, f := tiny(r)
		if r.IntN(4) == 0 {
			drawn.Used = units(drawn.Total.Get(resource.CPU), drawn.Total.Get(resource.Memory)*3/4)
		}
		if r.IntN(2) == 0 {
			drawn.Settings.TotalPerRound = 100 + r.Int64N(400)
		}
		alone := each(*drawn, memoryOf)
		with := each(*drawn, func(l resource.List) resource.List { return l })
		for i := range with.Queues {
			q := &with.Queues[i]
			q.Max, q.Announced = memoryOf(q.Max), memoryOf(q.Announced) // a victim without memory would still be one that runs
			q.Rule.Calculator, q.Inside.Calculator = queue.MemoryCalculator, queue.MemoryCalculator
		}
		for i := range with.Nodes {
			with.Nodes[i].Free = with.Nodes[i].Free.Add(cpu(1 << 40))
		}
		for _, c := range with.Claims { // those that ask for the same memory are of one shape, as without cpu
			for _, u := range c.Units {
				for k := range u.Pods {
					u.Pods[k].Request = memoryOf(u.Pods[k].Request).Add(cpu(5 - u.Pods[k].Request.Get(resource.Memory)))
				}
			}
		}
		f.exact = with
		p := preemption.Make(*with, f)
		if faults := invariant.Plan(*with, p, f); len(faults) > 0 {
			t.Fatalf("seed %d: %s", seed, strings.Join(faults, "; "))
		}
		got := chosen(p)
		f.exact, f.done = alone, nil
		q := preemption.Make(*alone, f)
		if want := chosen(q); got != want {
			t.Fatalf("seed %d: the plan is\n%s\nand of memory alone\n%s", seed, got, want)
		}
		victims += len(p.Victims)
		if p.Stopped == preemption.NotBusy {
			idle++
		}
	}
	if victims < runs(2000)/20 || idle < runs(2000)/20 {
		t.Errorf("only %d victims, and %d clusters that are not busy: the worlds try nothing", victims, idle)
	}
}
