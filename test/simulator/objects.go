package simulator

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Objects are what the API server holds when a run starts.
type Objects struct {
	Queues []queue.Declaration
	Nodes  []ledger.Node
	Pods   []ledger.Pod
	Groups []ledger.PodGroup
}

// The resources of a simulated world, and an amount of each. Plain integers and not a resource.List: this is the simulator's own
// arithmetic.
var resources = [3]resource.Name{resource.CPU, "example.com/gpu", resource.Memory}

const (
	cpu = iota
	gpu
	memory
)

const gib int64 = 1 << 30

type size [len(resources)]int64

func (s size) plus(o size) size {
	for i := range s {
		s[i] += o[i]
	}
	return s
}

func (s size) minus(o size) size {
	for i := range s {
		s[i] -= o[i]
	}
	return s
}

// someOf reports whether there is some of a resource that is lacking, and that the rule counts.
func (s size) someOf(lacks size, rule queue.Rule) bool {
	for i, n := range resources {
		if s[i] > 0 && lacks[i] > 0 && rule.Counts(n) {
			return true
		}
	}
	return false
}

// within reports whether no amount is larger than the one in o.
func (s size) within(o size) bool {
	for i := range s {
		if s[i] > o[i] {
			return false
		}
	}
	return true
}

func (s size) list() resource.List {
	var es []resource.Entry
	for i, v := range s {
		if v != 0 {
			es = append(es, resource.Entry{Name: resources[i], Value: v})
		}
	}
	return resource.Of(es...)
}

func sizeOf(l resource.List) (s size) {
	for i, n := range resources {
		s[i] = l.Get(n)
	}
	return s
}

// generator draws worlds and, while they run, the objects that are added to them.
type generator struct {
	*rand.Rand
	opts   Options
	pods   int
	queues int
	nodes  int
	groups int
	gpus   bool
	disks  bool // some nodes have an ssd, and some pods want one
	// perPod: every pod is a class of its own, as with extenders.
	perPod bool
	// ageless: some pods do not say when they got their node, or nonsense.
	ageless bool
	leaves  []leafStyle
}

// leafStyle is what the users of a leaf tend to ask for.
type leafStyle struct {
	path  queue.Path
	sizes []size
	apps  int
}

// Generate draws a world: a tree of three to five levels, nodes that hold a part of what is asked for, and pods.
func Generate(seed uint64, o Options) Objects {
	g := newGenerator(seed, o)
	var obs Objects
	root := queue.Declaration{Path: queue.Root, Spec: unlimited()}
	obs.Queues = g.grow([]queue.Declaration{root}, queue.Root, 3+g.IntN(3))
	if o.Adversary {
		obs.Queues = append(obs.Queues, g.adversary())
	}
	n := 20 + g.IntN(60)
	if g.IntN(10) == 0 {
		n = 20 + g.IntN(181)
	}
	var asked size
	if o.Groups {
		n = 15 + g.IntN(25)
	}
	first := g.leaves
	if o.Preemption { // a part of them has what the others will be owed
		first = first[:(len(first)+2)/3]
	}
	for o.Groups && n > 4 && g.IntN(5) > 0 {
		d, pods := g.group(first[g.IntN(len(first))], 0)
		obs.Groups, obs.Pods = append(obs.Groups, d), append(obs.Pods, pods...)
		for _, p := range pods {
			asked = asked.plus(sizeOf(p.Request))
		}
		n -= len(pods)
	}
	for range n {
		p := g.pod(first[g.IntN(len(first))], 0)
		obs.Pods = append(obs.Pods, p)
		asked = asked.plus(sizeOf(p.Request))
	}
	// Between a third and all of what is asked for, over nodes of different shapes.
	part := int64(3 + g.IntN(8))
	count := int64(1 + g.IntN(6))
	obs.Nodes = append(obs.Nodes, g.nodesFor(asked, part, count)...)
	if g.IntN(6) == 0 {
		obs.Pods = append(obs.Pods, g.giants(asked)...)
	}
	for i := range obs.Queues {
		prioritise(&obs.Queues[i], i+int(seed%12))
		o.calculate(&obs.Queues[i], int(seed%5))
		if g.IntN(6) == 0 {
			obs.Queues[i].Spec.Max = g.limit(asked)
		}
		if !o.Calm && g.IntN(6) == 0 {
			obs.Queues[i].Spec.Guaranteed = g.limit(asked)
		}
		if o.Preemption {
			g.hurried(&obs.Queues[i])
		}
		if o.Limits {
			for range 6 {
				g.limitQueue(&obs.Queues[i], asked)
			}
		}
	}
	if !o.Calm && !o.Adversary {
		drawCapacities(seed, obs.Queues)
		drawUserLimits(seed, o, obs.Queues)
		drawEntryLimits(seed, o, obs.Queues)
	}
	return obs
}

func newGenerator(seed uint64, o Options) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), opts: o}
	g.gpus, g.disks, g.perPod = g.IntN(5) == 0, g.IntN(3) == 0, g.IntN(8) == 0
	g.ageless = o.Gates && g.IntN(4) == 0
	return g
}

// grow puts children under the last queue of qs, and so on down to the given number of levels.
func (g *generator) grow(qs []queue.Declaration, parent queue.Path, levels int) []queue.Declaration {
	for range 2 + g.IntN(3) {
		if len(g.leaves) >= 12 {
			break
		}
		d := g.queue(parent)
		qs = append(qs, d)
		// One branch always reaches the bottom, the others may end earlier.
		deeper := d.Path.Depth() < levels && (len(g.leaves) == 0 || g.IntN(2) == 0)
		if deeper {
			qs[len(qs)-1].Spec.Policy = g.innerPolicy()
			qs = g.grow(qs, d.Path, levels)
			continue
		}
		g.leaves = append(g.leaves, g.style(d.Path))
	}
	return qs
}

// unlimited is the spec of a queue that states nothing, and does not hold drivers back.
func unlimited() queue.Spec {
	s := queue.DefaultSpec()
	s.MaxDriverShare = queue.AtMost(limit.WholeShare)
	return s
}

// queue draws a leaf under parent. Names with '-' sort differently as strings than as paths.
func (g *generator) queue(parent queue.Path) queue.Declaration {
	g.queues++
	name := fmt.Sprintf("%c%d", 'a'+rune(g.IntN(4)), g.queues)
	if g.IntN(3) == 0 {
		name = fmt.Sprintf("%c-%d", 'a'+rune(g.IntN(4)), g.queues)
	}
	s := unlimited()
	s.Weight = g.weight()
	s.Policy = queue.Policy(g.IntN(3))
	if g.opts.Limits && g.IntN(2) == 0 {
		s.MaxDriverShare = queue.Limit{} // the default
	}
	d := queue.Declaration{Path: parent + "." + queue.Path(name), Spec: s, Created: int64(g.IntN(50))}
	if g.opts.Gates {
		g.gateQueue(&d)
		g.gateQueue(&d)
	}
	return d
}

func (g *generator) weight() int64 {
	switch {
	case !g.opts.Calm && g.IntN(20) == 0:
		return 0
	case g.IntN(3) == 0:
		return 100 + g.Int64N(9900)
	default:
		return 1000 * int64(1+g.IntN(5))
	}
}

// innerPolicy: in a calm world dominant shares decide everywhere, since that is what is tested there.
func (g *generator) innerPolicy() queue.Policy {
	if g.opts.Calm || g.IntN(4) != 0 {
		return queue.DominantResourceFairness
	}
	return queue.Policy(g.IntN(3)) // FIFO is a mistake of the administrator
}

func (g *generator) style(p queue.Path) leafStyle {
	st := leafStyle{path: p, apps: 1 + g.IntN(4)}
	for range 1 + g.IntN(3) {
		st.sizes = append(st.sizes, g.size())
	}
	return st
}

func (g *generator) size() (s size) {
	switch {
	case g.gpus && g.IntN(4) == 0:
		s = size{cpu: 1000, gpu: int64(1 + g.IntN(2)), memory: 4 * gib}
	case g.IntN(2) == 0: // cpu-heavy
		s = size{cpu: 500 * int64(1+g.IntN(8)), memory: gib * int64(1+g.IntN(2))}
	default: // memory-heavy
		s = size{cpu: 250 * int64(1+g.IntN(2)), memory: gib * int64(4+g.IntN(13))}
	}
	return s
}

func (g *generator) pod(st leafStyle, now int64) ledger.Pod {
	g.pods++
	s := st.sizes[g.IntN(len(st.sizes))]
	p := ledger.Pod{
		UID: ledger.UID(fmt.Sprintf("uid-%04d", g.pods)), Namespace: "default", Name: fmt.Sprintf("pod-%04d", g.pods),
		Queue: string(st.path), Application: fmt.Sprintf("default/job/%s-%d", st.path.Leaf(), g.IntN(st.apps)),
		Request: s.list(), Priority: int32(g.IntN(2)), Created: now + int64(g.IntN(40)),
	}
	p.Classed, p.AskedPriority = g.pods%2 == 0, askedPriority(g.pods)
	p.Class = fmt.Sprintf("%d %v", g.IntN(2), s)
	if g.perPod {
		p.Class = p.Name
	}
	if g.disks && g.IntN(5) == 0 {
		p.Class += " ssd" // a node selector
		p.Eligible = onSSD
	}
	if g.IntN(6) == 0 || g.opts.Limits && g.IntN(2) == 0 {
		p.Role = application.Driver
	}
	if g.opts.Limits {
		p.User = userOf(p.Application)
		if g.IntN(10) == 0 {
			p.User = fmt.Sprintf("user-%d", g.IntN(3))
		}
	}
	if g.opts.Gates {
		g.play(&p)
	}
	if g.opts.Placement {
		p.User, p.Groups = g.drawUser(p.Application)
	}
	if g.IntN(4) == 0 {
		p.Queue = strings.TrimPrefix(p.Queue, "root.") // as in YARN, "root." may be left out
	}
	if g.opts.Preferences {
		g.prefer(&p)
	}
	return p
}

// askedPriority is what the n-th pod asks for its application. It and prioritise take no random number, so that other worlds
// stay as they are.
func askedPriority(n int) application.AskedPriority {
	if n%4 != 0 {
		return application.AskedPriority{}
	}
	return application.AskedPriority{Asked: true, Value: int32(n/4%5 - 2)}
}

// prioritise draws what a queue says about priorities.
func prioritise(d *queue.Declaration, n int) {
	d.Spec.DefaultPriority = int32(n%4 - 1)
	if d.Path == queue.Root {
		d.Spec.MaxPriority = queue.Limit{Stated: n%3 > 0, Most: int64(n%3 - 1)}
	}
}

// giants are pods of one leaf that fit nowhere, each a class of its own, and first in their order.
func (g *generator) giants(world size) (ps []ledger.Pod) {
	st := g.leaves[g.IntN(len(g.leaves))]
	for i := range 5 + g.IntN(30) {
		p := g.pod(st, 0)
		p.Request = size{cpu: world[cpu] + int64(i), memory: gib}.list()
		p.Class, p.Eligible, p.Created, p.Priority = p.Name, nil, 0, 1
		ps = append(ps, p)
	}
	return ps
}

// nodesFor returns nodes of different shapes that together have about so many tenths of what is asked for.
func (g *generator) nodesFor(asked size, tenths, count int64) (nodes []ledger.Node) {
	for range count {
		var s size
		for i, v := range asked {
			s[i] = v * tenths / 10 / count * int64(5+g.IntN(11)) / 10
		}
		nodes = append(nodes, g.node(s))
	}
	return nodes
}

func (g *generator) node(s size) ledger.Node {
	g.nodes++
	n := ledger.Node{Name: fmt.Sprintf("node-%02d", g.nodes), Allocatable: s.list(), Usable: true}
	if g.IntN(10) == 0 {
		n.Pods = 3 + g.IntN(10)
	}
	if g.opts.Preferences {
		n.Rack = rack(g.IntN(3))
	}
	return withFacts(n, !g.disks || g.IntN(2) == 0)
}

// facts are what pods may select nodes by.
type facts struct{ usable, ssd bool }

func withFacts(n ledger.Node, ssd bool) ledger.Node {
	n.Facts = facts{usable: n.Usable, ssd: ssd}
	return n
}

func onSSD(f any) bool { return f.(facts).usable && f.(facts).ssd }

// suits reports whether a pod may use the node, by its class: "ssd" in its name stands for a node selector.
func suits(n ledger.Node, p ledger.Pod) bool {
	return n.Usable && (!strings.Contains(p.Class, "ssd") || n.Facts.(facts).ssd)
}

// limit draws a limit for a queue of a world of the given size. It names some of the resources.
func (g *generator) limit(world size) resource.List {
	var es []resource.Entry
	for i, v := range world {
		if v > 0 && g.IntN(3) != 0 {
			es = append(es, resource.Entry{Name: resources[i], Value: v * int64(1+g.IntN(10)) / 20})
		}
	}
	return resource.Of(es...)
}

// userOf is whose application it mostly is: its number says so.
func userOf(application string) string {
	if application == "" {
		return ""
	}
	return "user-" + application[len(application)-1:]
}

// limitQueue changes one of a queue's limits.
func (g *generator) limitQueue(d *queue.Declaration, world size) {
	atMost := func(n int) queue.Limit {
		if g.IntN(3) == 0 {
			return queue.Limit{}
		}
		return queue.AtMost(int64(g.IntN(n)))
	}
	switch g.IntN(8) {
	case 0, 1:
		d.Spec.MaxRunningApplications = atMost(5)
	case 2:
		if d.Path == queue.Root {
			d.Spec.MaxRunningApplicationsPerUser = atMost(5)
		}
	case 3:
		d.Spec.MaxDriverShare = atMost(1001)
	case 4:
		d.Spec.MaxPod, d.Percent.MaxPod = g.parts(world)
	case 5:
		d.Spec.Max, d.Percent.Max = g.parts(world)
	case 6:
		d.Spec.Guaranteed, d.Percent.Guaranteed = g.parts(world)
	case 7: // lifts most of what holds pods
		d.Spec.MaxPod, d.Spec.Max, d.Percent = resource.List{}, resource.List{}, queue.Percent{}
	}
}

// parts draws amounts of some resources, each absolute or in percent of the cluster.
func (g *generator) parts(world size) (absolute, percent resource.List) {
	var as, ps []resource.Entry
	for i, v := range world {
		switch g.IntN(4) {
		case 0:
			as = append(as, resource.Entry{Name: resources[i], Value: v * int64(1+g.IntN(10)) / 20})
		case 1:
			ps = append(ps, resource.Entry{Name: resources[i], Value: int64(g.IntN(100_001))})
		}
	}
	return resource.Of(as...), resource.Of(ps...)
}
