package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Applications of every recognised kind that have all of their pods from the first moment on, as operators of Ray, JobSet or MPI create them: the driver
// first, last or in between. A worker gets on with its work while a driver of its application has a node, and ends after a while; without a driver it
// waits for ever. A driver ends when all workers have. So one worker at a time is enough for an application, but one that runs without its driver holds
// its node for nothing.
//
// The limit of what is promised: a driver that does not exist yet, or of which the watch has not told, holds nobody up (ADR 0016). So pods that are told of
// one by one, workers first, may start without their driver, and this test tells of them so only where none could start before the last is there.
type atOnce struct {
	w      *World
	rng    *rand.Rand
	cpus   int64 // of a node
	nodes  int
	apps   map[string]*madeAtOnce
	late   map[string]queue.Spec // leaves that are made when all of their applications are there
	heldBy map[reason.Code]int   // drivers that something held, at some look
}

type madeAtOnce struct {
	kind, leaf       string
	drivers, workers []ledger.UID
	drivenBy         int    // drivers with a node
	idle             []*pod // workers with a node, while no driver has one
	ended            int    // workers
	group            string // of its pods, "" for none
	pods             []ledger.Pod
}

func newAtOnce(seed uint64) *atOnce {
	s := &atOnce{
		rng: rand.New(rand.NewPCG(seed, 21)), apps: map[string]*madeAtOnce{}, late: map[string]queue.Spec{}, heldBy: map[reason.Code]int{},
	}
	s.nodes, s.cpus = 2+s.rng.IntN(4), 4+s.rng.Int64N(9)
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}}, Nodes: s.makeNodes(), Pods: s.others()}
	leaves := 1 + s.rng.IntN(s.nodes/2)
	for i := range leaves {
		d := queue.Declaration{Path: queue.Path(fmt.Sprintf("root.q%d", i)), Spec: s.spec()}
		if s.rng.IntN(5) == 0 {
			s.late[string(d.Path)] = d.Spec
			continue
		}
		obs.Queues = append(obs.Queues, d)
	}
	var later []*madeAtOnce
	for i := range 3 + s.rng.IntN(10) {
		a := s.make(i, fmt.Sprintf("root.q%d", s.rng.IntN(leaves)))
		if s.rng.IntN(3) == 0 {
			later = append(later, a)
			continue
		}
		obs.Pods = append(obs.Pods, a.pods...)
		if a.group != "" {
			obs.Groups = append(obs.Groups, ledger.PodGroup{Key: a.group, MinMember: s.minMember(a)})
		}
	}
	s.w = Start(seed, obs, Options{Calm: true, Limits: true, Gates: true, Groups: true, Every: 50, Shuffle: seed * s.rng.Uint64N(2)})
	s.w.bound = s.isBound
	for _, a := range later {
		s.w.at(s.rng.Int64N(30*second), func() { s.submit(a) })
	}
	s.plan()
	return s
}

// plan is what happens beside the applications.
func (s *atOnce) plan() {
	for range s.rng.IntN(3) {
		s.w.at(s.rng.Int64N(60*second), func() {
			s.w.writeGroups() // else a group of which some pods have ended would be incomplete
			s.w.restartAnyTime()
		})
	}
	for i := range s.nodes {
		s.w.at(10*second+s.rng.Int64N(20*second), func() { s.ends(s.w.pods[otherOn(i)]) })
	}
	for _, path := range sorted(s.late) {
		s.w.at(31*second, func() { s.makeQueue(path) })
	}
	for _, at := range []int64{5, 20, 40, 58} {
		s.w.at(at*second, s.look)
	}
	for _, path := range sorted(s.w.queues) {
		s.w.at(60*second+s.rng.Int64N(30*second), func() { s.allowLargePods(path) })
	}
}

func (s *atOnce) makeNodes() (nodes []ledger.Node) {
	for i := range s.nodes {
		n := ledger.Node{Name: fmt.Sprintf("node-%02d", i), Allocatable: cpuOf(s.cpus), Usable: true}
		nodes = append(nodes, withFacts(n, false))
	}
	return nodes
}

// others run on each node for a while. So there is room for workers at first, and not for a driver.
func (s *atOnce) others() (pods []ledger.Pod) {
	for i := range s.nodes {
		pods = append(pods, ledger.Pod{
			UID: otherOn(i), Foreign: true, Node: fmt.Sprintf("node-%02d", i), Request: cpuOf(s.cpus - s.rng.Int64N(3)),
		})
	}
	return pods
}

func otherOn(node int) ledger.UID { return ledger.UID(fmt.Sprintf("other-%d", node)) }

// makeQueue makes a queue for which applications wait. Until all of them have been seen, nothing of them can start.
func (s *atOnce) makeQueue(path string) {
	for _, a := range s.apps { // it waits for any, so order does not matter
		if a.leaf == path && slices.ContainsFunc(a.pods, func(p ledger.Pod) bool { return !s.seen(p.UID) }) {
			s.w.at(second, func() { s.makeQueue(path) })
			return
		}
	}
	s.w.queues[queue.Path(path)] = queue.Declaration{Path: queue.Path(path), Spec: s.late[path], Created: s.w.now}
	s.w.queueChanged(queue.Path(path))
	s.w.at(60*second, func() { s.allowLargePods(queue.Path(path)) })
}

func (s *atOnce) seen(uid ledger.UID) bool { return s.w.pods[uid] != nil && s.w.pods[uid].known }

// allowLargePods: an administrator finds that some drivers are larger than pods may be.
func (s *atOnce) allowLargePods(path queue.Path) {
	d := s.w.queues[path]
	if d.Spec.MaxPod.Len() > 0 {
		d.Spec.MaxPod = resource.List{}
		s.w.queues[path] = d
		s.w.queueChanged(path)
	}
}

// look counts what holds drivers.
func (s *atOnce) look() {
	rehearsal := s.w.Ledger.Rehearse()
	for _, a := range s.apps { // counts: order does not matter
		for _, uid := range a.drivers {
			p, ok := s.w.Ledger.PodState(uid)
			if ok && p.State == ledger.Waiting && p.BlockedBy.Code == "" {
				p.BlockedBy = rehearsal.Stopped(uid)
			}
			s.heldBy[p.BlockedBy.Code]++
		}
	}
}

func cpuOf(cpus int64) resource.List { return size{cpu: cpus * 1000, memory: cpus * gib}.list() }

func (s *atOnce) spec() queue.Spec {
	d := unlimited()
	d.Policy = []queue.Policy{queue.DominantResourceFairness, queue.FIFO, queue.StateAware}[s.rng.IntN(3)]
	d.MaxDriverShare = queue.AtMost([]int64{100, 500, 500, 700}[s.rng.IntN(4)])
	if s.rng.IntN(3) == 0 {
		d.MaxRunningApplications = queue.AtMost(int64(1 + s.rng.IntN(4)))
	}
	if s.rng.IntN(4) == 0 {
		d.MaxPod = cpuOf(1 + s.rng.Int64N(s.cpus/2)) // at least a worker
	}
	return d
}

// make draws an application of any kind, whose drivers take half a node at most, and whose workers take one cpu.
func (s *atOnce) make(i int, leaf string) *madeAtOnce {
	kind := Kinds[s.rng.IntN(len(Kinds))]
	a := &madeAtOnce{kind: kind.Name, leaf: leaf}
	name := fmt.Sprintf("app-%02d", i)
	app := application.Name("default", kind.Name, name)
	s.apps[app] = a
	driver, workers, drivers := 1+s.rng.Int64N(s.cpus/2), 1+s.rng.IntN(6), 0
	roles := slices.DeleteFunc(slices.Clone(kind.Roles), func(r application.Role) bool { return r == application.Driver })
	switch {
	case kind.Name == "pod":
		workers = 1
	case len(roles) < len(kind.Roles), s.rng.IntN(4) == 0: // the others have a driver if a label of ours says so
		drivers = []int{0, 1, 1, 1, 1, 2}[s.rng.IntN(6)]
	}
	grouped := s.rng.IntN(4)
	if whole := int64(drivers)*driver + int64(workers); grouped < 2 && whole <= s.cpus*int64(s.nodes)/2 {
		a.group = "default/" + name
	}
	pod := func(what string, n int, role application.Role, cpus int64) ledger.UID {
		p := ledger.Pod{
			UID: ledger.UID(fmt.Sprintf("%s-%s-%02d", name, what, n)), Name: fmt.Sprintf("%s-%s-%02d", name, what, n), Queue: leaf, Application: app,
			Role: role, Class: fmt.Sprintf("%s of %d", what, cpus), Request: cpuOf(cpus), User: userOf(name), Created: s.rng.Int64N(second),
			Single: workers+drivers == 1 && role == application.None,
		}
		if a.group != "" && (grouped == 0 || role != application.Driver) {
			p.PodGroup = a.group
		}
		a.pods = append(a.pods, p)
		return p.UID
	}
	for n := range workers {
		a.workers = append(a.workers, pod("worker", n, roles[s.rng.IntN(len(roles))], 1))
	}
	for n := range drivers {
		a.drivers = append(a.drivers, pod("driver", n, application.Driver, driver))
	}
	s.order(a)
	return a
}

// order puts the pods of an application in the order of their creation: drivers first, last or in between.
func (s *atOnce) order(a *madeAtOnce) {
	s.rng.Shuffle(len(a.pods), func(i, j int) { a.pods[i], a.pods[j] = a.pods[j], a.pods[i] })
	if sign := s.rng.IntN(3) - 1; sign != 0 { // all drivers are of one class, and all workers
		slices.SortStableFunc(a.pods, func(p, o ledger.Pod) int { return sign * strings.Compare(p.Class, o.Class) })
	}
}

// minMember is how many of its pods start together: all of the group, or fewer, so that it would be complete without a driver.
func (s *atOnce) minMember(a *madeAtOnce) int {
	n := 0
	for _, p := range a.pods {
		n += min(len(p.PodGroup), 1)
	}
	return max(n-s.rng.IntN(2), 1)
}

// submit creates all pods of an application, in any order. The watch tells of them in one piece; or one by one, where a driver comes first, or where none
// of them can start yet: they have a gate that opens later, one by one as well, or their queue does not exist.
func (s *atOnce) submit(a *madeAtOnce) {
	if a.group != "" {
		s.w.groups[a.group] = ledger.PodGroup{Key: a.group, MinMember: s.minMember(a)}
		s.w.groupChanged(a.group)
	}
	_, noQueue := s.late[a.leaf]
	how := s.rng.IntN(3)
	if first := slices.IndexFunc(a.pods, func(p ledger.Pod) bool { return p.Role == application.Driver }); how == 1 && first > 0 && !noQueue {
		a.pods[0], a.pods[first] = a.pods[first], a.pods[0]
	}
	for i := range a.pods {
		p := &a.pods[i]
		p.Created += s.w.now
		if how == 2 {
			p.Gate = "SchedulingGates"
		}
		s.w.pods[p.UID] = &pod{Pod: *p, exists: true}
	}
	if how == 0 {
		s.w.deliver(podKind, func() {
			for i := range a.pods {
				s.w.podSeen(a.pods[i].UID, &a.pods[i])
			}
		})
		return
	}
	for i := range a.pods {
		s.w.podChanged(s.w.pods[a.pods[i].UID])
	}
	if how == 2 {
		s.order(a)
		s.openGates(a)
	}
}

// openGates opens one gate after the other. The watch tells of that after it has told of all pods.
func (s *atOnce) openGates(a *madeAtOnce) {
	var after int64
	for i := range a.pods {
		p := s.w.pods[a.pods[i].UID]
		after += s.rng.Int64N(2 * second)
		s.w.at(after, func() {
			p.Gate = ""
			s.w.podChanged(p)
		})
	}
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
			names = append(names, fmt.Sprintf("%s in %s (%d drivers, %d with a node; %d workers, %d ended, %d with a node and without a driver)",
				name, a.leaf, len(a.drivers), a.drivenBy, len(a.workers), a.ended, len(a.idle)))
		}
	}
	return strings.Join(names, ", ")
}

// Applications of every kind that create all pods at once, in any order, with one driver, two or none, in a pod group or not, all come to their end; no
// worker has a node without its driver, whatever holds the driver.
func TestApplicationsWithAllPodsAtOnceEnd(t *testing.T) {
	var all sync.Mutex
	kinds, heldBy := map[string]int{}, map[reason.Code]int{}
	seeds(t, 1200, func(seed uint64, _ Options) error {
		s := newAtOnce(seed)
		if err := s.w.Close(200_000); err != nil {
			return err
		}
		if names := s.unfinished(); names != "" {
			return fmt.Errorf("seed %d: not to its end came %s", seed, names)
		}
		all.Lock()
		defer all.Unlock()
		for _, a := range s.apps { // counts: order does not matter
			kinds[a.kind]++
		}
		for code, n := range s.heldBy {
			heldBy[code] += n
		}
		return nil
	})
	t.Cleanup(func() {
		t.Logf("applications: %v; drivers: %v", kinds, heldBy)
		if *seedFlag != 0 || *runsFlag != 0 {
			return
		}
		for _, code := range []reason.Code{
			reason.MaxDriverShare, reason.StateAware, reason.MaxPodResources, reason.MaxRunningApplications, reason.SchedulingGate, reason.QueueNotFound,
		} {
			if heldBy[code] == 0 {
				t.Errorf("no driver was held by %s: the test lost its subject", code)
			}
		}
	})
}
