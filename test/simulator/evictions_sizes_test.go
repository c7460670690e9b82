package simulator

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// newSizes draws a small world that looks for a cycle between claims of guarantees and claims of fair shares: two or three levels of queues, guarantees
// of several resources at each of them, and pods from one unit to a whole node, so that a victim is often larger than its claimant and the queues
// around both have less than before.
func newSizes(seed uint64) *steady {
	s := emptySteady(seed, 22)
	s.faults, s.late, s.restarts = s.IntN(8) == 0, s.IntN(4) == 0, s.IntN(8) == 0
	unit := size{cpu: 1000, memory: gib, gpu: 1}
	var total, node, has size
	for i := range unit {
		node[i] = int64(3 + s.IntN(10))
	}
	for i := range 1 + s.IntN(3) {
		for j := range unit {
			has[j] = node[j] * unit[j]
		}
		total = total.plus(has)
		s.obs.Nodes = append(s.obs.Nodes, withFacts(ledger.Node{Name: fmt.Sprintf("node-%d", i), Allocatable: has.list(), Usable: true}, true))
	}
	root := queue.Declaration{Path: queue.Root, Spec: unlimited()}
	p := &root.Spec.Preemption
	p.FairShareThreshold, p.UtilizationThreshold = queue.AtMost(500+s.Int64N(501)), queue.AtMost(0)
	p.FairShareTimeout, p.GuaranteedTimeout = s.soon(4), s.soon(4)
	p.Interval, p.MaxWaitBeforeKill = s.soon(3), s.soon(2)
	s.obs.Queues = append(s.obs.Queues, root)
	leaves := s.spread(queue.Root, 2+s.IntN(2), total)
	for range 8 + s.IntN(20) {
		var request size
		leaf := leaves[s.IntN(len(leaves))]
		for i := range unit {
			switch s.IntN(8) {
			case 0, 1: // none of it
			case 2:
				request[i] = unit[i] * (1 + s.Int64N(node[i]))
			default:
				request[i] = unit[i] * (1 + s.Int64N(2))
			}
		}
		if s.IntN(12) == 0 {
			request = has
		}
		if request == (size{}) {
			request = unit
		}
		for range 1 + s.IntN(3) {
			s.add(leaf, request)
		}
	}
	s.overcommit(total, seed)
	return s
}

func (s *steady) soon(seconds int64) queue.Timeout {
	return queue.Timeout{Stated: true, Nanoseconds: second * s.Int64N(seconds)}
}

// spread puts two or three children below a queue, and so on down to the given number of levels, and returns the leaves.
func (s *steady) spread(parent queue.Path, levels int, total size) (leaves []queue.Path) {
	for i := range 2 + s.IntN(2) {
		d := queue.Declaration{Path: parent + queue.Path(fmt.Sprintf(".%c", 'a'+i)), Spec: unlimited()}
		d.Spec.Weight, d.Spec.Policy = []int64{1, 500, 1000, 1000, 2000, 5000}[s.IntN(6)], queue.DominantResourceFairness
		if s.IntN(8) == 0 {
			d.Spec.Policy = queue.Fair
		}
		if s.IntN(3) > 0 {
			var due size
			for i, has := range total {
				if s.IntN(2) == 0 {
					due[i] = has * s.Int64N(11) / 30
				}
			}
			d.Spec.Guaranteed = due.list()
		}
		if s.IntN(8) == 0 {
			d.Spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Never: true}
		}
		s.obs.Queues = append(s.obs.Queues, d)
		if levels == 1 || levels > 1 && i > 0 && s.IntN(4) == 0 {
			leaves = append(leaves, d.Path)
			continue
		}
		leaves = append(leaves, s.spread(d.Path, levels-1, total)...)
	}
	return leaves
}

func (s *steady) add(leaf queue.Path, request size) {
	name := fmt.Sprintf("pod-%03d", len(s.obs.Pods))
	s.obs.Pods = append(s.obs.Pods, ledger.Pod{UID: ledger.UID(name), Name: name, Namespace: "default", Queue: string(leaf),
		Application: fmt.Sprint(leaf, "-", s.IntN(2)), Class: fmt.Sprint(request), Request: request.list(), Role: application.Executor})
}

// With steady demand evictions stop also where victims are larger than their claimants, at several levels.
func TestEvictionsStopWhateverTheSizes(t *testing.T) {
	evictionsStop(t, 500, newSizes)
}

// l is guaranteed memory, and q a GPU. On node a two of three pods have room: l, q and v, which is larger than both and brings p exactly to its share. The
// claim of p takes q for v, that of q takes l, and that of l takes v, its larger neighbour, so that p is below its share again. There it ends: the
// pod that would go next replaces q, and p is below its share since v was evicted.
func TestGuaranteesAndSharesDoNotTakeInACircle(t *testing.T) {
	s := emptySteady(1, 22)
	now := queue.Timeout{Stated: true, Nanoseconds: second}
	root := queue.Declaration{Path: queue.Root, Spec: unlimited()}
	root.Spec.Preemption = queue.Preemption{FairShareThreshold: queue.AtMost(1000), UtilizationThreshold: queue.AtMost(0), FairShareTimeout: now, GuaranteedTimeout: now,
		Interval: now, MaxWaitBeforeKill: queue.Timeout{Stated: true}}
	s.obs.Queues = append(s.obs.Queues, root)
	for _, q := range []struct {
		path queue.Path
		due  size
	}{{"root.p", size{}}, {"root.p.l", size{memory: gib}}, {"root.p.v", size{}}, {"root.q", size{gpu: 1}}} {
		d := queue.Declaration{Path: q.path, Spec: unlimited()}
		d.Spec.Guaranteed = q.due.list()
		s.obs.Queues = append(s.obs.Queues, d)
	}
	a := ledger.Node{Name: "a", Allocatable: size{cpu: 10000, gpu: 1, memory: gib}.list(), Pods: 2, Usable: true}
	b := ledger.Node{Name: "b", Allocatable: size{cpu: 10000, gpu: 19, memory: 19 * gib}.list(), Usable: true}
	s.obs.Nodes = append(s.obs.Nodes, withFacts(a, true), withFacts(b, false))
	s.start()
	s.l.Lead(s.now)
	for _, p := range []struct {
		name, queue, node string
		asks              size
	}{
		{"l2", "root.p.l", "b", size{gpu: 5}}, {"v2", "root.p.v", "b", size{memory: 5 * gib}}, {"q2", "root.q", "b", size{cpu: 10000, memory: 14 * gib}},
		{"l", "root.p.l", "a", size{memory: gib}}, {"q", "root.q", "a", size{gpu: 1}}, {"v", "root.p.v", "", size{cpu: 10000}},
	} {
		pod := ledger.Pod{Namespace: "default", Queue: p.queue, Application: p.name, Class: p.name, Request: p.asks.list(), Role: application.Executor}
		if p.node != "b" {
			pod.Class, pod.Eligible = p.name+" ssd", onSSD
		}
		if pod.Node = p.node; p.node != "" {
			pod.Placed, pod.Bound = p.queue, s.now
		}
		s.submit(pod, p.name)
	}
	if err := s.run(true); err != nil {
		t.Error(err)
	}
	if s.evictions != 3 {
		t.Errorf("%d evictions, want one each of q, l and v", s.evictions)
	}
}
