package whatif

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

var runsFlag = flag.Int("runs", 150, "number of random clusters")

// kinds are what filters tell pods apart by. A pod of a kind carries the label app=<kind>.
var kinds = map[string]func(*st.PodWrapper) *st.PodWrapper{
	"plain": func(p *st.PodWrapper) *st.PodWrapper { return p },
	"port":  func(p *st.PodWrapper) *st.PodWrapper { return p.HostPort(80) },
	"lonely": func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAntiAffinityIn("app", "host", []string{"lonely"}, st.PodAntiAffinityWithRequiredReq)
	},
	"hostile": func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAntiAffinityIn("app", "zone", []string{"port", "friend"}, st.PodAntiAffinityWithRequiredReq)
	},
	"friend": func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAffinityIn("app", "host", []string{"plain"}, st.PodAffinityWithRequiredReq)
	},
	"flock": func(p *st.PodWrapper) *st.PodWrapper {
		return p.PodAffinityIn("app", "zone", []string{"flock"}, st.PodAffinityWithRequiredReq)
	},
	"spread": func(p *st.PodWrapper) *st.PodWrapper {
		return p.SpreadConstraint(1, "zone", v1.DoNotSchedule, metav1.SetAsLabelSelector(map[string]string{"app": "spread"}), nil, nil, nil, nil)
	},
}

// town is a random cluster that is nearly full, and what the ledger would say of it.
type town struct {
	*rand.Rand
	world preemption.World
	nodes []*v1.Node
	pods  []*v1.Pod
	plain bool // no pod has anything but a size
	units int  // of a claim, at most
}

func cpus(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: 1000 * n})
}

func newTown(seed uint64) *town {
	t := &town{Rand: rand.New(rand.NewPCG(seed, 1)), units: 4}
	t.plain = t.IntN(3) == 0
	nodes := 2 + t.IntN(4)
	if seed%25 == 0 { // too large to look for fewer victims for a whole claim
		nodes, t.units = 70, 20
	}
	for i := range nodes {
		name := fmt.Sprintf("%c%d", 'a'+i%3, i)
		t.nodes = append(t.nodes, node(name).Obj())
		t.world.Nodes = append(t.world.Nodes, preemption.Node{Name: name, Free: cpus(4), Slots: 10})
		t.world.Total = t.world.Total.Add(cpus(4))
	}
	slices.SortFunc(t.world.Nodes, func(a, b preemption.Node) int { return strings.Compare(a.Name, b.Name) })
	t.world.Settings, t.world.Used = preemption.DefaultSettings(), t.world.Total
	cores := t.world.Total.Get(resource.CPU) / 1000
	for i, path := range []queue.Path{"root", "root.poor", "root.poor.x", "root.poor.y", "root.rich", "root.richer"} {
		parent := []int{-1, 0, 1, 1, 0, 0}[i]
		entitled := []int64{cores, cores - 2, cores / 2, cores/2 - 2, 1, 1}[i]
		t.world.Queues = append(t.world.Queues, preemption.Queue{Path: path, Parent: parent, Entitlement: cpus(entitled), Preemptible: true, Weight: 1000, Active: true})
	}
	for i := range t.world.Nodes {
		for t.world.Nodes[i].Free.Get(resource.CPU) > 0 && t.IntN(12) > 0 {
			t.run(i)
		}
	}
	for _, q := range []int{2, 3, 1} {
		t.claim(q)
	}
	return t
}

func (t *town) kind() string {
	if t.plain || t.IntN(2) == 0 {
		return "plain"
	}
	all := slices.Sorted(maps.Keys(kinds))
	return all[t.IntN(len(all))]
}

// run fills a part of a node with a pod of one of the rich queues. Some leave already and count as gone; some have been nominated to the node
// and count as there.
func (t *town) run(at int) {
	n, kind := &t.world.Nodes[at], t.kind()
	size := 1 + t.Int64N(min(3, n.Free.Get(resource.CPU)/1000))
	c := preemption.Candidate{UID: fmt.Sprintf("%s-%d", n.Name, len(t.pods)), Queue: 4 + t.IntN(2), Request: cpus(size), Bound: t.Int64N(9)}
	if t.IntN(3) == 0 {
		c.Gang = fmt.Sprint("gang-", c.Queue, "-", t.IntN(3))
	}
	p := kinds[kind](pod(c.UID, n.Name, int(size)).Label("app", kind)).Obj()
	p.Status.Phase = v1.PodRunning
	t.pods = append(t.pods, p)
	switch t.IntN(10) {
	case 0:
		t.world.Gone = append(t.world.Gone, c.UID)
		return
	case 1:
		p.Spec.NodeName, p.Status.Phase = "", v1.PodPending
		t.world.Coming = append(t.world.Coming, preemption.Nomination{UID: c.UID, Queue: c.Queue, Node: at})
	default:
		n.Candidates = append(n.Candidates, c)
	}
	n.Free, n.Slots = n.Free.Sub(c.Request), n.Slots-1
	for q := c.Queue; q >= 0; q = t.world.Queues[q].Parent {
		t.world.Queues[q].Usage = t.world.Queues[q].Usage.Add(c.Request)
	}
}

// claim adds a claim of a queue, with single pods and groups.
func (t *town) claim(q int) {
	c := preemption.Claim{Queue: q, Kind: preemption.Kind(t.IntN(2)), Since: 1, Target: t.world.Queues[q].Entitlement}
	leaf := q
	if q == 1 {
		leaf = 2 + t.IntN(2)
	}
	for i := range 1 + t.IntN(t.units) {
		u, kind, size := preemption.Unit{}, t.kind(), 1+t.Int64N(3)
		pods := 1
		if t.IntN(3) == 0 {
			pods, u.Gang = 2+t.IntN(2), fmt.Sprint("group-", q, "-", i)
		}
		for j := range pods {
			uid := fmt.Sprintf("claimant-%d-%d-%d", q, i, j)
			t.pods = append(t.pods, kinds[kind](pod(uid, "", int(size)).Label("app", kind)).Obj())
			u.Pods = append(u.Pods, preemption.Claimant{UID: uid, Queue: leaf, Request: cpus(size), Class: fmt.Sprint(kind, size)})
		}
		c.Units = append(c.Units, u)
	}
	t.world.Claims = append(t.world.Claims, c)
}

// With kube-scheduler's own filters, the check refuses no plan.
func TestTheCheckRefusesNoPlan(t *testing.T) {
	nominations, victims, refused := 0, 0, 0
	for seed := range uint64(*runsFlag) {
		town := newTown(seed)
		c := newCluster(t, town.nodes, town.pods)
		c.world = town.world
		a := c.look()
		p := preemption.Make(town.world, a)
		for i := range p.Claims {
			nominations += len(p.Claims[i].Nominations)
		}
		victims += len(p.Victims)
		if wrong := invariant.Plan(town.world, p, a); len(wrong) > 0 {
			refused++
			t.Errorf("cluster %d: %q", seed, wrong)
		}
	}
	t.Logf("%d clusters: %d nominations, %d victims, %d plans refused", *runsFlag, nominations, victims, refused)
	if victims < *runsFlag {
		t.Errorf("only %d victims: the clusters try nothing", victims)
	}
}
