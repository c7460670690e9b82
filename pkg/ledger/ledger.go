package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// DefaultWindow bounds the pods that are released and not yet bound. At 1,200 binds a second, the most that one apiserver on a
// small machine takes, it covers a bind latency of 50 ms; a larger one only ages the decisions that wait in it.
const DefaultWindow = 64

// Options configure a ledger.
type Options struct {
	// Window bounds the pods that are released and not yet bound; 0 is DefaultWindow.
	Window int
	// Journal keeps the last so many steps of pods for Journal; 0 keeps none.
	Journal int
	// Extenders: nodes may have room that only an extender knows of, so no class waits for room.
	Extenders bool
	// Clock is monotonic, in nanoseconds, and measures waits for the lock; nil: they are not measured. No decision reads it. It must not call the
	// ledger.
	Clock func() int64
}

var none resource.List

// Ledger is the state of the scheduler. All methods are safe for concurrent use.
type Ledger struct {
	mu   lock
	opts Options

	queues     queueTree
	requests   requests
	placements placements
	access     accessTable

	// Pods.
	pods    map[UID]*record
	classes classTable

	// Applications, and who gets a freed slot: see applications.go.
	applications applications

	// The gates: see gate.go.
	startTimers startTimers

	// Pod groups: see groups.go, group_release.go and node_holds.go.
	groups       groupTable
	groupRelease groupRelease
	nodeHolds    nodeHolds

	// Shares: see shares.go.
	shares shares

	// Preemption. Clocks and claims are in the accounts: see starvation.go.
	rounds      rounds
	nominations nominations
	evictions   evictions

	nodes nodeTable

	// Dispatch.
	leading    bool  // see Lead
	now        int64 // the latest time heard of, for steps that no caller times
	books      orderBooks
	walk       treeWalk
	window     window
	backOffs   backOffs
	conditions conditions
	backlog    backlog
	trials     trials

	effects effects
	journal journal

	inspection inspection // see inspect.go
	version    uint64     // grows with every change that a snapshot may show
}

// New returns an empty ledger with nothing but the root queue.
func New(o Options) *Ledger {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	l := &Ledger{
		queues:     newQueueTree(),
		placements: placements{bySubmission: map[submissionKey]*submission{}},
		requests:   requests{byQueue: map[queue.Path]*queueRequest{}, orphans: map[UID]*record{}},
		access:     accessTable{byQuestion: map[access.Question]*accessEntry{}},
		mu:         lock{clock: o.Clock},
		window:     window{size: o.Window},
		opts:       o,
		pods:       map[UID]*record{},
		classes:    classTable{byKey: map[string]*class{}},
		nodes:      newNodeTable(),
		groups:     groupTable{byKey: map[string]*group{}},
		journal:    journal{size: o.Journal},
	}
	l.applications = applications{tree: &l.queues, shares: &l.shares, effects: &l.effects}
	l.books = orderBooks{classes: &l.classes, shares: &l.shares, behind: &l.nodeHolds.behind}
	l.walk = treeWalk{books: &l.books}
	l.settle()
	return l
}

// Version grows with every change that a snapshot may show.
func (l *Ledger) Version() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// settle brings tree, shares' total and order books up to date. Every step that decides by them calls it first, so that a burst of
// ten thousand Queues or nodes costs one pass, not one each. Reads do not call it: they show the state as of the last step (see Settle).
func (l *Ledger) settle() {
	l.placeAgain()
	rekey := l.queues.stale
	if l.nodes.totalMoved && l.shares.setTotal(l.nodes.takeTotal()) {
		l.queues.noteTotal()
		rekey = true
	}
	if l.queues.stale {
		l.rebuildTree()
	}
	if rekey {
		l.rekeyAll()
		l.applications.admitWaiting()
		l.drain()
	}
}

// rekeyAll recomputes every demand, key, limit and order book after a change of the tree, of a spec or of the cluster total.
func (l *Ledger) rekeyAll() {
	l.shares.forget(&l.queues)
	l.resetGates()
	l.books.rebuild(&l.queues)
	l.version++
}
