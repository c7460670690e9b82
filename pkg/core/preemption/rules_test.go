package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpu(n int64) resource.List { return resource.Of(resource.Entry{Name: resource.CPU, Value: n}) }

// street is a world in which each rule is easily set to work: nodes of 4, rich is entitled to 2, poor to 6.
type street struct {
	*preemption.World
	filters
	rich, poor int
}

func newStreet(nodes int) *street {
	s := &street{World: worldOf(cpu(int64(4 * nodes))), filters: filters{barred: map[string]bool{}, budgets: map[string][]int{}, ports: map[string]string{}, on: map[string]int{}}}
	s.poor = addQueue(s.World, "root.poor", cpu(6))
	s.rich = addQueue(s.World, "root.rich", cpu(2))
	for range nodes {
		addNode(s.World, cpu(4))
	}
	return s
}

// pod runs one of rich's pods.
func (s *street) pod(node int, uid string, size int64) *preemption.Candidate {
	run(s.World, node, preemption.Candidate{UID: uid, Queue: s.rich, Request: cpu(size)})
	n := &s.Nodes[node]
	return &n.Candidates[len(n.Candidates)-1]
}

// asks lets poor claim for pods of these sizes, up to what it is entitled to.
func (s *street) asks(sizes ...int64) *preemption.Claim {
	c := claim(s.World, s.poor, s.Queues[s.poor].Entitlement, cpu(0), len(sizes))
	for i, size := range sizes {
		c.Units[i].Pods[0].Request = cpu(size)
		c.Units[i].Pods[0].UID = fmt.Sprint("c", i)
		c.Units[i].Pods[0].Class = fmt.Sprint("of ", size)
	}
	return c
}

// plan names the victims, and "|", to which nodes claimants are nominated, "|", and why nothing more is found.
func (s *street) plan(t *testing.T) string {
	t.Helper()
	p := preemption.Make(*s.World, &s.filters)
	s.done = nil
	if faults := invariant.Plan(*s.World, p, &s.filters); len(faults) > 0 {
		t.Errorf("the plan breaks its promises: %s", strings.Join(faults, "; "))
	}
	var nominated, unpaid []string
	for _, c := range p.Claims {
		for _, at := range c.Nominations {
			nominated = append(nominated, fmt.Sprint(at.UID, "@", at.Node))
		}
		if c.Unpaid != "" {
			unpaid = append(unpaid, string(c.Unpaid))
		}
	}
	return strings.Join([]string{strings.Join(uids(p), " "), strings.Join(nominated, " "), strings.Join(unpaid, " ")}, "|")
}

// comes lets so many pods of rich be announced, and poor's pods be nominated for them, with room for nothing else.
func (s *street) comes(n int64) {
	for _, q := range []int{s.rich, 0} {
		s.Queues[q].Announced = cpu(n)
	}
	s.Claims[0].Coming = cpu(n)
	s.Queues[s.poor].Usage = s.Queues[s.poor].Usage.Add(cpu(n))
}

func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		world func() *street
		want  string
	}{
		"nobody goes where there is room": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4)
			s.asks(2)
			return s
		}, "|c0@1|"},
		"a pod of a group that finds no room goes no further alone": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4)
			s.pod(1, "b", 4)
			s.Queues[s.rich].Entitlement = cpu(4)
			c := s.asks(3, 3, 1)
			c.Units = []preemption.Unit{{Pods: []preemption.Claimant{c.Units[0].Pods[0], c.Units[1].Pods[0]}, Gang: "u"}, {Pods: c.Units[2].Pods, Gang: "u"}}
			return s
		}, "||NoPlace"},
		"the tighter room is taken": {func() *street {
			s := newStreet(2)
			s.pod(1, "a", 2)
			s.asks(2)
			return s
		}, "|c0@1|"},
		"a whole pod must be owed, a smaller one may be": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4)
			s.pod(1, "b", 4)
			s.asks(7, 4, 3, 2)
			return s
		}, "a|c1@0|NoSurplus"},
		"nothing owed": {func() *street { s := newStreet(2); s.asks(7); return s }, "||NothingOwed"},
		"not below its entitlement": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 3)
			s.pod(0, "b", 1)
			s.asks(4, 1)
			s.Queues[s.rich].Entitlement = cpu(2)
			s.Nodes[1].Free = cpu(0)
			return s
		}, "b|c1@0|NoPlace"},
		"one big pod serves two claimants": {func() *street {
			s := newStreet(3)
			s.pod(0, "a", 2)
			s.pod(0, "b", 2)
			s.pod(1, "c", 4)
			s.pod(2, "d", 2)
			s.pod(2, "e", 2)
			s.asks(2, 2)
			return s
		}, "c|c0@1 c1@1|"},
		"the only room of its size is left to the pod that needs it": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 2)
			s.asks(2, 4)
			return s
		}, "|c0@0 c1@1|"},
		"drivers last": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4).Driver = true
			s.pod(1, "b", 2)
			s.pod(1, "c", 2)
			s.asks(4)
			return s
		}, "b c|c0@1|"},
		"a driver where nobody else will do": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4).Driver = true
			s.pod(1, "b", 4).Driver = true
			s.asks(2)
			return s
		}, "a|c0@0|"},
		"announced, then lower priority, then newest, then by name": {func() *street {
			s := newStreet(2)
			s.pod(0, "old", 1).Priority = -1
			s.pod(0, "low", 1).Priority = -1
			s.Nodes[0].Candidates[1].Bound = 5
			s.pod(0, "a-new", 1).Bound = 9
			s.pod(0, "a-newer", 1).Bound = 10
			s.pod(1, "warned", 1).Announced = true
			s.pod(1, "b", 1)
			s.pod(1, "c", 1)
			s.pod(1, "d", 1)
			s.asks(1, 1, 1, 1, 1)
			return s
		}, "warned low old a-newer a-new|c0@1 c1@0 c2@0 c3@0 c4@0|"},
		"the nominated node among equals": {func() *street {
			s := newStreet(3)
			s.pod(0, "a", 4)
			s.pod(1, "b", 4).Priority = 9
			s.pod(2, "c", 4)
			s.asks(4).Units[0].Pods[0].Nominated = "node-0001"
			return s
		}, "b|c0@1|"},
		"an announced pod rather than one on the nominated node": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4)
			s.pod(1, "warned", 4).Announced = true
			s.asks(4).Units[0].Pods[0].Nominated = "node-0000"
			return s
		}, "warned|c0@1|"},
		"a gang goes whole, from everywhere": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 2).Gang = "g"
			s.pod(0, "b", 2).Gang = "g"
			s.pod(1, "c", 1).Gang = "g"
			s.pod(1, "d", 3).Priority = 5
			s.Queues[s.rich].Entitlement = cpu(3)
			s.asks(4)
			return s
		}, "a b c|c0@0|"},
		"not a gang that must keep a pod": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4).Gang = "g"
			s.pod(1, "b", 4).Gang = "g"
			s.asks(4)
			return s
		}, "||NoSurplus"},
		"a unit is placed whole": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4)
			s.pod(1, "b", 4)
			s.Queues[s.rich].Entitlement = cpu(4)
			c := s.asks(3, 3, 1)
			c.Units = []preemption.Unit{{Pods: []preemption.Claimant{c.Units[0].Pods[0], c.Units[1].Pods[0]}, Gang: "u"}, c.Units[2]}
			return s
		}, "a|c2@0|NoPlace"},
		"a disruption budget": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 2)
			s.pod(0, "b", 2)
			s.pod(1, "c", 4).Priority = 9
			s.budgets["a"], s.budgets["b"], s.allowed = []int{0}, []int{0}, []int{1}
			s.asks(2, 2)
			return s
		}, "c|c0@1 c1@1|"},
		"no more than a disruption budget lets go": {func() *street {
			s := newStreet(1)
			s.Queues[s.rich].Entitlement = cpu(0)
			s.pod(0, "a", 2)
			s.pod(0, "b", 2)
			s.budgets["a"], s.budgets["b"], s.allowed = []int{0}, []int{0}, []int{1}
			s.asks(4, 2)
			return s
		}, "a|c1@0|NoPlace"},
		"what was refused is asked again when something was placed": {func() *street {
			s := newStreet(2)
			s.barred["of 2/0"], s.barred["of 1/1"], s.late = true, true, map[string]bool{"of 2/1": true}
			s.asks(2, 1, 2)
			return s
		}, "|c1@0 c2@1|NoSurplus"},
		"what a filter refuses, another node gives": {func() *street {
			s := newStreet(2)
			s.pod(0, "a", 4)
			s.pod(1, "b", 4)
			s.barred["of 4/0"] = true
			s.asks(4)
			return s
		}, "b|c0@1|"},
		"the pod that is in the way goes": {func() *street {
			s := newStreet(1)
			s.Queues[s.rich].Entitlement = cpu(0)
			s.pod(0, "a", 2)
			s.pod(0, "b", 2).Priority = 7
			s.ports["b"], s.ports["of 2"], s.on["b"] = "80", "80", 0
			s.asks(2)
			return s
		}, "b|c0@0|"},
		"a slot is room too": {func() *street {
			s := newStreet(1)
			s.Queues[s.rich].Entitlement = cpu(1)
			s.pod(0, "a", 1)
			s.pod(0, "b", 1)
			s.Nodes[0].Slots = 0
			s.asks(1)
			return s
		}, "a|c0@0|"},
	} {
		s := c.world()
		if got := s.plan(t); got != c.want {
			t.Errorf("%s: the plan is %q, want %q", name, got, c.want)
		}
	}
}

// Where victims come from: root.a (entitled to 6) has x (3) and y (3), root.b is entitled to 2.
func family(a, b int64) (*street, int, int, int, int) {
	w := worldOf(cpu(8))
	top := addQueue(w, "root.a", cpu(a))
	x := addQueue(w, "root.a.x", cpu(3))
	y := addQueue(w, "root.a.y", cpu(a-3))
	other := addQueue(w, "root.b", cpu(b))
	addNode(w, cpu(4))
	addNode(w, cpu(4))
	return &street{World: w, poor: x, rich: other}, top, x, y, other
}

func TestWhereVictimsComeFrom(t *testing.T) {
	fill := func(s *street, q, node int, uids ...string) {
		for _, uid := range uids {
			run(s.World, node, preemption.Candidate{UID: uid, Queue: q, Request: cpu(1)})
		}
	}
	t.Run("from inside where the parent has what it is entitled to", func(t *testing.T) {
		s, _, _, y, b := family(5, 3)
		fill(s, y, 0, "y1", "y2", "y3", "y4")
		fill(s, y, 1, "y5")
		fill(s, b, 1, "b1", "b2", "b3")
		s.Queues[b].Entitlement = cpu(1) // it has surplus, but root.a is not short
		s.asks(1, 1, 1)
		if got := s.plan(t); got != "y1 y2 y3|c0@0 c1@0 c2@0|" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("from outside up to the parent's entitlement, then from inside", func(t *testing.T) {
		s, _, _, y, b := family(5, 3)
		fill(s, y, 0, "y1", "y2", "y3", "y4")
		fill(s, b, 1, "b1", "b2", "b3", "b4")
		s.Queues[b].Entitlement = cpu(0)
		s.asks(1, 1, 1)
		if got := s.plan(t); got != "b1 y1 y2|c0@1 c1@0 c2@0|" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("a parent at its entitlement protects its children", func(t *testing.T) {
		s, a, _, y, b := family(4, 4)
		fill(s, y, 0, "y1", "y2", "y3", "y4") // y is above its own 1, root.a is at its 4
		s.Nodes[1].Free = cpu(0)
		s.poor = b
		s.asks(1, 1)
		if got := s.plan(t); got != "||NoSurplus" {
			t.Errorf("the plan is %q", got)
		}
		s.Queues[a].Entitlement = cpu(3)
		if got := s.plan(t); got != "y1|c0@0|NoSurplus" {
			t.Errorf("with one above, the plan is %q", got)
		}
	})
	t.Run("under a max only from inside, wherever they run", func(t *testing.T) {
		s, a, _, y, b := family(6, 2)
		fill(s, y, 0, "y1", "y2", "y3", "y4")
		fill(s, b, 1, "b1", "b2", "b3")
		s.Queues[a].Max = cpu(4)
		s.asks(1)
		if got := s.plan(t); got != "y1|c0@0|" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("a max below the claim leaves no room", func(t *testing.T) {
		s, _, x, y, _ := family(6, 2)
		fill(s, y, 0, "y1", "y2", "y3", "y4")
		s.Queues[x].Max = cpu(1)
		s.asks(2)
		if got := s.plan(t); got != "||LimitForbids" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("a max above the claim under which nobody may go", func(t *testing.T) {
		s, a, _, y, b := family(6, 2)
		fill(s, y, 0, "y1", "y2", "y3") // y is entitled to 3
		fill(s, b, 1, "b1", "b2", "b3", "b4")
		s.Queues[a].Max = cpu(3)
		s.asks(1)
		if got := s.plan(t); got != "||LimitForbids" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("a max above the claim that was lowered takes nobody", func(t *testing.T) {
		s, a, _, y, _ := family(6, 2)
		fill(s, y, 0, "y1", "y2", "y3", "y4")
		s.Queues[a].Max = cpu(3)
		s.asks(1)
		if got := s.plan(t); got != "||LimitForbids" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("not from what is not preemptible, nor below it", func(t *testing.T) {
		s, a, _, y, b := family(4, 4)
		fill(s, y, 0, "y1", "y2", "y3", "y4")
		s.Queues[a].Entitlement, s.Queues[a].Preemptible, s.Queues[y].Preemptible = cpu(1), false, false
		s.poor = b
		s.Nodes[1].Free = cpu(0)
		s.asks(1)
		if got := s.plan(t); got != "||NoSurplus" {
			t.Errorf("the plan is %q", got)
		}
		s.Queues[y].Preemptible = true // it undoes that, which its siblings do not
		if got := s.plan(t); got != "y1|c0@0|" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("not the replacement of a pod that was evicted when the claimant waited already", func(t *testing.T) {
		for since, want := range map[int64]string{7: "b3|c0@0|", 8: "b3|c0@0|", 9: "b4|c0@0|"} {
			s, _, _, _, b := family(4, 4)
			fill(s, b, 0, "b1", "b2", "b3", "b4")
			s.Nodes[1].Free = cpu(0)
			for i := range s.Nodes[0].Candidates {
				s.Nodes[0].Candidates[i].Bound = int64(i) // b4 is the newest, and goes first
			}
			s.Nodes[0].Candidates[3].Replaces = 8
			s.Queues[b].Entitlement = cpu(1)
			s.asks(1)
			s.Claims[0].Since = since
			if got := s.plan(t); got != want {
				t.Errorf("since %d: the plan is %q", since, got)
			}
		}
	})
	t.Run("from the queue with the largest surplus, by turns", func(t *testing.T) {
		s, _, x, y, b := family(4, 1)
		s.Queues[y].Entitlement = cpu(0)
		s.Queues[x].Entitlement = cpu(0)
		s.Queues[1].Entitlement = cpu(0)
		fill(s, y, 0, "y1", "y2", "y3", "y4") // 4 above
		fill(s, b, 1, "b1", "b2", "b3", "b4") // 3 above
		poor := addQueue(s.World, "root.c", cpu(4))
		s.poor = poor
		s.asks(1, 1, 1)
		// 4 and 3: y. 3 and 3: a comes before b. 2 and 3: b.
		if got := s.plan(t); got != "y1 y2 b1|c0@0 c1@0 c2@1|" {
			t.Errorf("the plan is %q", got)
		}
	})
	t.Run("a claim inside another is paid first, and its pods are not placed twice", func(t *testing.T) {
		s, a, x, _, b := family(4, 4)
		fill(s, b, 0, "b1", "b2", "b3", "b4")
		fill(s, b, 1, "b5", "b6", "b7", "b8")
		s.Queues[b].Entitlement = cpu(4)
		s.asks(1, 1)
		inside := s.Claims[0]
		outer := inside
		outer.Queue, outer.Target, outer.Since = a, cpu(4), 0
		outer.Units = append(slices.Clone(inside.Units), preemption.Unit{Pods: []preemption.Claimant{{UID: "c2", Queue: x + 1, Request: cpu(1)}}})
		s.Claims = []preemption.Claim{outer, inside}
		p := preemption.Make(*s.World, &s.filters)
		if p.Claims[0].Queue != x || len(p.Claims[0].Nominations) != 2 || len(p.Claims[1].Nominations) != 1 || len(p.Victims) != 3 {
			t.Errorf("nominations: %v and %v, victims %v", p.Claims[0].Nominations, p.Claims[1].Nominations, uids(p))
		}
	})
}

// root.c is paid first, and leaves root.a exactly what it is entitled to. A claim inside root.a may not make it less.
func TestALaterClaimKeepsWhatAnEarlierOneLeft(t *testing.T) {
	w := worldOf(cpu(5))
	a := addQueue(w, "root.a", cpu(4))
	x := addQueue(w, "root.a.x", cpu(2))
	y := addQueue(w, "root.a.y", cpu(1))
	c := addQueue(w, "root.c", cpu(1))
	run(w, addNode(w, cpu(1)), preemption.Candidate{UID: "y1", Queue: y, Request: cpu(1)})
	run(w, addNode(w, cpu(4)), preemption.Candidate{UID: "y4", Queue: y, Request: cpu(4)})
	w.Queues[y].Entitlement = cpu(0)
	claim(w, x, cpu(2), cpu(1), 1)
	if p := preemption.Make(*w, &filters{}); !slices.Equal(uids(p), []string{"y1"}) {
		t.Errorf("alone, %v go", uids(p))
	}
	claim(w, c, cpu(1), cpu(1), 1).Kind = preemption.BelowGuaranteed
	p := preemption.Make(*w, &filters{})
	if !slices.Equal(uids(p), []string{"y1"}) || p.Claims[1].Unpaid != reason.NoSurplus || p.Victims[0].Above != a {
		t.Errorf("%v go, the claim of root.a.x is unpaid for %q", uids(p), p.Claims[1].Unpaid)
	}
}

func TestOrderOfClaims(t *testing.T) {
	w := worldOf(cpu(8))
	a := addQueue(w, "root.a", cpu(4))
	x := addQueue(w, "root.a.x", cpu(4))
	b := addQueue(w, "root.b", cpu(4))
	at := func(q int, k preemption.Kind, since int64) preemption.Claim {
		return preemption.Claim{Queue: q, Kind: k, Since: since}
	}
	want := []preemption.Claim{
		at(x, preemption.BelowGuaranteed, 9), at(b, preemption.BelowGuaranteed, 1), at(x, preemption.BelowFairShare, 5),
		at(b, preemption.BelowFairShare, 2), at(a, preemption.BelowFairShare, 3), at(b, preemption.BelowFairShare, 3),
	}
	mixed := []preemption.Claim{want[5], want[2], want[4], want[0], want[3], want[1]}
	got := preemption.Order(*w, mixed)
	for i := range want {
		if got[i].Queue != want[i].Queue || got[i].Kind != want[i].Kind || got[i].Since != want[i].Since {
			t.Errorf("claim %d is of %s, %s since %d", i, w.Queues[got[i].Queue].Path, got[i].Kind, got[i].Since)
		}
	}
	if mixed[0].Since != 3 {
		t.Error("the claims that were handed in are changed")
	}
}

func TestRounds(t *testing.T) {
	full := func() *street {
		s := newStreet(2)
		for i := range 8 {
			s.pod(i/4, fmt.Sprint("p", i), 1)
		}
		s.asks(1, 1, 1, 1, 1, 1)
		return s
	}
	for name, c := range map[string]struct {
		change func(s *street)
		want   string
	}{
		"all of it":                         {func(*street) {}, "p0 p1 p2 p3 p4 p5|c0@0 c1@0 c2@0 c3@0 c4@1 c5@1|"},
		"a quarter of the cluster":          {func(s *street) { s.Settings.TotalPerRound = 250 }, "p0 p1|c0@0 c1@0|RoundSpent"},
		"one unit at least":                 {func(s *street) { s.Settings.TotalPerRound = 1 }, "p0|c0@0|RoundSpent"},
		"a third of what is owed":           {func(s *street) { s.Settings.NaturalTerminationFactor = 333 }, "p0 p1|c0@0 c1@0|RoundSpent"},
		"half of it, and half is coming":    {func(s *street) { s.comes(3); s.Settings.NaturalTerminationFactor = 500 }, "||RoundSpent"},
		"half of it, and a third is coming": {func(s *street) { s.comes(2); s.Settings.NaturalTerminationFactor = 500 }, "p0|c0@0|RoundSpent"},
		"half of half of the cluster":       {func(s *street) { s.Settings.TotalPerRound, s.Settings.NaturalTerminationFactor = 500, 500 }, "p0 p1|c0@0 c1@0|RoundSpent"},
		"what is announced counts":          {func(s *street) { s.Settings.TotalPerRound = 375; s.comes(2) }, "p0|c0@0|RoundSpent"},
		"not one unit beside announced":     {func(s *street) { s.Settings.TotalPerRound = 1; s.comes(1) }, "||RoundSpent"},
		"a hundredth, so one":               {func(s *street) { s.Settings.NaturalTerminationFactor = 10 }, "p0|c0@0|RoundSpent"},
		"above twice its entitlement: all":  {func(s *street) { s.Settings.MaxIgnoredOverCapacity = 1000 }, "p0 p1 p2 p3 p4 p5|c0@0 c1@0 c2@0 c3@0 c4@1 c5@1|"},
		"four times is not above":           {func(s *street) { s.Settings.MaxIgnoredOverCapacity = 3000 }, "||InDeadZone"},
		"above with what was announced":     {func(s *street) { s.Settings.MaxIgnoredOverCapacity = 3000; s.comes(2) }, "p0 p1 p2 p3|c0@0 c1@0 c2@0 c3@0|"},
		"at the threshold":                  {func(s *street) { s.Used, s.Settings.UtilizationThreshold = cpu(6), 750 }, "||"},
		"just above it":                     {func(s *street) { s.Used, s.Settings.UtilizationThreshold, s.Settings.TotalPerRound = cpu(6), 749, 1 }, "p0|c0@0|RoundSpent"},
	} {
		s := full()
		c.change(s)
		if got := s.plan(t); got != c.want {
			t.Errorf("%s: the plan is %q, want %q", name, got, c.want)
		}
	}
	s := full()
	s.Used = cpu(4)
	p := preemption.Make(*s.World, &s.filters)
	if p.Stopped != preemption.NotBusy || p.StoppedFor != resource.CPU || p.StoppedAt != 4 {
		t.Errorf("stopped %q for %s at %d", p.Stopped, p.StoppedFor, p.StoppedAt)
	}
}

func TestIdealIsTheShareCappedByDemand(t *testing.T) {
	w := worldOf(cpu(100))
	a := addQueue(w, "root.a", resource.List{})
	x := addQueue(w, "root.a.x", resource.List{})
	y := addQueue(w, "root.a.y", resource.List{})
	b := addQueue(w, "root.b", resource.List{})
	c := addQueue(w, "root.c", resource.List{})
	for q, demand := range map[int]int64{0: 400, a: 200, x: 10, y: 190, b: 20, c: 180} {
		w.Queues[q].Demand = cpu(demand)
	}
	w.Queues[c].Guaranteed, w.Queues[c].Weight = cpu(50), 1
	p := preemption.Make(*w, &filters{})
	// c has its guarantee of 50, b all it asks for, the rest is a's; of that x has all it asks for.
	for q, want := range map[int]int64{0: 100, a: 30, x: 10, y: 20, b: 20, c: 50} {
		if got := p.Ideal[q].Get(resource.CPU); got != want {
			t.Errorf("%s: ideal is %d, want %d", w.Queues[q].Path, got, want)
		}
	}
}

// Of 100, a asks for 30 and b for 20; z and y have weight 0 and share the other 50, of which y asks for 10. z is guaranteed 5 as well.
func TestIdealOfWeightZeroIsWhatIsLeft(t *testing.T) {
	w := worldOf(cpu(100))
	a := addQueue(w, "root.a", resource.List{})
	b := addQueue(w, "root.b", resource.List{})
	y := addQueue(w, "root.y", resource.List{})
	z := addQueue(w, "root.z", resource.List{})
	for q, demand := range map[int]int64{0: 400, a: 30, b: 20, y: 10, z: 340} {
		w.Queues[q].Demand = cpu(demand)
	}
	w.Queues[y].Weight, w.Queues[z].Weight = 0, 0
	w.Queues[z].Guaranteed = cpu(5)
	for demandOfA, want := range map[int64]map[int]int64{
		30:  {0: 100, a: 30, b: 20, y: 10, z: 40},
		70:  {0: 100, a: 70, b: 20, y: 5, z: 5}, // 10 are left beside a and b: z has its guarantee, and y as much
		340: {0: 100, a: 75, b: 20, y: 0, z: 5}, // only the guarantee is left
	} {
		w.Queues[a].Demand = cpu(demandOfA)
		p := preemption.Make(*w, &filters{})
		for q, want := range want {
			if got := p.Ideal[q].Get(resource.CPU); got != want {
				t.Errorf("a asks for %d: ideal of %s is %d, want %d", demandOfA, w.Queues[q].Path, got, want)
			}
		}
	}
}

func TestFairLooksAtOneResource(t *testing.T) {
	w := worldOf(units(8, 8))
	poor := addQueue(w, "root.poor", units(0, 4))
	rich := addQueue(w, "root.rich", units(0, 4))
	for q := range w.Queues {
		w.Queues[q].Rule = queue.Rule{Policy: queue.Fair, Resource: resource.Memory}
	}
	addNode(w, units(8, 8))
	run(w, 0, preemption.Candidate{UID: "a", Queue: rich, Request: units(7, 3)})
	run(w, 0, preemption.Candidate{UID: "b", Queue: rich, Request: units(1, 1)})
	claim(w, poor, units(0, 4), units(1, 1), 1)
	// All the cpu is rich's, but of memory it has no more than it is entitled to.
	if p := preemption.Make(*w, &filters{}); len(p.Victims) != 0 || p.Claims[0].Unpaid != reason.NoSurplus {
		t.Errorf("victims %v, unpaid %q", uids(p), p.Claims[0].Unpaid)
	}
}

// p holds all of its max of 184+11: pods of 32 and 40 of p.rich. p.poor claims 4 x 24, which takes three of them (85 are to go; two give 80 at most), and
// p.last-to-claim then 20 more, for which one of 40 has to go (105 are to go in all, three gave 104). With that one gone one of 32 is too many.
func TestAMaxIsAskedInTheEnd(t *testing.T) {
	w := worldOf(cpu(1000))
	p := addQueue(w, "root.p", cpu(1000))
	poor, rich, last := addQueue(w, "root.p.poor", cpu(96)), addQueue(w, "root.p.rich", cpu(0)), addQueue(w, "root.p.last-to-claim", cpu(20))
	w.Queues[p].Max = cpu(195)
	node := addNode(w, cpu(1000))
	for i, size := range []int64{40, 40, 40, 32, 32} {
		run(w, node, preemption.Candidate{UID: fmt.Sprint("v", i), Queue: rich, Request: cpu(size), Bound: int64(i)})
	}
	claim(w, poor, cpu(96), cpu(24), 4)
	claim(w, last, cpu(20), cpu(20), 1).Since = 2
	w.Claims = preemption.Order(*w, w.Claims)
	f := &filters{}
	plan := preemption.Make(*w, f)
	if len(plan.Victims) != 3 || !plan.Taken.Equal(cpu(112)) || len(plan.Claims[0].Nominations)+len(plan.Claims[1].Nominations) != 5 {
		t.Errorf("%q go for %v, nominations %v and %v", uids(plan), plan.Taken, plan.Claims[0].Nominations, plan.Claims[1].Nominations)
	}
	f.done = nil
	if faults := invariant.Plan(*w, plan, f); len(faults) > 0 {
		t.Errorf("the plan breaks its promises: %s", strings.Join(faults, "; "))
	}
}
