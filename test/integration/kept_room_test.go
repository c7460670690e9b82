package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// cores follows how many cpus of the cluster run pods, by the watch: single pods have 1, those of a group more.
type cores struct {
	mu      sync.Mutex
	of      int64 // each pod of a group
	running map[types.UID]int64
	waiting map[types.UID]bool // single pods
}

// cores follows the pods from now on.
func (w *world) cores(ofGroup int64) *cores {
	w.t.Helper()
	c := &cores{of: ofGroup, running: map[types.UID]int64{}, waiting: map[types.UID]bool{}}
	w.follow("", c.see)
	return c
}

func (c *cores) see(p *v1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	single := strings.HasPrefix(p.Name, "single-")
	delete(c.waiting, p.UID)
	delete(c.running, p.UID)
	switch {
	case p.Status.Phase == v1.PodSucceeded:
	case p.Spec.NodeName == "" && single:
		c.waiting[p.UID] = true
	case p.Spec.NodeName != "" && single:
		c.running[p.UID] = 1
	case p.Spec.NodeName != "":
		c.running[p.UID] = c.of
	}
}

// now is how many cpus run pods, and how many single pods wait.
func (c *cores) now() (running, waiting int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.running { // a sum: order does not matter
		running += n
	}
	return running, int64(len(c.waiting))
}

// 20 nodes of 32 cpu. A queue of weight 0.001 has a share of 0.64 of these 640 cpu, and a group that needs all nodes: 20 pods of 30 cpu. Another queue fills
// the cluster, and 1,279 more of its pods wait. No node is held for the group as long as they do: every cpu that becomes free goes on at once. When
// nobody waits any more, the group has its turn.
func TestNoNodesAreEmptiedForAGroupThatIsOwedNothing(t *testing.T) {
	const nodes, perNode, ofGroup, more = 20, 32, 30, 1279
	const all = nodes * perNode
	if !*long {
		t.Skip("takes minutes: make test-long; test/scenarios/kept_room.txt and the siege in test/simulator have the rule")
	}
	w := newWorld(t, nodes, fmt.Sprint(perNode), "128Gi")
	w.queue("root.busy")
	w.queue("root.greedy weight=0.001")
	s, _ := w.scheduler(ledger.Options{})
	c := w.cores(ofGroup)
	singles := func(from, n int, atLeast int) {
		var pods []*v1.Pod
		for i := range n {
			p := pod(fmt.Sprintf("single-%04d", from+i), "root.busy", "1", "1Gi")
			runs(fmt.Sprint(atLeast + i%20))(p)
			pods = append(pods, p)
		}
		w.create(pods...)
	}
	singles(0, all, 45)
	w.until("the cluster is full", func() (bool, string) {
		running, _ := c.now()
		return running == all, fmt.Sprint(running)
	})
	w.must(w.client.Create(w.ctx, podGroupObject("whole", nodes, nil)))
	var group []*v1.Pod
	for i := range nodes {
		group = append(group, member(fmt.Sprintf("whole-%02d", i), "root.greedy", "whole", withCPU(fmt.Sprint(ofGroup)), runs("5")))
	}
	w.create(group...)
	singles(all, more, 15)

	w.until("they wait", func() (bool, string) {
		_, waiting := c.now()
		return waiting > more/2, fmt.Sprint(waiting)
	})
	began, last := time.Now(), time.Now()
	var most, sum int64 // cpus, and cpu-milliseconds
	var half time.Duration
	w.until("fewer than 64 single pods wait", func() (bool, string) {
		running, waiting := c.now()
		idle, passed := all-running, time.Since(last)
		last = time.Now()
		most, sum = max(most, idle), sum+idle*passed.Milliseconds()
		if idle > all/2 {
			half += passed
		}
		if _, held := s.Ledger.NodesOpenTo("nobody"); held {
			t.Fatalf("nodes are held for a group, and %d pods of a queue below its share wait", waiting)
		}
		return waiting < 64, fmt.Sprintf("%d do", waiting)
	})
	took := time.Since(began)
	t.Logf("beside a group that needs %d nodes of %d, %d pods of another queue went on within %s. Of %d cpu, %d were idle at most, and %d on average; more than half of them for %s",
		nodes, nodes, more, took.Round(time.Second), all, most, sum/max(took.Milliseconds(), 1), half)
	if half > 0 {
		t.Errorf("more than half of all cpus were idle for %s", half)
	}
	w.untilGang(s, "default/whole", func(g ledger.PodGroupState) bool { return g.Whole && g.Bound == nodes })
	t.Logf("the group has all its nodes %s after that", time.Since(last).Round(time.Second))
	(&failing{world: w, s: s}).settled()
	w.agree()
}
