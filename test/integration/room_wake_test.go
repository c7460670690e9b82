package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const (
	wanted = "example.com/wanted" // label: what a node has that a class asks for
	device = "example.com/device-"
)

// way is one of the ways in which a class that fits nowhere comes to fit.
type way struct {
	name string
	// asks makes the i-th class of this way fit nowhere; fits makes room for it.
	asks func(p *v1.Pod, value string)
	fits func(f *failing, value string, room int)
}

func ways() []way {
	selects := func(p *v1.Pod, value string) { p.Spec.NodeSelector = map[string]string{wanted: value} }
	return []way{
		{"node-comes", selects, func(f *failing, value string, room int) {
			f.nodesFor("new", room, func(n *v1.Node) { n.Labels[wanted] = value })
		}},
		{"label-comes", func(p *v1.Pod, value string) {
			p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
				NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{
					Key: wanted, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}}}}}
		}, func(f *failing, value string, _ int) {
			change(f, nodeNamed("node-0"), func(n *v1.Node) { n.Labels[wanted] = value })
		}},
		{"taint-goes", func(p *v1.Pod, value string) {
			p.Spec.NodeSelector = map[string]string{setApart: value}
		}, func(f *failing, value string, _ int) {
			change(f, nodeNamed("apart-"+value+"-0"), func(n *v1.Node) {
				n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == setApart })
			})
		}},
		{"device-comes", func(p *v1.Pod, value string) {
			one := v1.ResourceList{v1.ResourceName(device + value): resource.MustParse("1")}
			p.Spec.Containers[0].Resources.Requests[v1.ResourceName(device+value)] = resource.MustParse("1")
			p.Spec.Containers[0].Resources.Limits = one
		}, func(f *failing, value string, room int) {
			changeStatus(f, nodeNamed("node-1"), func(n *v1.Node) {
				n.Status.Capacity[v1.ResourceName(device+value)] = *resource.NewQuantity(int64(room), resource.DecimalSI)
				n.Status.Allocatable[v1.ResourceName(device+value)] = *resource.NewQuantity(int64(room), resource.DecimalSI)
			})
		}},
	}
}

// nodesFor adds a node with room for so many pods of 1 cpu.
func (f *failing) nodesFor(prefix string, room int, edits ...func(*v1.Node)) {
	f.t.Helper()
	f.must(f.cluster.AddNodes(f.ctx, prefix, 1, v1.ResourceList{
		v1.ResourceCPU: *resource.NewQuantity(int64(room), resource.DecimalSI), v1.ResourceMemory: resource.MustParse("512Gi"), v1.ResourcePods: resource.MustParse("1000"),
	}, func(n *v1.Node) {
		for _, edit := range edits {
			edit(n)
		}
	}))
}

// Many classes fit nowhere. A node that makes one of them fit wakes that one and no other: its pods are let in one, two, four at a time
// as they find room, until the room is taken, and nothing else is tried.
func TestANodeWakesTheClassThatFitsItAndNoOther(t *testing.T) {
	perWay, perClass, room := scale(3, 8), scale(40, 200), scale(30, 150)
	w := newWorldAlone(t, 2, fmt.Sprint(room), "512Gi")
	w.queue("root.a")
	w.queue("root.b weight=3")
	c := w.crowd(ledger.Options{Journal: 1_000_000})
	f := &failing{world: w, s: c.s}
	start, classes := time.Now(), map[string]bool{}
	var pods []*v1.Pod
	for _, way := range ways() {
		for i := range perWay {
			value := fmt.Sprintf("%s-%d", way.name, i)
			if way.name == "taint-goes" {
				f.nodesFor("apart-"+value, room, func(n *v1.Node) {
					n.Labels[setApart] = value
					n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: setApart, Effect: v1.TaintEffectNoSchedule})
				})
			}
			for j := range perClass {
				p := pod(fmt.Sprintf("%s-%d", value, j), []string{"root.a", "root.b"}[j%2], "1", "1Gi")
				way.asks(p, value)
				classes[value] = true
				pods = append(pods, p)
			}
		}
	}
	w.create(pods...)
	c.untilTried(classes)
	c.within("classes that fit nowhere", c.tried.number(), len(classes), start, len(classes))
	running := 0
	for _, way := range ways() {
		woken := way.name + "-1"
		before, from := c.tried.number(), c.nextEntry()
		way.fits(f, woken, room)
		running += room
		c.untilFull(running)
		quiet(t, w, c.s)
		for class, n := range byClass(c.tried.since(before)) {
			if class != woken {
				t.Errorf("%s: class %s was tried %d times", way.name, class, n)
			}
		}
		// The ledger and kube-scheduler hear of a node each for itself, so the first attempt may come too early.
		c.within(way.name, c.tried.number()-before, 105*(1+room)/100, start, len(classes))
		c.doubles(way.name, woken, from)
	}
	c.sound()
}

// doubles checks how the class was let in: before its n-th reservation 2 to the n-1 of its pods were in kube-scheduler's hands, up to
// the window, and no pod of another class was.
func (c *crowd) doubles(what, class string, from uint64) {
	c.t.Helper()
	inside, maxInFlight, reserved := map[ledger.UID]bool{}, 1, 0
	for _, e := range c.s.Ledger.Journal(from) {
		if classOf(e.Name) != class {
			if e.State == ledger.Released {
				c.t.Errorf("%s: pod %s was let in", what, e.Name)
			}
			continue
		}
		switch e.State {
		case ledger.Released:
			if inside[e.UID] = true; len(inside) > maxInFlight {
				c.t.Errorf("%s: %d pods were let in after %d reservations", what, len(inside), reserved)
			}
			continue
		case ledger.Reserved:
			if reserved < 5 && len(inside) != maxInFlight {
				c.t.Errorf("%s: %d pods were let in before reservation %d, should be %d", what, len(inside), reserved+1, maxInFlight)
			}
			reserved, maxInFlight = reserved+1, min(2*maxInFlight, ledger.DefaultWindow)
		case ledger.Parked:
			maxInFlight = 1
		case ledger.Waiting, ledger.Bound, ledger.Gone:
		}
		delete(inside, e.UID)
	}
}
