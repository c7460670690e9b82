package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// replicated is the classic experiment of delay scheduling: 100 nodes that run one task each, blocks with 3 replicas, and a stream of jobs of 20 short
// tasks, each of which reads one block. There are always 15 jobs or more with tasks that wait.
type replicated struct {
	*rand.Rand
	l       *ledger.Ledger
	now     int64
	jobs    int
	waiting map[ledger.UID]ledger.Pod
	ends    map[int64][]ledger.UID
	ran     int   // tasks
	local   int   // of them on a node with a replica
	busy    int64 // node-ticks
}

func (s *replicated) submit() {
	s.jobs++
	job := fmt.Sprintf("job-%04d", s.jobs)
	for i := range 20 {
		var nodes []string
		for _, n := range s.Perm(100)[:3] {
			nodes = append(nodes, fmt.Sprintf("node-%02d", n))
		}
		slices.Sort(nodes)
		name := fmt.Sprintf("%s-%02d", job, i)
		p := ledger.Pod{UID: ledger.UID(name), Name: name, Namespace: "ns", Queue: "a", Application: job, Class: "task", Created: int64(s.jobs),
			Request: size{cpu: 1000, memory: gib}.list(), PreferredNodes: strings.Join(nodes, ",")}
		s.waiting[p.UID] = p
		s.l.ObservePod(p, s.now)
	}
}

func (s *replicated) start() {
	for r, ok := s.l.Choose(s.now); ok; r, ok = s.l.Choose(s.now) {
		p := s.waiting[r.UID]
		node := s.l.Candidates(r.UID, 1, 0)
		if len(node) == 0 { // its class has not failed yet, and this attempt shows that it fits nowhere
			s.l.Fail(r.UID, ledger.NoFit, s.now)
			continue
		}
		s.l.Reserve(r.UID, node[0], s.now)
		p.Node, p.Placed = node[0], string(r.Queue)
		s.l.ObservePod(p, s.now)
		delete(s.waiting, r.UID)
		s.ran++
		if slices.Contains(strings.Split(p.PreferredNodes, ","), p.Node) {
			s.local++
		}
		at := s.now + 5 + s.Int64N(11)
		s.ends[at] = append(s.ends[at], r.UID)
		s.busy += at - s.now
	}
}

func experiment(seed uint64, d locality.Delay) (local, utilisation float64) {
	const ticks = 400
	s := &replicated{Rand: rand.New(rand.NewPCG(seed, 7)), l: ledger.New(ledger.Options{Delay: d}), waiting: map[ledger.UID]ledger.Pod{}, ends: map[int64][]ledger.UID{}}
	s.l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
	for n := range 100 {
		s.l.ObserveNode(ledger.Node{Name: fmt.Sprintf("node-%02d", n), Allocatable: size{cpu: 1000, memory: gib}.list(), Usable: true})
	}
	s.l.Lead(s.now)
	for ; s.now < ticks; s.now++ {
		for len(s.waiting) < 300 {
			s.submit()
		}
		for _, uid := range s.ends[s.now] { // one node after the other, as their tasks end
			s.l.ForgetPod(uid, s.now)
			for parked := range s.waiting { // a set: order does not matter
				if st, _ := s.l.PodState(parked); st.State == ledger.Parked {
					s.l.Admitted(parked)
				}
			}
			s.l.TakeWoken(s.now)
			s.start()
		}
		s.start()
	}
	for at, uids := range s.ends { // what lies behind the end does not count
		if at > ticks {
			s.busy -= (at - ticks) * int64(len(uids))
		}
	}
	return float64(s.local) / float64(s.ran), float64(s.busy) / (100 * ticks)
}

// With a delay of 40 opportunities at least 95% of the tasks run where their block is, at no more than 1% of utilisation.
func TestDelaySchedulingRunsTasksWhereTheirBlocksAre(t *testing.T) {
	for seed := range uint64(3) {
		_, without := experiment(seed, locality.Delay{})
		for _, delay := range []int32{5, 40} {
			local, utilisation := experiment(seed, locality.Delay{Node: delay, Rack: -1})
			t.Logf("seed %d, delay %d: %.1f%% node-local, utilisation %.2f%%; %.2f%% without a delay", seed, delay, 100*local, 100*utilisation, 100*without)
			if delay == 40 && (local < 0.95 || utilisation < without-0.01) {
				t.Errorf("seed %d: %.1f%% node-local, want 95%%; utilisation %.2f%%, without a delay %.2f%%", seed, 100*local, 100*utilisation, 100*without)
			}
		}
	}
}
