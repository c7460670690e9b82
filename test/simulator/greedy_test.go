package simulator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// greed is a cluster that two honest queues would fill for ever with pods of one cpu, and a third queue that submits whatever hurts them most: groups of
// pods so large that they fit on nearly empty nodes only, of as many pods as there are nodes, one after the other and many at a time.
type greed struct {
	w       *World
	rng     *rand.Rand
	nodes   int64
	cpu     int64 // of a node
	weight  int64 // of the greedy queue, in thousandths; the others have 1000 each
	pods    int
	groups  int
	waiting int // honest pods
	most    int64
	wrong   []string
}

const greedRuns = 400 * second

func newGreed(seed uint64) *greed {
	g := &greed{rng: rand.New(rand.NewPCG(seed, 31))}
	g.nodes, g.cpu = 2+g.rng.Int64N(6), 4+g.rng.Int64N(13)
	g.weight = []int64{1, 10, 100, 1000, 4000}[g.rng.IntN(5)]
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}}}
	for _, path := range []queue.Path{"root.greedy", "root.honest", "root.other"} {
		d := queue.Declaration{Path: path, Spec: unlimited()}
		if path == "root.greedy" {
			d.Spec.Weight = g.weight
		}
		obs.Queues = append(obs.Queues, d)
	}
	for i := range g.nodes {
		obs.Nodes = append(obs.Nodes, withFacts(ledger.Node{
			Name: fmt.Sprintf("node-%02d", i), Allocatable: size{cpu: g.cpu * 1000, memory: g.cpu * gib}.list(), Usable: true,
		}, false))
	}
	g.w = Start(seed, obs, Options{Calm: true, Groups: true, Every: -100_000_000, Window: ledger.DefaultWindow})
	g.w.bound = g.isBound
	for range 2 * g.nodes * g.cpu {
		g.honest()
	}
	g.w.at(second+g.rng.Int64N(20*second), g.submit)
	return g
}

// honest submits one more pod: there are always as many waiting as the cluster has cpus.
func (g *greed) honest() {
	g.waiting++
	g.create([]string{"honest", "other"}[g.rng.IntN(2)], "", 1)
}

func (g *greed) create(leaf, group string, cpus int64) {
	g.pods++
	name := fmt.Sprintf("%s-%06d", leaf, g.pods)
	p := ledger.Pod{UID: ledger.UID(name), Name: name, Queue: leaf, Application: name, Created: g.w.now, PodGroup: group,
		Class: fmt.Sprint(leaf, cpus), Request: size{cpu: cpus * 1000, memory: gib}.list()}
	if group != "" {
		p.Application = group
	}
	g.w.create(p)
}

// submit is the greedy user.
func (g *greed) submit() {
	for range 1 + g.rng.IntN(2)*g.rng.IntN(12) {
		g.groups++
		n := 2 + g.rng.Int64N(g.nodes)
		key := fmt.Sprintf("default/greedy-%03d", g.groups)
		g.w.groups[key] = ledger.PodGroup{Key: key, MinMember: int(n)}
		g.w.groupChanged(key)
		cpus := g.cpu/2 + 1 + g.rng.Int64N(g.cpu/2)
		for range n {
			g.create("greedy", key, cpus)
		}
	}
	g.w.at(second+g.rng.Int64N(60*second), g.submit)
}

func (g *greed) isBound(p *pod) {
	if p.PodGroup == "" {
		g.waiting--
		g.honest()
	}
	g.w.at(10*second+g.rng.Int64N(50*second), func() {
		p.exists = false
		g.w.podChanged(p)
	})
}

// look: pods of one cpu wait in queues below their shares. So no more lies idle than the greedy queue is owed and does not use.
func (g *greed) look() {
	if !g.w.idle() {
		return
	}
	var honest, greedy int64
	for _, p := range g.w.pods { // sums: order does not matter
		switch c := sizeOf(p.Request)[cpu] / 1000; {
		case !p.exists || p.Node == "":
		case p.PodGroup == "":
			honest += c
		default:
			greedy += c
		}
	}
	total := g.nodes * g.cpu
	share := total * g.weight / (2000 + g.weight)
	idle := total - honest - greedy
	g.most = max(g.most, idle)
	if idle > max(share-greedy, 0) {
		g.wrong = append(g.wrong, fmt.Sprintf("at %d ms: %d of %d cpu lie idle; the greedy queue uses %d, and its share is %d", g.w.now/millisecond, idle, total, greedy, share))
	}
}

// Whatever one queue submits, what lies idle for it is within its share, at any time.
func TestAGreedyQueueCostsOthersNoMoreThanItsShare(t *testing.T) {
	var holds, idle int64
	for seed := range uint64(20) {
		g := newGreed(seed)
		for g.w.now < greedRuns && g.w.Step() {
			if g.w.now > 5*second {
				g.look()
			}
			if wrong := append(g.w.wrong, g.wrong...); len(wrong) > 0 {
				t.Fatalf("seed %d: %d nodes of %d cpu, weight %d: %q", seed, g.nodes, g.cpu, g.weight, wrong)
			}
		}
		holds += int64(g.w.Holds)
		idle = max(idle, g.most)
	}
	if holds == 0 {
		t.Error("no nodes were held in any world: nothing was tried")
	}
	t.Logf("nodes were held %d times; %d cpu were idle at most", holds, idle)
}
