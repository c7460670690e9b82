package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// steady is a small world with steady demand: whatever is evicted comes back at once as a pod that waits, and nothing else changes. Between two
// events nothing happens, so time goes from one to the next.
type steady struct {
	*rand.Rand
	obs              Objects
	l                *ledger.Ledger
	now              int64
	nodes            []string // in order of names
	pods             map[ledger.UID]*member
	ends             []*member // that are terminating
	births           int
	faults, restarts bool
	late             bool // owners wait until a pod is gone, as a StatefulSet does; others make another one as soon as it is to end

	shares    string          // of all queues, as they were last
	taken     map[string]bool // the owners of which this scheduler has evicted a pod since then
	nominated map[string]int  // how often plans of this scheduler have nominated a pod
	open      string          // the nodes that are open to all
	largePods int64           // after how long nodes are held for pods that smaller ones pass; 0: they are not
	changedAt int64           // when shares, or which pods may be evicted, changed last
	claimant  map[ledger.UID]ledger.UID
	served    map[ledger.UID]bool // claimants that had a node at some time

	evictions, plans, victims, nominations, begun int
	judged                                        int // plans whose first pod is paid by some
	covered                                       int // how often a queue was left less than its share, but as much as was covered
}

// member is a pod, with the owner that makes another when it is gone.
type member struct {
	ledger.Pod
	owner string
}

// The limits of a run: it is over when nothing was evicted and no pod nominated for so long, and must be after so much. Evictions that fail and the waves
// of pods may take a nomination away, but not again and again. Each restart may, too: the next scheduler has no claim behind a nomination until its own
// plan makes it again. So what is bounded is how often one scheduler nominates a pod.
const (
	atMostNominated = 5            // seen: 2, in one world of a thousand
	quietFor        = 660 * second // more than any back-off
	atMostFor       = 24 * 3600 * second
)

// emptySteady is a world without anything in it.
func emptySteady(seed, stream uint64) *steady {
	return &steady{Rand: rand.New(rand.NewPCG(seed, stream)), now: second, pods: map[ledger.UID]*member{}, taken: map[string]bool{},
		claimant: map[ledger.UID]ledger.UID{}, nominated: map[string]int{}, served: map[ledger.UID]bool{}}
}

// newSteady draws a world of up to four levels in which some queues come late.
func newSteady(seed uint64) *steady {
	g := newGenerator(seed, Options{})
	s := emptySteady(seed, 21)
	s.largePods = 1000 * largePodPatience(seed)
	s.faults, s.late, s.restarts = s.IntN(4) == 0, s.IntN(4) == 0, s.IntN(3) == 0
	root := queue.Declaration{Path: queue.Root, Spec: unlimited()}
	s.obs.Queues = g.grow([]queue.Declaration{root}, queue.Root, 2+g.IntN(3))
	var asked size
	for range 8 + g.IntN(25) {
		st := g.leaves[g.IntN(len(g.leaves))]
		if seed%2 == 0 && g.IntN(6) == 0 {
			d, pods := g.group(st, 0)
			s.obs.Groups = append(s.obs.Groups, d)
			s.obs.Pods = append(s.obs.Pods, pods...)
			continue
		}
		p := g.pod(st, 0)
		if g.IntN(6) > 0 {
			p.Role = application.Executor
		}
		s.obs.Pods = append(s.obs.Pods, p)
	}
	for _, p := range s.obs.Pods {
		asked = asked.plus(sizeOf(p.Request))
	}
	count := int64(1 + g.IntN(4))
	part := int64(2 + g.IntN(5))
	s.obs.Nodes = append(s.obs.Nodes, g.nodesFor(asked, part, count)...)
	for i := range s.obs.Queues {
		d := &s.obs.Queues[i]
		g.preemptQueue(d)
		if g.IntN(8) == 0 {
			d.Spec.Max = g.limit(asked)
		}
		if g.IntN(5) == 0 {
			d.Spec.Guaranteed = g.limit(asked)
		}
		if g.IntN(8) == 0 {
			d.Spec.MaxDriverShare = queue.AtMost(g.Int64N(1001))
		}
	}
	if seed%5 == 3 {
		s.adversary(g)
	}
	s.overcommit(asked, seed)
	drawCapacities(seed, s.obs.Queues)
	return s
}

// overcommit guarantees much to some queues of every third world that are not directly below the root: often more than the queue above has.
func (s *steady) overcommit(world size, seed uint64) {
	if seed%3 != 1 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 31))
	for i := range s.obs.Queues {
		if d := &s.obs.Queues[i]; d.Path.Depth() > 2 && r.IntN(2) == 0 {
			d.Spec.Guaranteed = world.times(1 + r.IntN(3)).list()
		}
	}
}

// start tells the ledger of everything but pods.
func (s *steady) start() {
	s.l, s.nodes = ledger.New(ledger.Options{Window: ledger.DefaultWindow, LargePodPatience: s.largePods}), nil
	for _, q := range s.obs.Queues {
		s.l.ObserveQueue(q)
	}
	for _, n := range s.obs.Nodes {
		s.l.ObserveNode(n)
		s.nodes = append(s.nodes, n.Name)
	}
	for _, g := range s.obs.Groups {
		s.l.ObservePodGroup(g)
	}
}

// restart ends the scheduler and starts another. It knows only the objects, and so not which pods were evicted. The
// status of the queues may be lost.
func (s *steady) restart() {
	s.begun++
	clear(s.taken)
	clear(s.nominated)
	if s.IntN(4) > 0 {
		for _, q := range s.l.Snapshot().Queues {
			for i := range s.obs.Queues {
				if d := &s.obs.Queues[i]; d.Path == q.Path {
					d.Memory.BelowFairShareSince, d.Memory.BelowGuaranteedSince = q.Starvation.BelowFairShareSince, q.Starvation.BelowGuaranteedSince
				}
			}
		}
	}
	for _, g := range s.l.PodGroups() {
		for i := range s.obs.Groups {
			if s.obs.Groups[i].Key == g.Key {
				s.obs.Groups[i].Whole = g.Whole
			}
		}
	}
	s.start()
	for _, uid := range sorted(s.pods) {
		s.tell(s.pods[uid])
	}
	s.l.Lead(s.now)
}

func (s *steady) node(name string) *ledger.Node {
	i := slices.IndexFunc(s.obs.Nodes, func(n ledger.Node) bool { return n.Name == name })
	return &s.obs.Nodes[i]
}

// submit makes a pod for an owner.
func (s *steady) submit(p ledger.Pod, owner string) {
	s.births++
	p.UID, p.Created = ledger.UID(fmt.Sprintf("%s-%d", owner, s.births)), s.now
	p.Name = string(p.UID)
	m := &member{Pod: p, owner: owner}
	s.pods[p.UID] = m
	s.tell(m)
}

func (s *steady) tell(m *member) { s.l.ObservePod(m.Pod, s.now) }

// free is what a node has left, all that is on it counted, and how many pods are there.
func (s *steady) free(node string) (left size, pods int) {
	left = sizeOf(s.node(node).Allocatable)
	for _, m := range s.pods {
		if m.Node == node {
			left = left.minus(sizeOf(m.Request))
			pods++
		}
	}
	return left, pods
}

// schedule is kube-scheduler: it places everything that is released, until nothing is.
func (s *steady) schedule() error {
	for _, uid := range sorted(s.pods) {
		s.l.Admitted(uid) // parked ones are looked at again
	}
	s.l.TakeWoken(s.now)
	waits := map[ledger.UID]string{}
	for range 1000 {
		r, ok := s.l.Choose(s.now)
		if !ok {
			return nil
		}
		m := s.pods[r.UID]
		node := s.fit(m, waits)
		if node == "" {
			s.l.Misfit(r.UID)
			s.l.Fail(r.UID, ledger.NoFit, s.now)
			for _, uid := range s.l.ToReject() {
				delete(waits, uid)
				s.l.Fail(uid, ledger.Refused, s.now)
			}
			continue
		}
		if why, ok := s.l.Reserve(r.UID, node, s.now); !ok {
			return fmt.Errorf("%s was released and then refused: %s", r.UID, why.Text())
		}
		permission, why, ok := s.l.Permit(r.UID, s.now)
		switch {
		case !ok:
			return fmt.Errorf("%s has a node and was refused: %s", r.UID, why.Text())
		case permission.Wait > 0:
			waits[r.UID] = node
			continue
		}
		waits[r.UID] = node
		for _, uid := range append(permission.Allow, r.UID) {
			m := s.pods[uid]
			m.Node, m.Placed, m.Bound, m.Nominated = waits[uid], string(r.Queue), s.now, ""
			delete(waits, uid)
			s.served[uid] = true
			s.tell(m)
		}
	}
	return fmt.Errorf("1000 releases at one time: it goes round in circles")
}

// fit is the node that the ledger names, or the first that has room and is not kept from the pod.
func (s *steady) fit(m *member, waits map[ledger.UID]string) string {
	open, some := s.l.NodesOpenTo(m.UID)
	kept := s.l.NodesNominatedToOthers(m.UID)
	for _, name := range append(s.l.Candidates(m.UID, 32, 1<<20), s.nodes...) {
		left, pods := s.free(name)
		for uid, on := range waits { // a sum: order does not matter
			if on == name {
				left = left.minus(sizeOf(s.pods[uid].Request))
				pods++
			}
		}
		n := s.node(name)
		if (!some || slices.Contains(open, name)) && !kept[name] && suits(*n, m.Pod) && (n.Pods == 0 || pods < n.Pods) &&
			sizeOf(m.Request).within(left) {
			return name
		}
	}
	return ""
}

// watch notes the shares, which let every owner lose a pod again when they change, and which nodes are kept for a group.
func (s *steady) watch() {
	var b strings.Builder
	for _, q := range s.l.Snapshot().Queues {
		fmt.Fprintf(&b, "%s %v\n", q.Path, q.FairShare)
	}
	if b.String() != s.shares {
		s.shares, s.changedAt = b.String(), s.now
		clear(s.taken)
	}
	nodes, some := s.l.NodesOpenTo("nobody") // what is kept for a group is closed to claims, until its turn is over
	if open := fmt.Sprint(nodes, some); open != s.open {
		s.open, s.changedAt = open, s.now
	}
}

// round makes a plan where one is due.
func (s *steady) round() (next int64, err error) {
	due, next := s.l.LookAtStarvation(s.now)
	if !due {
		return next, nil
	}
	if _, err := s.actions(); err != nil { // nominations show which pods have a node
		return 0, err
	}
	w, ok := s.l.Preemption(s.now)
	if !ok {
		return next, nil
	}
	plan := preemption.Make(w, &filters{Feasibility: s.l.Feasibility(w), world: w})
	s.plans++
	s.victims += len(plan.Victims)
	for _, c := range plan.Claims {
		s.nominations += len(c.Nominations)
		for _, n := range c.Nominations {
			if s.nominated[n.UID]++; s.nominated[n.UID] > atMostNominated {
				return 0, fmt.Errorf("%s was nominated %d times", n.UID, s.nominated[n.UID])
			}
		}
	}
	if wrong := s.auditPlan(w, plan); len(wrong) > 0 {
		return 0, fmt.Errorf("a plan: %s", strings.Join(wrong, "\n"))
	}
	for _, v := range plan.Victims {
		s.claimant[ledger.UID(v.UID)] = ledger.UID(v.For)
	}
	if stale := s.l.Adopt(w, plan, s.now); stale > 0 {
		return 0, fmt.Errorf("%d nominations were stale at once", stale)
	}
	_, next = s.l.LookAtStarvation(s.now)
	return next, nil
}

// actions carries out the pending actions. Some evictions fail, in some worlds.
func (s *steady) actions() (next int64, err error) {
	e := s.l.PendingActions(s.now)
	for _, n := range e.Nominate {
		s.pods[n.UID].Nominated = n.Node
		s.tell(s.pods[n.UID])
		s.l.Nominated(n)
	}
	for _, v := range e.Announce {
		m := s.pods[v.UID]
		m.Announced = s.now
		s.tell(m)
		s.l.Announced(v.UID, s.now)
	}
	for _, v := range e.Evict {
		if s.faults && s.IntN(4) == 0 {
			s.l.EvictionFailed(v.UID, s.IntN(4) == 0, s.now)
			continue
		}
		if err := s.evict(s.pods[v.UID]); err != nil {
			return 0, err
		}
		s.l.Evicted(v.UID, s.now)
	}
	for _, v := range e.Withdraw {
		s.pods[v.UID].Announced = 0
		s.tell(s.pods[v.UID])
		s.l.Withdrawn(v.UID)
	}
	if e = s.l.PendingActions(s.now); len(e.Announce)+len(e.Withdraw)+len(e.Nominate) > 0 {
		return 0, fmt.Errorf("what was done comes again: %+v", e)
	}
	return e.Next, nil
}

func (s *steady) evict(m *member) error {
	s.watch()
	s.evictions++
	if s.taken[m.owner] {
		return fmt.Errorf("%s is evicted, and %s was before, while no share has changed", m.UID, m.owner)
	}
	s.taken[m.owner] = true
	m.Terminating, m.Deadline = true, s.now+second*s.Int64N(40)
	s.ends = append(s.ends, m)
	s.tell(m)
	if !s.late {
		s.replace(m)
	}
	return nil
}

func (s *steady) replace(m *member) {
	again := m.Pod
	again.Node, again.Placed, again.Bound, again.Announced, again.Terminating, again.Deadline = "", "", 0, 0, false, 0
	s.submit(again, m.owner)
}

// bury ends the pods whose grace is over.
func (s *steady) bury() (next int64) {
	left := s.ends[:0]
	for _, m := range s.ends {
		if m.Deadline > s.now {
			left = append(left, m)
			if next == 0 || m.Deadline < next {
				next = m.Deadline
			}
			continue
		}
		delete(s.pods, m.UID)
		s.l.ForgetPod(m.UID, s.now)
		if s.late {
			s.replace(m)
		}
	}
	s.ends = left
	return next
}

// run goes from event to event until nothing has been evicted, and no pod nominated, for long enough.
func (s *steady) run(checked bool) error {
	began, last := s.now, s.now
	for {
		before := s.evictions + s.nominations
		if s.restarts && s.IntN(20) == 0 && s.now-began < 600*second {
			s.restart()
		}
		next := s.bury()
		soonest := func(at int64) {
			if at > s.now && (next == 0 || at < next) {
				next = at
			}
		}
		if err := s.schedule(); err != nil {
			return err
		}
		s.watch()
		for range 3 { // a plan gives actions, which change what is planned next
			at, err := s.round()
			if err != nil {
				return err
			}
			soonest(at)
			if at, err = s.actions(); err != nil {
				return err
			}
			soonest(at)
		}
		if at, ok := s.l.NextRetry(s.now); ok {
			soonest(at)
		}
		for _, m := range s.ends {
			soonest(m.Deadline)
		}
		if checked {
			if wrong := s.l.Check(); len(wrong) > 0 {
				return fmt.Errorf("the books: %s", strings.Join(wrong, "\n"))
			}
		}
		if s.evictions+s.nominations > before || len(s.l.Victims()) > 0 || len(s.ends) > 0 {
			last = s.now
		}
		switch {
		case s.now-last > quietFor && s.now-s.changedAt > 60*second: // a round comes within half a minute
			return nil
		case s.now-began > atMostFor:
			return fmt.Errorf("after %d s it still evicts or nominates: %d and %d so far", (s.now-began)/second, s.evictions, s.nominations)
		}
		soonest(s.now + 60*second)
		s.now = max(next, s.now+second/10)
	}
}

// waves submits the pods of some leaves first, and those of others when these have their nodes.
func (s *steady) waves(checked bool) error {
	s.start()
	s.l.Lead(s.now)
	n := 2 + s.IntN(2)
	wave := map[string]int{}
	for _, q := range s.obs.Queues {
		wave[string(q.Path)] = s.IntN(n)
	}
	for i := range n {
		for _, p := range s.obs.Pods {
			if wave[string(home(&p))] == i {
				s.submit(p, string(p.UID))
			}
		}
		if err := s.run(checked); err != nil {
			return fmt.Errorf("wave %d of %d, at %d s: %w", i+1, n, s.now/second, err)
		}
		if err := s.auditRest(); err != nil {
			return fmt.Errorf("wave %d of %d: %w", i+1, n, err)
		}
		clear(s.taken) // the next wave changes shares
	}
	return nil
}

// With steady demand evictions stop, and nominations with them, so that nothing is announced and taken back for ever either. No pod is evicted, put back and
// evicted again while no share changes.
func TestEvictionsStop(t *testing.T) {
	evictionsStop(t, 1000, newSteady)
}

func evictionsStop(t *testing.T, runs uint64, world func(seed uint64) *steady) {
	var plans, victims, judged, covered, nominations, evictions, evicting, restarts atomic.Int64
	seeds(t, runs, func(seed uint64, _ Options) error {
		s := world(seed)
		err := s.waves(seed%10 == 0)
		plans.Add(int64(s.plans))
		victims.Add(int64(s.victims))
		nominations.Add(int64(s.nominations))
		judged.Add(int64(s.judged))
		covered.Add(int64(s.covered))
		evictions.Add(int64(s.evictions))
		restarts.Add(int64(s.begun))
		if s.evictions > 0 {
			evicting.Add(1)
		}
		if err != nil {
			err = fmt.Errorf("seed %d: %w", seed, err)
		}
		return err
	})
	t.Cleanup(func() {
		t.Logf("%d plans, %d judged by who pays, %d victims, %d times a queue below a share that is not covered, %d nominations, %d evictions in %d worlds, %d restarts",
			plans.Load(), judged.Load(), victims.Load(), covered.Load(), nominations.Load(), evictions.Load(), evicting.Load(), restarts.Load())
		if *seedFlag == 0 && (evictions.Load() == 0 || covered.Load() == 0) {
			t.Error("nothing was evicted: the test lost its subject")
		}
	})
}
