package integration

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// scale is a number for every run, and one for the long run.
func scale(always, inLong int) int {
	if *long {
		return inLong
	}
	return always
}

const setApart = "example.com/set-apart"

// hopeless returns what makes a pod of the i-th class fit nowhere; i mod 4 says in which way.
func hopeless(i int) func(*v1.Pod) {
	value := fmt.Sprintf("class-%d", i)
	expression := func(key string) *v1.Affinity {
		return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
			NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{
				Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}}}}}
	}
	neighbour := &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
		TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"nobody": value}}}}}}
	return func(p *v1.Pod) {
		switch i % 4 {
		case 0: // larger than any node
			p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = *resource.NewQuantity(int64(1000+i), resource.DecimalSI)
		case 1: // a label that no node has
			p.Spec.NodeSelector = map[string]string{"nobody": value}
		case 2: // nodes with a taint that it does not tolerate
			p.Spec.NodeSelector = map[string]string{setApart: "yes"}
			p.Spec.Tolerations = []v1.Toleration{{Key: value, Operator: v1.TolerationOpExists}}
		default: // an affinity that cannot be had: to nodes, or to other pods
			if p.Spec.Affinity = expression("nobody"); i%8 == 3 {
				p.Spec.Affinity = neighbour
			}
		}
	}
}

// 20,000 hopeless pods in 20 classes and 2,000 that fit, over four queues: a class is tried once and a pod that fits once, also while
// pods end, whose ends wake classes that are larger than what was freed. Each pod has a label of its own, and one that fits has
// anti-affinity, which lets filters look at labels of others.
func TestAHopelessClassCostsOneAttempt(t *testing.T) {
	const classes, queues = 20, 4
	perClass, fitting, ends := scale(50, 1000), scale(300, 2000), scale(20, 100)
	w := newWorldAlone(t, 20, "128", "512Gi")
	w.must(w.cluster.AddNodes(w.ctx, "apart", 2, v1.ResourceList{v1.ResourceCPU: resource.MustParse("128"), v1.ResourceMemory: resource.MustParse("512Gi")},
		func(n *v1.Node) {
			n.Labels[setApart] = "yes"
			n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: setApart, Effect: v1.TaintEffectNoSchedule})
		}))
	var pods []*v1.Pod
	names := map[string]bool{"fits": true}
	for q := range queues {
		w.queue(fmt.Sprintf("root.q%d weight=%d", q, q+1))
	}
	for i := range perClass { // hopeless ones first, in every queue
		for class := range classes {
			p := pod(fmt.Sprintf("hopeless-%d-%d", class, i), fmt.Sprintf("root.q%d", (class/4+i)%queues), "1", "1Gi")
			hopeless(class)(p)
			p.Labels["example.com/index"] = fmt.Sprint(i)
			names[classOf(p.Name)] = true
			pods = append(pods, p)
		}
		for n := fitting * i / perClass; n < fitting*(i+1)/perClass; n++ {
			pods = append(pods, pod(fmt.Sprintf("fits-%d", n), fmt.Sprintf("root.q%d", n%queues), "1", "1Gi"))
		}
	}
	lonely := []v1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"lonely": "yes"}}}}
	pods[len(pods)-1].Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: lonely}}
	start := time.Now()
	c := w.crowd(ledger.Options{Journal: 1_000_000})
	w.create(pods...)
	c.untilFull(fitting)
	c.untilTried(names)
	t.Logf("%d pods created, %d bound after %s", len(pods), fitting, time.Since(start))
	bound := 105 * (classes + fitting) / 100
	c.within("hopeless classes and fitting pods", c.tried.number(), bound, start, classes)

	for i, e := range c.reserved(0)[:ends] {
		c.end(e.Name, i%2 == 0)
	}
	c.untilFull(fitting - ends)
	quiet(t, w, c.s)
	c.within("after pods ended", c.tried.number(), bound, start, classes)
	if n := len(c.reserved(0)); n != fitting {
		t.Errorf("%d reservations for %d pods that fit", n, fitting)
	}
	c.sound()
}

// share is a queue of the test as its order sees it: equal pods, so usage is a number of pods.
type share struct {
	name                  string
	weight, used, waiting int
}

// before: less usage for its weight, then the name.
func (s *share) before(o *share) bool {
	if a, b := s.used*o.weight, o.used*s.weight; a != b {
		return a < b
	}
	return s.name < o.name
}

// A full cluster, and 100 queues in each of which 50 pods of a class of its own wait. Pods end one by one: the room goes to the
// queue that the order says, and costs no attempt of another queue. Then many end at once.
func TestFreedRoomGoesToTheQueueTheOrderSays(t *testing.T) {
	// Nodes without devices have room for everything else all the time.
	t.Run("devices", func(t *testing.T) { freedPlaces(t, device+"0") })
	if *long {
		t.Run("cpu", func(t *testing.T) { freedPlaces(t, v1.ResourceCPU) })
	}
}

func freedPlaces(t *testing.T, scarce v1.ResourceName) {
	queues, perQueue := scale(20, 100), scale(10, 50)
	places, ends := 2*queues, 4*queues
	w := newWorldAlone(t, 0, "1", "1Gi")
	all := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1000"), v1.ResourceMemory: resource.MustParse("4000Gi"), v1.ResourcePods: resource.MustParse("1000")}
	if scarce != v1.ResourceCPU {
		w.must(w.cluster.AddNodes(w.ctx, "plain", 2, all))
	}
	all[scarce] = *resource.NewQuantity(int64(places/4), resource.DecimalSI)
	w.must(w.cluster.AddNodes(w.ctx, "node", 4, all))
	w.queue("root.first")
	c := w.crowd(ledger.Options{Journal: 1_000_000})
	start := time.Now()
	one := v1.ResourceList{scarce: resource.MustParse("1")}
	waits := func(name, queue string) *v1.Pod {
		p := pod(name, queue, "1", "1Gi")
		p.Spec.Containers[0].Resources.Requests[scarce], p.Spec.Containers[0].Resources.Limits = one[scarce], one
		return p
	}
	var first, pods []*v1.Pod
	for i := range places {
		first = append(first, waits(fmt.Sprintf("first-%d", i), "root.first"))
	}
	w.create(first...)
	c.untilFull(places)
	shares, classes := map[string]*share{"root.first": {name: "root.first", weight: 1, used: places}}, map[string]bool{}
	for q := range queues {
		s := &share{name: fmt.Sprintf("root.q%02d", q), weight: 1 + q%4, waiting: perQueue}
		w.queue(fmt.Sprintf("%s weight=%d", s.name, s.weight))
		shares[s.name] = s
		for i := range perQueue {
			p := waits(fmt.Sprintf("q%02d-%d", q, i), s.name)
			p.Spec.Tolerations = []v1.Toleration{{Key: s.name, Operator: v1.TolerationOpExists}}
			classes[classOf(p.Name)] = true
			pods = append(pods, p)
		}
	}
	w.create(pods...)
	c.untilTried(classes)
	c.within("a full cluster", c.tried.number(), 105*(places+queues)/100, start, queues)

	c.endOneByOne(shares, places, ends)
	c.endAtOnce(places, queues)
	c.sound()
}

// endOneByOne ends random pods, each after the place of the one before was taken, and computes who must get each.
func (c *crowd) endOneByOne(shares map[string]*share, places, ends int) {
	c.t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	start, before, from := time.Now(), c.tried.number(), c.nextEntry()
	running := c.reserved(0)
	for i := range ends {
		victim := rng.IntN(len(running))
		shares[string(running[victim].Queue)].used--
		var want *share
		for _, s := range shares { // the order is total, so the map's makes no difference
			if s.waiting > 0 && (want == nil || s.before(want)) {
				want = s
			}
		}
		c.end(running[victim].Name, i%2 == 0)
		c.until("the place is taken", func() (bool, string) { return len(c.reserved(from)) > i, "it is not" })
		c.untilFull(places)
		got := c.reserved(from)[i]
		if string(got.Queue) != want.name {
			c.t.Fatalf("place %d: %s got it, with %+v; it is the turn of %+v", i, got.Queue, *shares[string(got.Queue)], *want)
		}
		want.used, want.waiting = want.used+1, want.waiting-1
		running[victim] = got
	}
	quiet(c.t, c.world, c.s)
	binds := len(c.reserved(from))
	if binds != ends {
		c.t.Errorf("%d reservations for %d places", binds, ends)
	}
	c.within(fmt.Sprintf("%d places one by one in %s", ends, time.Since(start)), c.tried.number()-before, 110*ends/100, start, len(shares)-1)
}

// endAtOnce ends half of the running pods without waiting.
func (c *crowd) endAtOnce(places, classes int) {
	c.t.Helper()
	start, before, from := time.Now(), c.tried.number(), c.nextEntry()
	ended := 0
	for _, p := range c.pods() {
		if p.Spec.NodeName != "" && ended < places/2 {
			c.end(p.Name, ended%2 == 0)
			ended++
		}
	}
	c.until("the places are taken", func() (bool, string) {
		n := len(c.reserved(from))
		return n >= ended, fmt.Sprint(n, " are")
	})
	c.untilFull(places)
	quiet(c.t, c.world, c.s)
	c.within(fmt.Sprintf("%d places at once", ended), c.tried.number()-before, 110*ended/100, start, classes)
}
