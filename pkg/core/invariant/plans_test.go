package invariant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// willing lets everything fit except one claimant, and knows one budget. While pod blocks is there, x does not fit.
type willing struct {
	refused string
	blocks  string
	covered []string
	allowed int
	commits int
}

func (w *willing) Fits(c *preemption.Claimant, _ int, gone []string) bool {
	return c.UID != w.refused && (w.blocks == "" || c.UID != "x" || slices.Contains(gone, w.blocks))
}
func (w *willing) Commit(*preemption.Claimant, int, []string) { w.commits++ }
func (w *willing) Commits() int                               { return w.commits }
func (w *willing) Rollback(n int)                             { w.commits = n }
func (w *willing) Allowed(int) int                            { return w.allowed }
func (w *willing) Budgets(uid string) []int {
	if slices.Contains(w.covered, uid) {
		return []int{0}
	}
	return nil
}

// planned returns two full nodes of 4 cores. root.rich uses 6 cores and is entitled to 3, root.poor.one uses 2
// and root.poor.two none. The claim of root.poor.two is for 2 pods of 1 core. In the plan the gang g (2 pods)
// leaves node a for the first, and 1 pod leaves b for the second.
func planned() (*preemption.World, *preemption.Plan) {
	cpu := func(n int64) resource.List { return resource.Of(resource.Entry{Name: resource.CPU, Value: n}) }
	w := &preemption.World{Total: cpu(8), Used: cpu(8), Settings: preemption.DefaultSettings()}
	w.Queues = []preemption.Queue{
		{Path: "root", Parent: -1, Entitlement: cpu(8), Usage: cpu(8), Preemptible: true},
		{Path: "root.poor", Parent: 0, Entitlement: cpu(5), Usage: cpu(2), Preemptible: true},
		{Path: "root.poor.one", Parent: 1, Entitlement: cpu(2), Usage: cpu(2), Preemptible: true},
		{Path: "root.poor.two", Parent: 1, Entitlement: cpu(3), Preemptible: true},
		{Path: "root.rich", Parent: 0, Entitlement: cpu(3), Usage: cpu(6), Preemptible: true},
	}
	pod := func(uid string, q int, gang string) preemption.Candidate {
		return preemption.Candidate{UID: uid, Queue: q, Request: cpu(1), Gang: gang}
	}
	w.Nodes = []preemption.Node{
		{Name: "a", Slots: 9, Candidates: []preemption.Candidate{pod("a1", 4, "g"), pod("a2", 4, "g"), pod("a3", 4, ""), pod("a4", 2, "")}},
		{Name: "b", Slots: 9, Candidates: []preemption.Candidate{pod("b1", 4, ""), pod("b2", 4, ""), pod("b3", 4, ""), pod("b4", 2, "")}},
	}
	w.Claims = []preemption.Claim{{Queue: 3, Target: cpu(3), Units: []preemption.Unit{
		{Pods: []preemption.Claimant{{UID: "x", Queue: 3, Request: cpu(2)}}},
		{Pods: []preemption.Claimant{{UID: "y", Queue: 3, Request: cpu(1)}}},
	}}}
	return w, &preemption.Plan{
		Claims: []preemption.Payment{{Claim: w.Claims[0], Nominations: []preemption.Nomination{{UID: "x", Queue: 3, Node: 0}, {UID: "y", Queue: 3, Node: 1}}}},
		Victims: []preemption.Victim{
			{UID: "a1", Queue: 4, Node: 0, For: "x", ForQueue: 3, Above: 4, With: "g"},
			{UID: "a2", Queue: 4, Node: 0, For: "x", ForQueue: 3, Above: 4, With: "g"},
			{UID: "b1", Queue: 4, Node: 1, For: "y", ForQueue: 3, Above: 4},
		},
		Taken: cpu(3),
	}
}

// together puts both claimants on node a, and all victims go for the second of them. It returns one of them.
func together(p *preemption.Plan) string {
	p.Claims[0].Nominations[1].Node = 0
	for i, uid := range []string{"a1", "a2", "a3"} {
		p.Victims[i].UID, p.Victims[i].Node, p.Victims[i].For = uid, 0, "y"
	}
	return "a3"
}

// withDevice gives a victim a device, and the cluster one more of them.
func withDevice(w *preemption.World, p *preemption.Plan, node, candidate int) {
	one := resource.Of(resource.Entry{Name: "example.com/device", Value: 1})
	c := &w.Nodes[node].Candidates[candidate]
	c.Request, w.Total, p.Taken = c.Request.Add(one), w.Total.Add(one), p.Taken.Add(one)
}

func TestPlanFaultsAreFound(t *testing.T) {
	cpu := func(n int64) resource.List { return resource.Of(resource.Entry{Name: resource.CPU, Value: n}) }
	victim := func(p *preemption.Plan, uid string, q, node int, of string) {
		p.Victims = append(p.Victims, preemption.Victim{UID: uid, Queue: q, Node: node, For: of, ForQueue: 3, Above: q})
		p.Taken = p.Taken.Add(cpu(1))
	}
	for name, c := range map[string]struct {
		change func(w *preemption.World, p *preemption.Plan, f *willing)
		want   string // "" where all is well
	}{
		"as it is": {func(*preemption.World, *preemption.Plan, *willing) {}, ""},
		"one too many": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			w.Queues[4].Entitlement = cpu(2)
			victim(p, "b2", 4, 1, "y")
		}, "b2: nobody needs its room"},
		"below its entitlement": {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Queues[4].Entitlement = cpu(4) }, "queue root.rich is left with (cpu=3m), below its entitlement of (cpu=4m)"},
		"not preemptible":       {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Queues[4].Preemptible = false }, "queue root.rich is not preemptible"},
		"above it is undone":    {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Queues[0].Preemptible = false }, ""},
		"of the claim's own queue": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			w.Nodes[1].Candidates[0].Queue = 3
			p.Victims[2].Queue = 3
		}, "inside root.poor.two, which claims"},
		"from outside":   {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Queues[1].Entitlement = cpu(4) }, "b1: it is taken from outside root.poor"},
		"ignored excess": {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Settings.MaxIgnoredOverCapacity = 1000 }, "is to be ignored"},
		"a gang torn":    {func(w *preemption.World, p *preemption.Plan, _ *willing) { w.Nodes[1].Candidates[1].Gang = "g" }, "pod b2 of its group g stays"},
		"above its target": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			p.Claims[0].Kind, p.Claims[0].Target = preemption.BelowFairShare, cpu(2)
		}, "more than its target of (cpu=2m)"},
		"above its guarantee": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			p.Claims[0].Kind, p.Claims[0].Target = preemption.BelowGuaranteed, cpu(2)
		}, "asks for nothing that it lacks of its guarantee: with it, it uses (cpu=3m) of (cpu=2m)"},
		"guaranteed to another": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			p.Claims[0].Kind = preemption.BelowGuaranteed
			for i := range w.Queues {
				w.Queues[i].Guaranteed, w.Queues[i].Demand = cpu(100), cpu(100)
			}
		}, "that it is guaranteed"},
		"no room": {func(w *preemption.World, p *preemption.Plan, _ *willing) { w.Nodes[1].Free = cpu(-1) }, "node b: its claimants ask for 1m cpu, and 0 will be free"},
		"no slot": {func(w *preemption.World, p *preemption.Plan, _ *willing) { w.Nodes[1].Slots = -1 }, "node b: 1 claimants, and room for 0"},
		"a slot is needed": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			w.Nodes[1].Free, w.Nodes[1].Slots = cpu(5), 0
		}, ""},
		"more than the round": {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Settings.TotalPerRound = 250 }, "the round takes 3m cpu, and may take 2m"},
		"more than the round of what nobody else takes": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			withDevice(w, p, 0, 0)
			w.Settings.TotalPerRound = 500
		}, ""},
		"more than the round of what two units take": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			withDevice(w, p, 0, 0)
			withDevice(w, p, 1, 0)
			w.Settings.TotalPerRound = 500
		}, "the round takes 2 example.com/device, and may take 1"},
		"nothing of what earlier rounds have spent": {func(w *preemption.World, _ *preemption.Plan, _ *willing) {
			device := func(n int64) resource.List { return resource.Of(resource.Entry{Name: "example.com/device", Value: n}) }
			c := &w.Nodes[1].Candidates[0]
			c.Request, w.Queues[0].Announced = c.Request.Add(device(0)), device(1)
		}, ""},
		"a miscount":        {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Taken = cpu(2) }, "says that it takes (cpu=2m)"},
		"a max":             {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Queues[1].Max = cpu(4) }, "queue root.poor uses 5m cpu of a max of 4m"},
		"a max of the leaf": {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Queues[3].Max = cpu(2) }, "queue root.poor.two uses 3m cpu of a max of 2m"},
		"half a unit": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			p.Claims[0].Units = slices.Clone(p.Claims[0].Units)
			p.Claims[0].Units[1].Pods = append(slices.Clone(p.Claims[0].Units[1].Pods), preemption.Claimant{UID: "z", Queue: 3, Request: cpu(0)})
		}, "of the unit of y 1 pods have no nomination"},
		"refused": {func(_ *preemption.World, _ *preemption.Plan, f *willing) { f.refused = "y" }, "claimant y: the filters refuse node b"},
		"room from a victim for a later claimant": {func(_ *preemption.World, p *preemption.Plan, f *willing) {
			f.blocks = together(p)
		}, ""},
		"blocked by a pod that stays": {func(_ *preemption.World, p *preemption.Plan, f *willing) {
			together(p)
			f.blocks = "a4"
		}, "claimant x: the filters refuse node a"},
		"blocked by a victim on another node": {func(_ *preemption.World, _ *preemption.Plan, f *willing) { f.blocks = "b1" }, "claimant x: the filters refuse node a"},
		"a budget": {func(_ *preemption.World, _ *preemption.Plan, f *willing) {
			f.covered, f.allowed = []string{"a1", "a2"}, 1
		}, "a2: its disruption budget lets 1 pods go"},
		"a budget kept": {func(_ *preemption.World, _ *preemption.Plan, f *willing) {
			f.covered, f.allowed = []string{"a1", "a2"}, 2
		}, ""},
		"again for the same shares": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			w.Nodes[1].Candidates[0].Replaces, p.Claims[0].Since = 7, 7
		}, "b1: the pod that it replaces was evicted when queue root.poor.two waited already"},
		"again for who came later": {func(w *preemption.World, p *preemption.Plan, _ *willing) {
			w.Nodes[1].Candidates[0].Replaces, p.Claims[0].Since = 7, 8
		}, ""},
		"nobody":          {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Victims[0].UID = "nobody" }, "nobody: it goes twice, or does not run"},
		"twice":           {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Victims[1].UID = "a1" }, "a1: it goes twice"},
		"elsewhere":       {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Victims[1].Node = 1 }, "a2: it runs on another node"},
		"for nobody":      {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Victims[1].For = "v" }, "claimant v, for which it goes, has no nomination"},
		"nominated twice": {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Claims[0].Nominations[1].UID = "x" }, "x: it is nominated twice"},
		"a stranger":      {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Claims[0].Nominations[1].UID = "s" }, "s: it is nominated twice, or to no node, or it is not of the claim"},
		"to no node":      {func(_ *preemption.World, p *preemption.Plan, _ *willing) { p.Claims[0].Nominations[1].Node = 2 }, "y: it is nominated twice, or to no node"},
		"kept for a limit": {func(w *preemption.World, _ *preemption.Plan, _ *willing) {
			w.Nodes[1].Free = cpu(3)
			w.Queues[0].Max = cpu(8)
		}, ""},
		"not kept": {func(w *preemption.World, _ *preemption.Plan, _ *willing) { w.Nodes[1].Free = cpu(3) }, "b1: nobody needs its room"},
	} {
		w, p := planned()
		f := &willing{}
		c.change(w, p, f)
		faults := strings.Join(invariant.Plan(*w, *p, f), "\n")
		if (faults == "") != (c.want == "") || !strings.Contains(faults, c.want) {
			t.Errorf("%s: found %s, want %q", name, fmt.Sprintf("%q", faults), c.want)
		}
		if f.commits != 0 {
			t.Errorf("%s: %d commits are left", name, f.commits)
		}
	}
}
