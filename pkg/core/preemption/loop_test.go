package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// town is a cluster with a steady demand: no pod comes, none ends. Its dispatcher is dumb: next is a pod that fits somewhere, of the queue that is
// furthest below its share.
type town struct {
	tree    queue.Tree
	total   resource.List
	nodes   []resource.List
	shares  []resource.List
	pods    []*resident
	open    [2][]bool // claims, by kind and queue
	barred  []bool    // not preemptible
	settled int64
}

type resident struct {
	preemption.Candidate
	node    int // -1: waits
	evicted int
}

func devices(n int64) resource.List {
	return resource.Of(resource.Entry{Name: "nvidia.com/gpu", Value: n})
}

func newTown(r *rand.Rand) *town {
	t := &town{}
	declare := func(path queue.Path, parent int) int {
		spec := queue.Spec{Weight: 1000 * (1 + r.Int64N(4))}
		if parent >= 0 && r.IntN(5) < 2 {
			spec.Guaranteed = units(r.Int64N(4), r.Int64N(4)).Add(devices(r.Int64N(3)))
		}
		t.tree.Nodes = append(t.tree.Nodes, queue.Node{Path: path, Parent: parent, Spec: spec})
		at := len(t.tree.Nodes) - 1
		if parent >= 0 {
			t.tree.Nodes[parent].Children = append(t.tree.Nodes[parent].Children, at)
		}
		t.barred = append(t.barred, parent >= 0 && (t.barred[parent] || r.IntN(15) == 0))
		return at
	}
	declare(queue.Root, -1)
	var leaves []int
	for _, name := range []queue.Path{"root.a", "root.b", "root.c"}[:2+r.IntN(2)] {
		top := declare(name, 0)
		if r.IntN(2) == 0 {
			leaves = append(leaves, top)
			continue
		}
		for _, below := range []queue.Path{".x", ".y"} {
			leaves = append(leaves, declare(name+below, top))
		}
	}
	for range 1 + r.IntN(4) {
		size := units(2+r.Int64N(8), 2+r.Int64N(8)).Add(devices(r.Int64N(4)))
		t.nodes = append(t.nodes, size)
		t.total = t.total.Add(size)
	}
	active := make([]bool, len(t.tree.Nodes))
	for i := range 4 + r.IntN(16) {
		cpu := 1 + r.Int64N(3)
		p := &resident{node: -1}
		p.UID, p.Queue, p.Request = fmt.Sprintf("pod-%02d", i), leaves[r.IntN(len(leaves))], units(cpu, 1+r.Int64N(3)).Add(devices(max(r.Int64N(4)-1, 0)))
		p.Driver, p.Priority = r.IntN(8) == 0, int32(r.IntN(2))
		if r.IntN(6) == 0 {
			p.Gang = fmt.Sprint("gang-", p.Queue)
		}
		active[p.Queue] = true
		t.pods = append(t.pods, p)
	}
	t.shares = fairshare.Shares(t.tree, t.total, active)
	for k := range t.open {
		t.open[k] = make([]bool, len(t.tree.Nodes))
	}
	for _, i := range r.Perm(len(t.pods)) { // first come, first served: unfair on purpose
		t.start(t.pods[i])
	}
	return t
}

func (t *town) free(node int) resource.List {
	out := t.nodes[node]
	for _, p := range t.pods {
		if p.node == node {
			out = out.Sub(p.Request)
		}
	}
	return out
}

func (t *town) start(p *resident) bool {
	for n := range t.nodes {
		if p.node < 0 && p.Request.Fits(t.free(n)) {
			t.settled++
			p.node, p.Bound = n, t.settled
		}
	}
	return p.node >= 0
}

func (t *town) amounts(q int, waiting bool) resource.List {
	var out resource.List
	for _, p := range t.pods {
		if t.tree.Nodes[q].Path.Contains(t.tree.Nodes[p.Queue].Path) && (p.node >= 0 || waiting) {
			out = out.Add(p.Request)
		}
	}
	return out
}

// line is who waits in a queue, in the order of the dispatch: at each level first the children that lack something of their guarantees, with the pods that
// ask for it; then the child that has the smallest part of its share.
func (t *town) line(q int) []*resident {
	var out []*resident
	if len(t.tree.Nodes[q].Children) == 0 {
		for _, p := range t.pods {
			if p.Queue == q && p.node < 0 {
				out = append(out, p)
			}
		}
		return out
	}
	children := slices.Clone(t.tree.Nodes[q].Children)
	part := func(c int) preemption.Share {
		s := preemption.Dominant(queue.Rule{}, t.total, t.amounts(c, false))
		s.Of *= t.tree.Nodes[c].Spec.Weight
		return s
	}
	slices.SortStableFunc(children, func(a, b int) int { return part(a).Compare(part(b)) })
	for _, c := range children {
		for _, p := range t.line(c) {
			if t.gains(c, p) {
				out = append(out, p)
			}
		}
	}
	for _, c := range children {
		for _, p := range t.line(c) {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// gains reports whether a pod asks for something that the queue lacks of its guarantee.
func (t *town) gains(q int, p *resident) bool {
	has, asks := t.amounts(q, false), t.amounts(q, true)
	for i := range t.tree.Nodes[q].Spec.Guaranteed.Len() {
		e := t.tree.Nodes[q].Spec.Guaranteed.At(i)
		if p.Request.Get(e.Name) > 0 && has.Get(e.Name) < min(e.Value, asks.Get(e.Name)) {
			return true
		}
	}
	return false
}

func (t *town) dispatch() {
	for {
		if !slices.ContainsFunc(t.line(0), t.start) {
			return
		}
	}
}

func (t *town) world() *preemption.World {
	w := &preemption.World{Total: t.total, Used: t.amounts(0, false), Settings: preemption.DefaultSettings()}
	for i, n := range t.tree.Nodes {
		w.Queues = append(w.Queues, preemption.Queue{
			Path: n.Path, Parent: n.Parent, Entitlement: t.shares[i], Usage: t.amounts(i, false), Demand: t.amounts(i, true),
			Preemptible: !t.barred[i], Weight: n.Spec.Weight, Guaranteed: n.Spec.Guaranteed, Active: true,
		})
	}
	for i := range t.nodes {
		n := preemption.Node{Name: fmt.Sprint("node-", i), Free: t.free(i), Slots: 110}
		for _, p := range t.pods {
			if p.node == i {
				n.Candidates = append(n.Candidates, p.Candidate)
			}
		}
		w.Nodes = append(w.Nodes, n)
	}
	for i, q := range w.Queues[1:] {
		for _, k := range []preemption.Kind{preemption.BelowGuaranteed, preemption.BelowFairShare} {
			target := preemption.Target(q.Entitlement, q.Demand)
			bound := preemption.ThresholdBound(q.Entitlement, 500, q.Demand)
			if k == preemption.BelowGuaranteed {
				target = preemption.GuaranteedTarget(q.Rule, q.Guaranteed, q.Demand)
				bound = target
			}
			if k.Below(q.Rule, t.total, q.Usage, bound) {
				t.open[k][i+1] = true
			}
			if !k.Below(q.Rule, t.total, q.Usage, target) {
				t.open[k][i+1] = false
			}
			if !t.open[k][i+1] {
				continue
			}
			c := preemption.Claim{Queue: i + 1, Kind: k, Since: 1, Target: target}
			for _, p := range t.line(i + 1) {
				if k == preemption.BelowFairShare || t.gains(i+1, p) {
					c.Units = append(c.Units, preemption.Unit{Pods: []preemption.Claimant{{UID: p.UID, Queue: p.Queue, Request: p.Request, Class: p.UID}}})
				}
			}
			w.Claims = append(w.Claims, c)
		}
	}
	w.Claims = preemption.Order(*w, w.Claims)
	return w
}

func (t *town) pod(uid string) *resident {
	return t.pods[slices.IndexFunc(t.pods, func(p *resident) bool { return p.UID == uid })]
}

// round makes a plan and carries it out. It returns how many pods went.
func (t *town) round() (int, error) {
	t.dispatch()
	w := t.world()
	p := preemption.Make(*w, &filters{})
	if faults := invariant.Plan(*w, p, nil); len(faults) > 0 {
		return 0, fmt.Errorf("%s", strings.Join(faults, "; "))
	}
	for _, v := range p.Victims {
		t.pod(v.UID).node = -1
		t.pod(v.UID).evicted++
	}
	for _, c := range p.Claims {
		for _, at := range c.Nominations {
			t.settled++
			t.pod(at.UID).node, t.pod(at.UID).Bound = at.Node, t.settled
		}
	}
	return len(p.Victims), nil
}

// With a steady demand evictions stop. Towns have no eviction memory (rule 5 of ADR 0021), so now and then a pod that came back into room which no
// claim could use is evicted once more, but never a third time.
func TestEvictionsStop(t *testing.T) {
	evicted, again, most := 0, 0, 0
	for seed := range runs(2000) {
		town := newTown(rand.New(rand.NewPCG(uint64(seed), 4)))
		for rounds := 1; ; rounds++ {
			n, err := town.round()
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, rounds, err)
			}
			evicted += n
			most = max(most, rounds)
			if n == 0 {
				break
			}
			for _, p := range town.pods {
				if p.evicted > 2 {
					t.Fatalf("seed %d, round %d: %s was evicted %d times", seed, rounds, p.UID, p.evicted)
				}
			}
			if rounds > 50 {
				t.Fatalf("seed %d: evictions do not stop", seed)
			}
		}
		for _, p := range town.pods {
			if p.evicted > 1 {
				again++
			}
		}
	}
	t.Logf("%d evictions, %d of a pod that was evicted before, at most %d rounds", evicted, again, most)
	if again > evicted/1000 {
		t.Errorf("%d of %d evictions were of a pod that was evicted before", again, evicted)
	}
	if evicted < runs(2000)/10 {
		t.Errorf("only %d evictions: the towns try nothing", evicted)
	}
}
