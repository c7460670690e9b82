package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/locality"
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
	// LargePodPatience is how long a pod waits for room, while smaller ones whose turn comes later start, until a node is held for it, in nanoseconds;
	// 0: none is.
	LargePodPatience int64
	// Delay is for how long pods wait for nodes that they prefer; zero: they prefer none.
	Delay locality.Delay
	// Clock is monotonic, in nanoseconds, and measures waits for the lock; nil: they are not measured. No decision reads it. It must not call the
	// ledger.
	Clock func() int64
}

var none resource.List

// Ledger is the state of the scheduler. All methods are safe for concurrent use: each takes the lock, applies one input or answers one question, and
// draws all consequences before it returns. What it applies them to is below: see floors.go.
type Ledger struct {
	mu lock
	plans
}

// New returns an empty ledger with nothing but the root queue.
func New(o Options) *Ledger {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	l := &Ledger{mu: lock{clock: o.Clock}}
	l.contents = contents{
		queues:     newQueueTree(),
		placements: placements{bySubmission: map[submissionKey]*submission{}},
		requests:   requests{byQueue: map[queue.Path]*queueRequest{}, orphans: map[UID]*record{}, boundByOthers: map[UID]*record{}},
		access:     accessTable{byQuestion: map[access.Question]*accessEntry{}},
		window:     window{size: o.Window},
		opts:       o,
		pods:       map[UID]*record{},
		classes:    classTable{byKey: map[string]*class{}},
		nodes:      newNodeTable(),
		groups:     groupTable{byKey: map[string]*group{}},
		journal:    journal{size: o.Journal},
		largePods:  largePods{patience: o.LargePodPatience},
	}
	l.applications = applications{entries: admission.Slots{Counts: admission.Entered}, tree: &l.queues, shares: &l.shares, effects: &l.effects}
	l.books = orderBooks{classes: &l.classes, shares: &l.shares, behind: &l.nodeHolds.behind}
	l.delays = delays{delay: o.Delay, nodes: &l.nodes}
	l.walk = treeWalk{books: &l.books, delays: &l.delays, window: &l.window}
	l.settle()
	return l
}

// Version grows with every change that a snapshot may show.
func (l *Ledger) Version() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}
