package preemption_test

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// document is the case of the source document: 800 GiB and 200 cores, of which busy (weight 1) holds nine tenths.
func document() *preemption.World {
	w := worldOf(amounts(200, 800))
	busy := addQueue(w, "root.busy", amounts(50, 200))
	sometimes := addQueue(w, "root.sometimes-busy", amounts(150, 600))
	w.Queues[busy].Weight, w.Queues[sometimes].Weight = 1000, 3000
	for range 20 {
		addNode(w, amounts(10, 40))
	}
	for i := range 200 {
		q := busy
		if i%10 == 9 {
			q = sometimes
		}
		run(w, i/10, preemption.Candidate{Queue: q, Request: amounts(1, 4), Bound: int64(i)})
	}
	claim(w, sometimes, amounts(150, 600), amounts(1, 4), 300)
	w.Queues[busy].Demand = amounts(1000, 4000)
	w.Queues[0].Demand = amounts(2000, 8000)
	return w
}

// 720/180 and 80/20 become 200/50 and 600/150: 130 pods of 1 core and 4 GiB change hands.
func TestTheDocumentsExample(t *testing.T) {
	w := document()
	p := preemption.Make(*w, &filters{})
	if len(p.Victims) != 130 || len(p.Claims[0].Nominations) != 130 {
		t.Errorf("%d victims for %d nominations, want 130 for 130", len(p.Victims), len(p.Claims[0].Nominations))
	}
	if want := amounts(130, 520); !p.Taken.Equal(want) || !p.Claims[0].Owed.Equal(want) {
		t.Errorf("taken (%s), owed (%s), want (%s)", p.Taken, p.Claims[0].Owed, want)
	}
	if p.Claims[0].Unpaid != "" || p.Stopped != "" {
		t.Errorf("unpaid %q, stopped %q", p.Claims[0].Unpaid, p.Stopped)
	}
	for i, want := range []string{"(cpu=200 memory=800Gi)", "(cpu=50 memory=200Gi)", "(cpu=150 memory=600Gi)"} {
		if got := fmt.Sprintf("(%s)", p.Ideal[i]); got != want {
			t.Errorf("ideal of %s is %s, want %s", w.Queues[i].Path, got, want)
		}
	}
	first := p.Victims[0]
	if first.Resource != resource.CPU || first.Surplus != 130_000 {
		t.Errorf("the first victim met a surplus of %d %s", first.Surplus, first.Resource)
	}
}

func BenchmarkPlan100of5000(b *testing.B) {
	w := worldOf(amounts(100_000, 400_000))
	busy := addQueue(w, "root.busy", amounts(40_000, 160_000))
	other := addQueue(w, "root.other", amounts(40_000, 160_000))
	starved := addQueue(w, "root.starved", amounts(20_000, 80_000))
	for range 5000 {
		addNode(w, amounts(20, 80))
	}
	for i := range 100_000 {
		q := busy
		if i%3 == 0 {
			q = other
		}
		run(w, i/20, preemption.Candidate{Queue: q, Request: amounts(1, 4), Bound: int64(i * 7919 % 100_003)})
	}
	claim(w, starved, amounts(20_000, 80_000), amounts(1, 4), 100)
	b.ResetTimer()
	for range b.N {
		f := &filters{}
		p := preemption.Make(*w, f)
		if len(p.Victims) != 100 {
			b.Fatalf("%d victims", len(p.Victims))
		}
		b.ReportMetric(float64(f.asked), "asked/op")
	}
}

// busyHouse is a cluster of two nodes that root.busy fills with pods of 1 cpu. root.starved claims its half for some pods of that size.
func busyHouse(pods int) (*preemption.World, *preemption.Claim) {
	w := worldOf(amounts(20, 80))
	busy := addQueue(w, "root.busy", amounts(10, 40))
	starved := addQueue(w, "root.starved", amounts(10, 40))
	for n := range 2 {
		addNode(w, amounts(10, 40))
		for i := range 10 {
			run(w, n, preemption.Candidate{Queue: busy, Request: amounts(1, 4), Bound: int64(i)})
		}
	}
	c := claim(w, starved, amounts(10, 40), amounts(1, 4), pods)
	w.Queues[busy].Demand, w.Queues[0].Demand = amounts(20, 80), amounts(40, 160)
	return w, c
}

// A worker is no use without its driver: if the driver gets no node, nobody is evicted for the worker.
func TestAUnitWaitsForItsDriver(t *testing.T) {
	for name, c := range map[string]struct {
		driver int64 // cpu
		after  bool
		nodes  int // that are nominated
	}{
		"the driver fits nowhere":                    {11, true, 0},
		"another pod fits nowhere, nobody waits":     {11, false, 1},
		"the driver gets a node, and then the other": {5, true, 2},
	} {
		w, claim := busyHouse(2)
		first := &claim.Units[0].Pods[0]
		first.Request, first.Class = amounts(c.driver, 4), "driver"
		if c.after {
			claim.Units[1].After = first.UID
		}
		p := preemption.Make(*w, &filters{})
		if got := len(p.Claims[0].Nominations); got != c.nodes || (len(p.Victims) == 0) != (c.nodes == 0) {
			t.Errorf("%s: %d nominations and %d victims, want %d nominations", name, got, len(p.Victims), c.nodes)
		}
	}
}

// If a group gets no nodes since the driver with which its pods wait gets none, the pod that it has beyond its minimum gets none either.
func TestNoPodOfAGroupIsNominatedWithoutTheGroup(t *testing.T) {
	for name, c := range map[string]struct {
		driver int64 // cpu
		nodes  int   // that are nominated
	}{
		"the driver fits nowhere":                    {11, 0},
		"the driver gets a node, and then the group": {4, 4},
	} {
		w, claim := busyHouse(4)
		driver := &claim.Units[0].Pods[0]
		driver.Request, driver.Class = amounts(c.driver, 4), "driver"
		group := preemption.Unit{Gang: "g", After: driver.UID, Pods: append(claim.Units[1].Pods, claim.Units[2].Pods...)}
		more := preemption.Unit{Gang: "g", Pods: claim.Units[3].Pods} // of another application
		claim.Units = []preemption.Unit{claim.Units[0], group, more}
		p := preemption.Make(*w, &filters{})
		if got := len(p.Claims[0].Nominations); got != c.nodes || (len(p.Victims) == 0) != (c.nodes == 0) {
			t.Errorf("%s: %d nominations and %d victims, want %d nominations", name, got, len(p.Victims), c.nodes)
		}
	}
}
