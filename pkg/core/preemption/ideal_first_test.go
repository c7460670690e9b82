package preemption_test

import (
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// victimsBy makes a plan and says how many pods each queue loses.
func victimsBy(t *testing.T, w *preemption.World) string {
	t.Helper()
	p := preemption.Make(*w, &filters{})
	if faults := invariant.Plan(*w, p, &filters{}); len(faults) > 0 {
		t.Errorf("the plan breaks its promises: %s", strings.Join(faults, "; "))
	}
	var out []string
	for _, v := range p.Victims {
		out = append(out, strings.TrimPrefix(string(w.Queues[v.Queue].Path), "root."))
	}
	return strings.Join(out, " ")
}

// house is a cluster of 20 with root.a and root.d, entitled to 10 each, and root.d.e and root.d.f, entitled to 5 each. a and e run pods of 1 and
// ask for these, and for more; f asks for pods of 1.
func house(a, e, moreOfE, f int) *preemption.World {
	w := worldOf(cpu(20))
	top := addQueue(w, "root.a", cpu(10))
	d := addQueue(w, "root.d", cpu(10))
	in := addQueue(w, "root.d.e", cpu(5))
	out := addQueue(w, "root.d.f", cpu(5))
	addNode(w, cpu(20))
	for range a {
		run(w, 0, preemption.Candidate{Queue: top, Request: cpu(1)})
	}
	for range e {
		run(w, 0, preemption.Candidate{Queue: in, Request: cpu(1)})
	}
	for _, q := range []int{in, d, 0} {
		w.Queues[q].Demand = w.Queues[q].Demand.Add(cpu(int64(moreOfE)))
	}
	claim(w, out, cpu(int64(min(f, 5))), cpu(1), f)
	return w
}

func TestAQueueAboveItsIdealPaysFirst(t *testing.T) {
	for name, c := range map[string]struct {
		w    *preemption.World
		want string
	}{
		// d has 9 of its ideal of 10, of which f is to have 1 and e 9. e is 4 above its share, but not above its ideal; a is.
		"a queue within its ideal pays nothing, whatever its surplus": {house(11, 9, 11, 1), "a"},
		// d is short by 1, so a pays 1. Then d has its 10, and e, whose ideal is 5, pays the other 4.
		"outside while the level above is short, then inside": {house(11, 9, 11, 5), "a d.e d.e d.e d.e"},
		// d has its ideal of 10, and f is to have 1 of it.
		"inside where the level above is not short": {house(10, 10, 10, 1), "d.e"},
		// e asks for 6 and f for 2, so the ideal of d is 8 and that of a 12. a has its ideal with one of the two that f asks for.
		"up to the ideal, although it is above the share": {house(14, 6, 0, 2), "a a"},
	} {
		if got := victimsBy(t, c.w); got != c.want {
			t.Errorf("%s: victims are of %q, want %q", name, got, c.want)
		}
	}
	t.Run("a queue that is above its share and short of its ideal takes from those above theirs", func(t *testing.T) {
		// Shares are 4, 8 and 8. c asks for nothing, so the ideals of a and d are 6 and 13 (20 by 4 and 8, rounded down). d has 12, more than
		// its share. a has 8, and pays for f until d has its ideal. Then e pays.
		w := worldOf(cpu(20))
		a := addQueue(w, "root.a", cpu(4))
		c := addQueue(w, "root.c", cpu(8))
		d := addQueue(w, "root.d", cpu(8))
		e := addQueue(w, "root.d.e", cpu(4))
		f := addQueue(w, "root.d.f", cpu(4))
		for q, weight := range map[int]int64{a: 1000, c: 2000, d: 2000} {
			w.Queues[q].Weight = weight
		}
		addNode(w, cpu(20))
		for range 8 {
			run(w, 0, preemption.Candidate{Queue: a, Request: cpu(1)})
		}
		for range 12 {
			run(w, 0, preemption.Candidate{Queue: e, Request: cpu(1)})
		}
		claim(w, f, cpu(3), cpu(1), 3)
		if got, want := victimsBy(t, w), "a d.e d.e"; got != want {
			t.Errorf("victims are of %q, want %q", got, want)
		}
	})
}

// A group of three pods (2 cpu, 1 memory each) needs 6 cpu. c has 8, of its ideal of 3, so it may lose 5: b and d, which are 3 and 2 cpu. On its node b
// serves two of the group, and d one. a is newer than b and is chosen first, for one pod. With a, d and b, c would lose 8; with a and d there is no
// place for the third. That is seen pod by pod only if all choices are tried, and before the one pod of o goes, which would serve all
// three: o has no more than its ideal.
func TestTheGroupOfAClaimIsPaidByThoseAboveTheirIdealIfAnyChoiceAllowsThat(t *testing.T) {
	w := worldOf(units(15, 7))
	g := addQueue(w, "root.g", units(6, 7))
	o := addQueue(w, "root.o", units(0, 0))
	c := addQueue(w, "root.c", units(3, 7))
	for q, weight := range map[int]int64{g: 2000, o: 2000, c: 1000} {
		w.Queues[q].Weight = weight
	}
	for q := range w.Queues {
		w.Queues[q].Rule = queue.Rule{Policy: queue.Fair, Resource: resource.CPU}
	}
	for _, allocatable := range []resource.List{units(7, 3), units(2, 1), units(6, 3)} {
		addNode(w, allocatable)
	}
	run(w, 0, preemption.Candidate{UID: "a", Queue: c, Request: units(3, 1), Bound: 9})
	run(w, 0, preemption.Candidate{UID: "b", Queue: c, Request: units(3, 2)})
	run(w, 1, preemption.Candidate{UID: "d", Queue: c, Request: units(2, 1), Bound: 8})
	run(w, 2, preemption.Candidate{UID: "o", Queue: o, Request: units(6, 3)})
	claim(w, g, units(6, 3), units(2, 1), 3)
	u := preemption.Unit{Gang: "group"}
	for i := range w.Claims[0].Units {
		u.Pods = append(u.Pods, w.Claims[0].Units[i].Pods...)
	}
	w.Claims[0].Units = []preemption.Unit{u}
	p := preemption.Make(*w, &filters{})
	if want := []int64{6, 6, 3}; p.Ideal[g].Get(resource.CPU) != want[0] || p.Ideal[o].Get(resource.CPU) != want[1] || p.Ideal[c].Get(resource.CPU) != want[2] {
		t.Fatalf("the ideals are %v", p.Ideal)
	}
	if got := victimsBy(t, w); got != "c c" {
		t.Errorf("victims are of %q: %v", got, p.Victims)
	}
}

// An application of 3, one of 2 and one of 1 (x, y, z, submitted in this order) run pods of 1 in root.a, which is entitled to 2.
func TestTheLastApplicationInTheOrderLosesPodsFirst(t *testing.T) {
	for policy, want := range map[queue.Policy]string{
		queue.DominantResourceFairness: "x x y x", // 3, 2, 1; then x and y have 2 each, and x the lower priority; then y has 2; then all have 1
		queue.FIFO:                     "z y y x",
		queue.StateAware:               "z y y x",
	} {
		w := worldOf(cpu(6))
		a := addQueue(w, "root.a", cpu(2))
		b := addQueue(w, "root.b", cpu(4))
		w.Queues[a].Inside = queue.Rule{Policy: policy}
		w.Queues[b].Weight = 2000
		addNode(w, cpu(6))
		for i, name := range []string{"x", "y", "z"} {
			w.Applications = append(w.Applications, preemption.Application{Queue: a, Name: name, Usage: cpu(int64(3 - i)), Submitted: int64(i)})
			for range 3 - i {
				run(w, 0, preemption.Candidate{Queue: a, Request: cpu(1), Application: name, Priority: int32(i)})
			}
		}
		claim(w, b, cpu(4), cpu(1), 4)
		p := preemption.Make(*w, &filters{})
		var got []string
		for _, v := range p.Victims {
			for _, c := range w.Nodes[0].Candidates {
				if c.UID == v.UID {
					got = append(got, c.Application)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: victims are of %q, want %q", policy, got, want)
		}
	}
}

// A claim that nobody can pay ends. The clock goes on, and opens it again after another timeout.
func TestAClaimThatIsDeclined(t *testing.T) {
	c := preemption.Clock{Since: 10 * second, Claimed: 10 * second}.Decline(100 * second)
	if want := (preemption.Clock{Since: 10 * second, Declined: 100 * second}); c != want {
		t.Errorf("it is %+v, want %+v", c, want)
	}
	if at := c.Due(timeout(60)); at != 160*second {
		t.Errorf("it is due at %d", at)
	}
	if next, opened := c.Tick(timeout(60), 160*second); !opened || next != (preemption.Clock{Since: 10 * second, Claimed: 10 * second}) {
		t.Errorf("it becomes %+v, opened: %v", next, opened)
	}
	if c := (preemption.Clock{Claimed: 10 * second}).Decline(100 * second); c != (preemption.Clock{}) {
		t.Errorf("a claim without a clock becomes %+v", c)
	}
}
