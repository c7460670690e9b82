package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Applications that have all of their pods from the first moment on, as operators of Ray, JobSet or MPI create them: the driver first, last or in
// between. A worker gets on with its work while a driver of its application has a node, and ends after a while; without a driver it waits for ever. A
// driver ends when all workers have. So one worker at a time is enough for an application, but one that runs without its driver holds its node for
// nothing.
type atOnce struct {
	w    *World
	rng  *rand.Rand
	apps map[string]*madeAtOnce
}

type madeAtOnce struct {
	drivers, workers []ledger.UID
	drivenBy         int    // drivers with a node
	idle             []*pod // workers with a node, while no driver has one
	ended            int    // workers
	group            string // of its pods, "" for none
	pods             []ledger.Pod
}

func newAtOnce(seed uint64) *atOnce {
	s := &atOnce{rng: rand.New(rand.NewPCG(seed, 21)), apps: map[string]*madeAtOnce{}}
	nodes, cpus := 2+s.rng.IntN(4), 4+s.rng.IntN(9)
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}}}
	leaves := 1 + s.rng.IntN(nodes/2)
	for i := range leaves {
		obs.Queues = append(obs.Queues, queue.Declaration{Path: queue.Path(fmt.Sprintf("root.q%d", i)), Spec: s.spec()})
	}
	for i := range nodes {
		n := ledger.Node{Name: fmt.Sprintf("node-%02d", i), Allocatable: size{cpu: int64(cpus) * 1000, memory: int64(cpus) * gib}.list(), Usable: true}
		obs.Nodes = append(obs.Nodes, withFacts(n, false))
		// Others run here for a while. So there is room for workers at first, and not for a driver.
		obs.Pods = append(obs.Pods, ledger.Pod{
			UID: ledger.UID(fmt.Sprintf("other-%d", i)), Foreign: true, Node: n.Name, Request: cpuOf(int64(cpus - s.rng.IntN(3))),
		})
	}
	var later []string
	for i := range 3 + s.rng.IntN(10) {
		name := fmt.Sprintf("app-%02d", i)
		s.apps[name] = s.make(name, fmt.Sprintf("root.q%d", s.rng.IntN(leaves)), int64(cpus), nodes)
		if s.rng.IntN(3) == 0 {
			later = append(later, name)
			continue
		}
		a := s.apps[name]
		obs.Pods = append(obs.Pods, a.pods...)
		if a.group != "" {
			obs.Groups = append(obs.Groups, ledger.PodGroup{Key: a.group, MinMember: s.minMember(a)})
		}
	}
	s.w = Start(seed, obs, Options{Calm: true, Limits: true, Gates: true, Groups: true, Every: 50, Shuffle: seed})
	s.w.bound = s.isBound
	for _, name := range later {
		s.w.at(s.rng.Int64N(30*second), func() { s.submit(s.apps[name]) })
	}
	for range s.rng.IntN(3) {
		s.w.at(s.rng.Int64N(60*second), func() {
			s.w.writeGroups() // else a group of which some pods have ended would be incomplete
			s.w.restartAnyTime()
		})
	}
	for i := range nodes {
		p := s.w.pods[ledger.UID(fmt.Sprintf("other-%d", i))]
		s.w.at(10*second+s.rng.Int64N(20*second), func() { s.ends(p) })
	}
	return s
}

func cpuOf(cpus int64) resource.List { return size{cpu: cpus * 1000, memory: cpus * gib}.list() }

func (s *atOnce) spec() queue.Spec {
	d := unlimited()
	d.Policy = []queue.Policy{queue.DominantResourceFairness, queue.FIFO, queue.StateAware}[s.rng.IntN(3)]
	d.MaxDriverShare = queue.AtMost([]int64{100, 500, 500, 700}[s.rng.IntN(4)])
	if s.rng.IntN(3) == 0 {
		d.MaxRunningApplications = queue.AtMost(int64(1 + s.rng.IntN(4)))
	}
	return d
}

// make draws an application whose drivers take half a node at most, and whose workers take one cpu.
func (s *atOnce) make(name, leaf string, cpus int64, nodes int) *madeAtOnce {
	a := &madeAtOnce{}
	driver, workers := 1+s.rng.Int64N(cpus/2), 1+s.rng.IntN(6)
	drivers := []int{0, 1, 1, 1, 1, 2}[s.rng.IntN(6)]
	grouped := s.rng.IntN(4)
	if whole := int64(drivers)*driver + int64(workers); grouped < 2 && whole <= cpus*int64(nodes)/2 {
		a.group = "default/" + name
	}
	pod := func(what string, n int, role application.Role, cpus int64) ledger.UID {
		p := ledger.Pod{
			UID: ledger.UID(fmt.Sprintf("%s-%s-%02d", name, what, n)), Name: fmt.Sprintf("%s-%s-%02d", name, what, n), Queue: leaf, Application: name,
			Role: role, Class: fmt.Sprintf("%s of %d", what, cpus), Request: cpuOf(cpus), User: userOf(name), Created: s.rng.Int64N(second),
		}
		if a.group != "" && (grouped == 0 || role != application.Driver) {
			p.PodGroup = a.group
		}
		a.pods = append(a.pods, p)
		return p.UID
	}
	worker := []application.Role{application.Executor, application.None}[s.rng.IntN(2)]
	for n := range workers {
		a.workers = append(a.workers, pod("worker", n, worker, 1))
	}
	for n := range drivers {
		a.drivers = append(a.drivers, pod("driver", n, application.Driver, driver))
	}
	s.rng.Shuffle(len(a.pods), func(i, j int) { a.pods[i], a.pods[j] = a.pods[j], a.pods[i] })
	return a
}

// minMember is how many of its pods start together: all of the group, or fewer, so that it would be complete without a driver.
func (s *atOnce) minMember(a *madeAtOnce) int {
	n := 0
	for _, p := range a.pods {
		n += min(len(p.PodGroup), 1)
	}
	return max(n-s.rng.IntN(2), 1)
}

// submit creates all pods of an application. The watch tells of them in one piece, in any order; or one by one, and a driver comes first.
func (s *atOnce) submit(a *madeAtOnce) {
	if a.group != "" {
		s.w.groups[a.group] = ledger.PodGroup{Key: a.group, MinMember: s.minMember(a)}
		s.w.groupChanged(a.group)
	}
	for i := range a.pods {
		a.pods[i].Created += s.w.now
		s.w.pods[a.pods[i].UID] = &pod{Pod: a.pods[i], exists: true}
	}
	if s.rng.IntN(2) == 0 {
		isDriver := func(p ledger.Pod) bool { return p.Role == application.Driver }
		first := slices.IndexFunc(a.pods, isDriver)
		if first > 0 {
			a.pods[0], a.pods[first] = a.pods[first], a.pods[0]
		}
		for i := range a.pods {
			s.w.podChanged(s.w.pods[a.pods[i].UID])
		}
		return
	}
	s.w.deliver(podKind, func() {
		for i := range a.pods {
			s.w.podSeen(a.pods[i].UID, &a.pods[i])
		}
	})
}

func (s *atOnce) isBound(p *pod) {
	a := s.apps[p.Application]
	if a == nil {
		return
	}
	if p.Role != application.Driver {
		a.idle = append(a.idle, p)
	} else {
		a.drivenBy++
	}
	if a.drivenBy == 0 && len(a.drivers) > 0 {
		return
	}
	for _, o := range a.idle {
		s.w.at(second+s.rng.Int64N(9*second), func() { s.workerEnds(a, o) })
	}
	a.idle = nil
}

func (s *atOnce) workerEnds(a *madeAtOnce, p *pod) {
	s.ends(p)
	if a.ended++; a.ended < len(a.workers) {
		return
	}
	for _, uid := range a.drivers {
		s.ends(s.w.pods[uid])
	}
}

func (s *atOnce) ends(p *pod) {
	p.exists = false
	s.w.podChanged(p)
}

// unfinished names the applications of which not all workers have ended.
func (s *atOnce) unfinished() string {
	var names []string
	for _, name := range sorted(s.apps) {
		if a := s.apps[name]; a.ended < len(a.workers) {
			names = append(names, fmt.Sprintf("%s (%d drivers, %d with a node; %d workers, %d ended, %d with a node and without a driver)",
				name, len(a.drivers), a.drivenBy, len(a.workers), a.ended, len(a.idle)))
		}
	}
	return strings.Join(names, ", ")
}

// Applications that create all pods at once, in any order, with one driver, two or none, in a pod group or not, all come to their end; no worker has a node
// without its driver.
func TestApplicationsWithAllPodsAtOnceEnd(t *testing.T) {
	var done atomic.Int64
	seeds(t, 300, func(seed uint64, _ Options) error {
		s := newAtOnce(seed)
		if err := s.w.Close(200_000); err != nil {
			return err
		}
		done.Add(int64(len(s.apps)))
		if names := s.unfinished(); names != "" {
			return fmt.Errorf("seed %d: not to its end came %s", seed, names)
		}
		return nil
	})
	t.Cleanup(func() { t.Logf("%d applications", done.Load()) })
}
