package simulator

import (
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Where all siblings are backlogged from the start and no pod ends: at every prefix of the order of reservations, the dominant shares
// divided by weight of any two siblings that both have waiting pods that fit differ by no more than window + 1 of the larger one's
// largest pods. Siblings are queues under one parent, and applications in a leaf whose policy is DominantResourceFairness.
func TestAtEveryPrefixOfTheOrderSiblingsAreWithinAWindow(t *testing.T) {
	var pairs, contested atomic.Int64
	seeds(t, 2000, func(seed uint64, _ Options) error {
		o := Options{Calm: true, Every: -1}
		obs := Generate(seed, o)
		w := Start(seed, obs, o)
		j := newJudge(obs, int64(w.Window)+1)
		j.thorough = seed%25 == 0
		if err := j.follow(w); err != nil {
			return err
		}
		pairs.Add(j.pairs)
		contested.Add(j.contested)
		o.Shuffle = seed
		shuffled := Start(seed, obs, o)
		if err := shuffled.Close(20000); err != nil {
			return err
		}
		if !slices.Equal(w.Reserved, shuffled.Reserved) {
			return fmt.Errorf("seed %d: the order in which objects are seen changes the order of reservations:\n%v\n%v",
				seed, w.Reserved, shuffled.Reserved)
		}
		return nil
	})
	t.Cleanup(func() {
		t.Logf("of one world in 25: %d pairs compared, %d of them with waiting pods that fit on both sides", pairs.Load(), contested.Load())
	})
}

// One pod is what a window + 1 comes to, because what was chosen while a hopeless pod was charged is chosen again. A change that needs
// more of the window has to say what for.
func TestTheOrderIsExactToOnePod(t *testing.T) {
	seeds(t, 500, func(seed uint64, _ Options) error {
		seed += 1 << 32 // other worlds
		o := Options{Calm: true, Every: -1}
		obs := Generate(seed, o)
		return newJudge(obs, 1).follow(Start(seed, obs, o))
	})
}

// A queue starts with more hopeless classes than the window holds, and none of them may cost it its turn.
func TestHopelessClassesDoNotCostTheirQueueItsTurn(t *testing.T) {
	var obs Objects
	for _, path := range []queue.Path{"root", "root.a", "root.b"} {
		obs.Queues = append(obs.Queues, queue.Declaration{Path: path, Spec: unlimited()})
	}
	obs.Nodes = []ledger.Node{{Name: "node", Allocatable: size{cpu: 60_000, memory: 60 * gib}.list(), Usable: true}}
	pod := func(leaf string, i int, class string, milli int64) {
		obs.Pods = append(obs.Pods, ledger.Pod{
			UID: ledger.UID(fmt.Sprintf("%s-%03d", leaf, i)), Queue: leaf, Application: leaf, Class: class,
			Request: size{cpu: milli, memory: gib}.list(), Created: int64(i),
		})
	}
	for i := range 20 {
		pod("b", i, fmt.Sprintf("hopeless-%d", i), 100_000)
	}
	for i := range 60 {
		pod("a", 100+i, "small", 1000)
		pod("b", 100+i, "small", 1000)
	}
	for _, window := range []int{2, 3, 8} {
		for seed := range uint64(50) {
			w := Start(seed, obs, Options{Calm: true, Every: -1, Window: window})
			if err := newJudge(obs, int64(window)+1).follow(w); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// judge follows an order of reservations and computes all it needs from the objects, in big integers.
type judge struct {
	ahead   int64 // how many of its largest pods a sibling may be ahead
	total   size
	nodes   map[string]ledger.Node
	free    map[string]size
	placed  map[string]int
	queues  map[queue.Path]*sibling
	limits  map[queue.Path]resource.List
	apps    map[string]*sibling
	pods    map[ledger.UID]ledger.Pod
	waiting map[ledger.UID]bool

	thorough         bool
	pairs, contested int64
}

// sibling is a queue under its parent, or an application in its leaf.
type sibling struct {
	name    string
	parent  *sibling
	peers   *[]*sibling // nil: dominant shares do not order it
	below   []*sibling
	weight  int64
	used    size
	largest *big.Int // dominant share of its largest pod
	pods    []ledger.UID
}

func newJudge(obs Objects, ahead int64) *judge {
	j := &judge{
		ahead: ahead, nodes: map[string]ledger.Node{}, free: map[string]size{}, placed: map[string]int{}, queues: map[queue.Path]*sibling{}, limits: map[queue.Path]resource.List{},
		apps: map[string]*sibling{}, pods: map[ledger.UID]ledger.Pod{}, waiting: map[ledger.UID]bool{},
	}
	for _, n := range obs.Nodes {
		j.nodes[n.Name], j.free[n.Name] = n, sizeOf(n.Allocatable)
		j.total = j.total.plus(sizeOf(n.Allocatable))
	}
	byDepth := slices.SortedFunc(slices.Values(obs.Queues), func(a, b queue.Declaration) int { return a.Path.Depth() - b.Path.Depth() })
	policies := map[queue.Path]queue.Policy{}
	for _, q := range byDepth {
		policies[q.Path], j.limits[q.Path] = q.Spec.Policy, q.Spec.Max
		j.queues[q.Path] = newSibling(string(q.Path), q.Spec.Weight, j.queues[q.Path.Parent()], true)
	}
	for _, p := range obs.Pods {
		j.pods[p.UID], j.waiting[p.UID] = p, true
		leaf := home(&p)
		if j.apps[p.Application] == nil {
			ordered := policies[leaf] == queue.DominantResourceFairness
			j.apps[p.Application] = newSibling(p.Application, queue.DefaultWeight, j.queues[leaf], ordered)
		}
		d := j.dominant(sizeOf(p.Request))
		for s := j.apps[p.Application]; s != nil; s = s.parent {
			s.pods = append(s.pods, p.UID)
			if d.Cmp(s.largest) > 0 {
				s.largest = d
			}
		}
	}
	return j
}

func newSibling(name string, weight int64, parent *sibling, ordered bool) *sibling {
	s := &sibling{name: name, weight: weight, parent: parent, largest: new(big.Int)}
	if parent != nil && ordered {
		parent.below = append(parent.below, s)
		s.peers = &parent.below
	}
	return s
}

// dominant is the largest share of the cluster, times the product of all totals, which makes it an integer.
func (j *judge) dominant(used size) *big.Int {
	most := new(big.Int)
	for i := range used {
		if j.total[i] == 0 {
			continue
		}
		share := big.NewInt(used[i])
		for k := range j.total {
			if k != i && j.total[k] != 0 {
				share.Mul(share, big.NewInt(j.total[k]))
			}
		}
		if share.Cmp(most) > 0 {
			most = share
		}
	}
	return most
}

// follow runs the world to its end and judges the order.
func (j *judge) follow(w *World) error {
	if err := w.Close(20000); err != nil {
		return err
	}
	if wrong := w.Ledger.Check(); len(wrong) > 0 {
		return fmt.Errorf("seed %d: %q", w.seed, wrong)
	}
	if err := j.judge(w.Reserved); err != nil {
		return fmt.Errorf("seed %d, window %d: %w", w.seed, w.Window, err)
	}
	return nil
}

func (j *judge) judge(order []Reservation) error {
	for n, step := range order {
		p := j.pods[step.UID]
		s := sizeOf(p.Request)
		j.waiting[step.UID] = false
		if !j.hasRoom(step.Node, p) {
			return fmt.Errorf("step %d: %s does not fit on %s", n, step.UID, step.Node)
		}
		j.free[step.Node] = j.free[step.Node].minus(s)
		j.placed[step.Node]++
		for a := j.apps[p.Application]; a != nil; a = a.parent {
			a.used = a.used.plus(s)
		}
		// Only pairs with a sibling that was just served can have come to differ more, since what fits only ever becomes less.
		for a := j.apps[p.Application]; a != nil; a = a.parent {
			if a.peers == nil {
				continue
			}
			for _, b := range *a.peers {
				if err := j.compare(a, b); a != b && err != nil {
					return fmt.Errorf("after reservation %d of %d: %w", n+1, len(order), err)
				}
			}
		}
	}
	return nil
}

func (j *judge) compare(a, b *sibling) error {
	x, y := j.dominant(a.used), j.dominant(b.used)
	x.Mul(x, big.NewInt(b.weight))
	y.Mul(y, big.NewInt(a.weight))
	if x.Cmp(y) < 0 {
		a, b, x, y = b, a, y, x
	}
	x.Sub(x, y) // the difference, times both weights
	pod := new(big.Int).Mul(a.largest, big.NewInt(b.weight))
	bound := new(big.Int).Mul(pod, big.NewInt(j.ahead))
	exceeds := x.Cmp(bound) > 0
	if !exceeds && !j.thorough {
		return nil
	}
	both := j.fits(a) && j.fits(b)
	j.pairs++
	if both {
		j.contested++
	}
	if exceeds && both {
		apart, _ := new(big.Rat).SetFrac(x, pod).Float64()
		return fmt.Errorf("%s (weight %d, uses %v) is %.2f of its largest pods ahead of %s (weight %d, uses %v)",
			a.name, a.weight, a.used, apart, b.name, b.weight, b.used)
	}
	return nil
}

// fits reports whether a waiting pod below s finds room on a node and within every limit.
func (j *judge) fits(s *sibling) bool {
	return slices.ContainsFunc(s.pods, func(uid ledger.UID) bool {
		p := j.pods[uid]
		return j.waiting[uid] && !j.waitsForDriver(p) && j.fitsSomewhere(p) && j.admits(home(&p), sizeOf(p.Request))
	})
}

// waitsForDriver: its application has drivers, and none of them has been reserved yet.
func (j *judge) waitsForDriver(p ledger.Pod) bool {
	drivers := 0
	for _, uid := range j.apps[p.Application].pods {
		switch o := j.pods[uid]; {
		case o.Role != application.Driver:
		case !j.waiting[uid]:
			return false
		default:
			drivers++
		}
	}
	return p.Role != application.Driver && drivers > 0
}

func (j *judge) fitsSomewhere(p ledger.Pod) bool {
	for name := range j.nodes {
		if j.hasRoom(name, p) {
			return true
		}
	}
	return false
}

func (j *judge) hasRoom(name string, p ledger.Pod) bool {
	n := j.nodes[name]
	return suits(n, p) && (n.Pods == 0 || j.placed[name] < n.Pods) && sizeOf(p.Request).within(j.free[name])
}

func (j *judge) admits(leaf queue.Path, s size) bool {
	for q := leaf; q != ""; q = q.Parent() {
		used := j.queues[q].used.plus(s)
		for i, n := range resources {
			if limit, limited := j.limits[q].Lookup(n); limited && used[i] > limit {
				return false
			}
		}
	}
	return true
}
