package simulator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/dispatch"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Options say what a world is like.
type Options struct {
	// Window of the ledger; 0 draws one.
	Window int
	// Calm: everything is there from the start, nothing fails, ends or changes.
	Calm bool
	// Shuffle, if not 0, seeds the order in which the first objects are observed. It must make no difference.
	Shuffle uint64
	// Every is the number of steps from one audit of the books to the next; 0 is 1. A negative number audits only quiet moments, of
	// those one in 8 times as many steps.
	Every int
	// Blind audits do not look at the backlog. It must make no difference.
	Blind bool
	// Recount: whatever audits keep is worked out again each time. It must make no difference.
	Recount bool
	// Limits: queues may also limit running applications, those of a user, drivers and the size of pods, and state amounts in percent.
	Limits bool
	// Stops: an administrator stops and starts queues. It needs Limits.
	Stops bool
	// Gates: leaves may be StateAware, and applications have drivers, executors, or one pod.
	Gates bool
	// Groups: there are pod groups.
	Groups bool
	// Adversary: one user has a queue, mostly of a tiny weight, and submits whatever hurts others most.
	Adversary bool
	// Preemption: queues claim what they are owed, and pods are evicted for that. The scheduler restarts now and then.
	Preemption bool
	// Preferences: pods prefer nodes and racks, and wait for these.
	Preferences bool
	// LargePods is after how long nodes are held for pods that smaller ones pass; 0: they are not. It needs Groups.
	LargePods int64
	// Placement: an administrator edits a placement policy, pods have users and groups, and the leader creates queues for them and removes empty ones.
	Placement bool
}

// Reservation is one step of the order that a run is about.
type Reservation struct {
	UID   ledger.UID
	Queue queue.Path
	Node  string
}

const (
	millisecond int64 = 1e6
	second      int64 = 1e9
)

// World is a cluster with its users on a virtual clock.
type World struct {
	Ledger *ledger.Ledger
	// Window is the ledger's.
	Window int
	// Reserved is the order in which kube-scheduler reserved pods.
	Reserved []Reservation
	// Attempts counts the scheduling cycles, by the class of their pods.
	Attempts map[string]int
	// Steps counts the events so far, Audits the looks at the books, Quiet those of them at a moment when nothing was under way, and
	// Alike those of these in which a ledger built again had to be the same in everything.
	Steps, Audits, Quiet, Alike int
	// Shown counts the pods that were made to show Unschedulable since they wait for room, Unshown those that were made not to.
	Shown, Unshown int
	// Followed counts how often the charge of a pod that somebody else bound went to another queue, with the tree or its label.
	Followed int
	// Passed counts the applications that passed a gate, Starting those that were starting, in all audits together.
	Passed, Starting int
	// Draining and Drained count the queues that were so in all audits, StoppedOut the pods that waited because their queue was stopped.
	Draining, Drained, StoppedOut int
	// Whole counts the pod groups that got all their places, Waited the pods that waited for them at Permit, Rejections those of them that
	// went back, Late those that were allowed when they had just been. Holds is how often nodes were held for a group, LargeHolds how often they
	// were for large pods, and LongestHold the longest time for a group.
	Whole, Waited, Rejections, Late, Holds, LargeHolds int
	LongestHold                                        int64
	// Backfilled counts the pods that used room on a node that was held for larger ones.
	Backfilled int
	// Preferred counts the attempts of pods on nodes or in racks that they prefer.
	Preferred int
	// Moved counts the pods that another policy or another queue moved, CreatedQueues and RemovedQueues what the leader did for placement.
	Moved, CreatedQueues, RemovedQueues int

	opts       Options
	bindTakes  int64 // at most
	watchTakes int64
	seed       uint64
	rng        *rand.Rand
	generator  *generator
	dispatcher dispatch.Dispatcher
	now        int64
	agenda     agenda
	closing    bool       // users have gone home
	adversary  *adversary // nil: there is none
	life       int        // of the scheduler's process: grows with each restart
	roundDue   bool
	retry      int64

	// What the API server holds.
	queues map[queue.Path]queue.Declaration
	nodes  map[string]ledger.Node
	pods   map[ledger.UID]*pod
	groups map[string]ledger.PodGroup
	policy placePolicy
	// Watches deliver each kind in order, the kinds independently of each other.
	watches  [5]int64 // until when deliveries are under way
	underWay int      // deliveries, attempts and binds

	known known
	kube  kube
	shown map[ledger.UID]string // Queued conditions, as the status writer last wrote them
	wrong []string

	derived derived
	growth  growth
	caps    keptCaps

	excess excess
	looked entriesLook
	edits  int        // of queues that were seen
	bound  func(*pod) // called at each bind; may be nil

	admitting func(ledger.UID) // called at each release, before anything else follows from it; may be nil

	// See gates.go.
	pasts     map[appKey]*past
	timeouts  map[queue.Path]bounds
	learnt    map[queue.Path][]int64
	movedIn   map[appKey]bool     // applications to which a pod moved that others bound; true: from where the ledger had it. Until they are looked at
	hazy      map[queue.Path]bool // what it learnt depends on what the books do not know
	heard     int                 // how many applications there were last
	crowd     excess
	unsettled bool // a queue changed, or where there are gates or queues that take pods, and the ledger need not have looked at it
	begins    bool // the scheduler takes in what is there

	// See audit_gangs.go.
	heldFor   string // the group for which nodes are held, or the class with largePods before it
	mostNodes int    // that existed while they were
	heldSince int64
	// unowedSince is since when these are more than a queue is owed: see audit_owed.go.
	unowedSince, owedLookAt int64
	looking                 bool            // at the books
	disturbed               map[string]bool // groups that were edited, or of which a pod was

	preempting preempting

	stops stops
}

// pod is a pod in the hands of the API server, the turnstile and kube-scheduler.
type pod struct {
	ledger.Pod
	exists bool

	// seen is the pod as the watches show it, and as what it counts; says is as what it would count if it waited; asks and home are what follows from
	// seen: see known.go.
	seen  ledger.Pod
	says  identity
	asks  size
	home  queue.Path
	known bool

	delivered bool // by the turnstile to kube-scheduler
	kubePod
	// charged is the queue that the pod must be charged to, by the calls the simulator saw; "" for none.
	charged queue.Path
	alone   bool // no driver ran in that queue when the pod was released
	// since is when it got its node, as far as is known; vague: the pod does not say so, or nonsense.
	since int64
	vague bool
	// followed: others bound it, and the ledger has looked at the tree since.
	followed bool
	// permitted: Permit let it be bound.
	permitted bool
	// backedOff: an attempt of it failed in this scheduler's life such that it had to back off.
	backedOff bool
	// doubtful: its last attempt failed when it was bound, was the first after which it has to back off, and it was not released since.
	doubtful bool
}

// New starts a world drawn from the seed.
func New(seed uint64, o Options) *World { return Start(seed, Generate(seed, o), o) }

// Start starts a world with the given objects.
func Start(seed uint64, obs Objects, o Options) *World {
	w := &World{
		opts: o, seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), generator: newGenerator(seed^1<<63, o), now: second,
		Window: o.Window, queues: map[queue.Path]queue.Declaration{}, nodes: map[string]ledger.Node{}, pods: map[ledger.UID]*pod{},
		shown: map[ledger.UID]string{}, excess: excess{}, Attempts: map[string]int{},
		pasts: map[appKey]*past{}, timeouts: map[queue.Path]bounds{}, learnt: map[queue.Path][]int64{}, hazy: map[queue.Path]bool{}, crowd: excess{},
		movedIn: map[appKey]bool{},
		groups:  map[string]ledger.PodGroup{}, disturbed: map[string]bool{}, preempting: preempting{nominated: map[ledger.UID]string{}},
		known: newKnown(),
	}
	if w.Window == 0 {
		w.Window = []int{1, 2, 3, 4, 8, 16, 64}[w.rng.IntN(7)]
	}
	w.bindTakes = []int64{millisecond, 5 * millisecond, 40 * millisecond}[w.rng.IntN(3)]
	w.watchTakes = []int64{millisecond / 4, 10 * millisecond}[w.rng.IntN(2)]
	w.generator.pods, w.generator.queues, w.generator.nodes = len(obs.Pods), len(obs.Queues)+100, len(obs.Nodes)
	w.generator.groups = len(obs.Groups)
	w.Ledger = ledger.New(w.ledgerOptions())
	w.kube = kube{rooms: map[string]*room{}}
	w.dispatcher = dispatch.Dispatcher{Ledger: w.Ledger, Port: port{w}, Reject: w.reject, Allow: w.allowAfterAll}
	w.observeFirst(obs)
	if o.Adversary {
		w.adversary = newAdversary(w, adversaryLeaf, 20, w.idleFor)
	}
	w.lead()
	w.round()
	w.popNext()
	if !o.Calm {
		w.at(w.rng.Int64N(second), w.user)
		w.at(w.rng.Int64N(second), w.household)
	}
	if o.Preemption {
		w.at(w.rng.Int64N(second), w.preempter)
	}
	if o.LargePods > 0 && !o.Calm {
		w.at(w.rng.Int64N(second), w.passer)
	}
	if o.Placement {
		w.within(w.rng.Int64N(second), w.keepQueues)
	}
	return w
}

// observeFirst is what the informers do before the scheduler starts.
func (w *World) observeFirst(obs Objects) {
	for _, q := range obs.Queues {
		w.queues[q.Path] = q
	}
	for _, n := range obs.Nodes {
		w.nodes[n.Name] = n
	}
	for _, g := range obs.Groups {
		w.groups[g.Key] = g
	}
	for _, p := range obs.Pods {
		w.pods[p.UID] = &pod{Pod: p, exists: true}
	}
	w.observe(obs, w.opts.Shuffle)
}

// observe tells the ledger of objects, in an order of its own unless shuffle is 0.
func (w *World) observe(obs Objects, shuffle uint64) {
	var observe []func()
	for _, q := range obs.Queues {
		observe = append(observe, func() { w.queueSeen(q.Path, &q) })
	}
	for _, n := range obs.Nodes {
		observe = append(observe, func() { w.nodeSeen(n.Name, &n) })
	}
	for _, g := range obs.Groups {
		observe = append(observe, func() { w.groupSeen(g.Key, &g) })
	}
	for _, p := range obs.Pods {
		observe = append(observe, func() { w.podSeen(p.UID, &p) })
	}
	if len(w.policy) > 0 {
		observe = append(observe, func() { w.policySeen(w.policy) })
	}
	if shuffle != 0 {
		rand.New(rand.NewPCG(shuffle, 3)).Shuffle(len(observe), func(i, j int) { observe[i], observe[j] = observe[j], observe[i] })
	}
	for _, f := range observe {
		f()
	}
}

// lead has the ledger decide from now on, in the tree of all that it was told.
func (w *World) lead() {
	w.Ledger.Lead(w.now)
	w.moveBoundByOthers()
}

// Step runs the next event. False: there is none, the run is over.
func (w *World) Step() bool {
	if w.agenda.len() == 0 {
		return false
	}
	e := w.agenda.next()
	w.now = max(w.now, e.at)
	w.Steps++
	e.run()
	w.popNext()
	w.auditHold()
	w.auditOwed()
	w.audit()
	return true
}

// Run takes up to n steps and stops at the first that went wrong.
func (w *World) Run(n int) error {
	for range n {
		if !w.Step() || len(w.wrong) > 0 {
			break
		}
	}
	if len(w.wrong) > 0 {
		return fmt.Errorf("seed %d, step %d: %s", w.seed, w.Steps, strings.Join(w.wrong, "\n"))
	}
	return nil
}

// Close lets the users go home and runs until nothing is under way any more. Not getting there within n steps is an error: the
// scheduler keeps itself busy for nothing.
func (w *World) Close(n int) error {
	w.closing = true
	if w.opts.Stops {
		w.startAll()
	}
	last := w.now + 1200*second
	for ; n > 0; n-- {
		if err := w.Run(1); err != nil {
			return err
		}
		if w.agenda.len() == 0 {
			return nil
		}
		if w.opts.Groups && w.now > last && w.idle() { // a group that needs what is not there is tried again for ever
			w.look(w.quiet())
			return w.Run(0)
		}
	}
	return fmt.Errorf("seed %d, step %d: still busy: %d under way, %d events ahead", w.seed, w.Steps, w.underWay, w.agenda.len())
}

func (w *World) fail(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// changed: a round of the dispatcher is due. It is another goroutine's work, so it comes a little later, and once for many changes.
func (w *World) changed() {
	if w.roundDue {
		return
	}
	w.roundDue = true
	w.within(w.rng.Int64N(2)*w.rng.Int64N(2*millisecond), w.round)
}

func (w *World) round() {
	w.roundDue = false
	w.moveBoundByOthers()
	next := w.dispatcher.Round(w.now)
	if next == 0 || next == w.retry {
		return
	}
	if next <= w.now {
		w.fail("the round at %d asks to be called again at %d", w.now, next)
	}
	w.retry = next
	w.within(next-w.now, func() {
		w.retry = 0
		w.round()
	})
}

// at plans an event after a delay.
func (w *World) at(delay int64, run func()) {
	w.agenda.plan(w.now+delay, run)
}

func sorted[K ~string, V any](m map[K]V) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
